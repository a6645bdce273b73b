// The story of the consumer groups and of a work queue: orders from several producers, three groups that handle them, a
// queue that prints their labels, a member and a worker that are killed and a member that is stopped, with every
// handling counted.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace ringmain::cli::orders {

inline constexpr const char* kTopic = "orders";
inline constexpr std::uint32_t kPartitions = 6;
inline constexpr std::uint32_t kCellBytes = 128;  ///< An event with its key and header travels inside its cell.
inline constexpr std::uint32_t kProducerSlots = 16;
inline constexpr std::uint32_t kProducersMax = 8;
inline constexpr std::uint64_t kSecondsMin = 3;
inline constexpr std::uint64_t kSecondsMax = 60;
inline constexpr std::uint64_t kEventsPerSecond = 1'000;  ///< Of all producers together.
inline constexpr std::chrono::milliseconds kSessionTimeout{1'000};

/// What happens to an order, in this order; its sequence number is one more than its index.
inline constexpr std::array<std::string_view, 4> kSteps = {"placed", "paid", "packed", "shipped"};

struct Group {
    const char* name;
    std::uint32_t members;
    std::chrono::microseconds work;  ///< How long a member works on an event.
};
inline constexpr std::array<Group, 3> kGroups = {{
    {"email", 3, std::chrono::microseconds(500)},
    {"inventory", 1, std::chrono::microseconds(50)},
    {"analytics", 1, std::chrono::microseconds(0)},
}};

/// All members of all groups, in the order of the groups.
struct Member {
    const char* name;
    std::uint32_t group;
};
inline constexpr std::array<Member, 5> kMembers = {{
    {"email-1", 0},
    {"email-2", 0},
    {"email-3", 0},
    {"inventory", 1},
    {"analytics", 2},
}};
inline constexpr std::uint32_t kKilled = 1;     ///< The member that gets SIGKILL.
inline constexpr std::uint32_t kStopped = 2;    ///< The member that gets SIGSTOP.
inline constexpr std::uint32_t kDefective = 3;  ///< The member that a planted defect is in.

/// What one member, or one printer, can be told to do wrong once, so that one can see that it is noticed.
enum class Defect : std::uint8_t {
    none,
    skip,    ///< An event is not handled.
    repeat,  ///< An event is handled twice.
    swap,    ///< Two events of an order are handled in the wrong order.
    forget,  ///< A label is acknowledged that was not printed.
};

struct OrdersOptions {
    /// The broker directory of the story is made in here and removed at the end; nothing: /dev/shm.
    std::optional<std::filesystem::path> directory;
    std::uint64_t seconds = 8;
    std::uint32_t producers = 3;
    Defect defect = Defect::none;
    bool json = false;
};

/// Plays the story and prints its report. True if every count is right.
/// Throws if it cannot be played to its end: no space, a child that failed, an interruption.
bool run_orders(const OrdersOptions& options);

}  // namespace ringmain::cli::orders
