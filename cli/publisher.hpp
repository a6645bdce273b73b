// Collects records into batches and publishes them, counting, and naming the line of one that cannot be published.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/producer.hpp"

namespace ringmain::cli {

/// Where a record comes from: a line of an input, or (line 0) a whole file.
struct Origin {
    std::string_view source;
    std::uint64_t line = 0;
};

/// Publishes to one producer. The bytes of added records, and the
/// text of their origins, must live until `publish` has returned.
/// On a full `block` topic it waits, says once what for, and ends with a CommandError when a signal asks to stop; so
/// the producer must have been opened with kPublishPatience.
class Publisher {
public:
    /// How long one call of the library may wait before the command looks for signals.
    static constexpr std::chrono::milliseconds kPublishPatience{200};

    Publisher(const Broker& broker, Producer& producer);

    /// Adds a record, and publishes if that fills the batch. A record over a limit of the topic throws CommandError
    /// naming `origin`, size and limit, after what came before it has been published.
    void add(const ProducerRecord& record, const Origin& origin);

    /// Publishes all that was added, in order. Throws CommandError naming the first line that was not published.
    void publish();

    /// For an input of `bytes` bytes that was not even kept: publishes what came before it, then throws CommandError.
    [[noreturn]] void refuse_large(const Origin& origin, std::uint64_t bytes);

    [[nodiscard]] std::uint64_t published() const noexcept { return published_; }
    /// Records of a named producer that were in the log, or had been, before this run.
    [[nodiscard]] std::uint64_t duplicates() const noexcept { return duplicates_; }

private:
    void check_size(const ProducerRecord& record, const Origin& origin);
    void drop_done(std::size_t attempted);
    [[nodiscard]] std::size_t find_result(Status status) const noexcept;
    void wait_for_room(std::uint32_t partition);
    [[noreturn]] void refuse(std::size_t index) const;

    Broker broker_;
    Producer& producer_;
    std::vector<ProducerRecord> records_;
    std::vector<Origin> origins_;  ///< One for each of records_.
    std::vector<PublishResult> results_;
    std::uint64_t published_ = 0;
    std::uint64_t duplicates_ = 0;
    bool has_told_to_wait_ = false;
};

}  // namespace ringmain::cli
