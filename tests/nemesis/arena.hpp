// Where it happens: a broker with topics of both policies, streams and queues, and the page by which the nemesis and
// the processes know of each other.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "known_records.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/queue.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::nemesis {

inline constexpr const char* kGroup = "group";
inline constexpr const char* kQueue = "queue";
inline constexpr std::chrono::milliseconds kLockTime{250};

/// In the order of their numbers in histories.
inline constexpr std::array kTopicNames{"stream.overwrite", "stream.block",        "queue.block",
                                        "queue.overwrite",  "queue.block.letters", "queue.overwrite.letters"};
inline constexpr std::uint8_t kPublished = 4;  // topics that producers publish to: the first ones
inline constexpr std::size_t kSlotsMax = 32;
/// The number of a topic of that name.
[[nodiscard]] std::uint8_t topic_number(std::string_view name);

/// Shared by all processes.
struct Control {
    // Who has to come to an end; in this order.
    std::atomic<bool> stop_producing{false};
    std::atomic<bool> stop_reading{false};   // members, workers and readers
    std::atomic<bool> stop_auditing{false};  // auditors and the admin, once they have everything
    // A process is inside of a call. Only a hint where to strike.
    std::array<std::atomic<bool>, kSlotsMax> busy{};
};

/// For as long as a process is inside of calls.
class Busy {
public:
    explicit Busy(std::atomic<bool>& flag) noexcept : flag_(flag) {
        flag_.store(true, std::memory_order_relaxed);  // relaxed: a hint
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { flag_.store(false, std::memory_order_relaxed); }  // relaxed: a hint

private:
    std::atomic<bool>& flag_;
};

class Arena {
public:
    Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena();

    [[nodiscard]] std::filesystem::path directory() const { return scratch_.broker(); }
    [[nodiscard]] std::filesystem::path histories() const { return scratch_.path() / "histories"; }
    [[nodiscard]] std::filesystem::path output() const { return scratch_.path() / "daemon.log"; }
    [[nodiscard]] Control& control() const noexcept { return *control_; }
    [[nodiscard]] const Broker& broker() const noexcept { return broker_; }

    [[nodiscard]] static std::vector<TopicRule> rules();
    /// Where a topic begins: soon behind it are 2^48, 2^61 and 2^32, in that order, and of letters 2^32.
    [[nodiscard]] static std::uint64_t first_offset(std::uint8_t topic);
    /// How things stand; when everybody is done.
    [[nodiscard]] std::vector<std::vector<PartitionEnd>> ends() const;

private:
    test::ScratchDirectory scratch_;
    Broker broker_;
    Control* control_;
};

}  // namespace ringmain::nemesis
