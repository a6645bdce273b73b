// The loop of `ringmain consume`: poll, print, and know when to stop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record_format.hpp"
#include "record_printer.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/queue.hpp"

namespace ringmain::cli {

/// What `-q` asks for.
struct QueueConsumeOptions {
    std::string queue;
    QueueOptions create;            ///< If it does not exist.
    bool created_as_asked = false;  ///< An option of a new queue was given: one that exists must have the same.
    bool manual = false;            ///< Answers come on standard input.
    std::uint32_t max_in_flight = 1'000;
};

struct ConsumeOptions {
    std::string topic;
    std::optional<std::uint32_t> partition;  ///< Otherwise all.
    Position from;
    std::uint64_t records_max = UINT64_MAX;
    bool stop_at_end = false;            ///< At the log end offsets of the start.
    std::string gate;                    ///< Held while reading, unless empty.
    std::optional<GroupOptions> group;   ///< Read as a member of it (GroupConsumeJob): no partition, position or gate then.
    std::optional<QueueConsumeOptions> queue;  ///< Acquire as a worker of it (QueueConsumeJob): nor then.
    std::optional<RecordFormat> format;  ///< Otherwise JSON.
};

/// Reads one topic and prints its records; gaps, damaged partitions, and positions at which there is no record, go to stderr.
class ConsumeJob {
public:
    /// Throws what Consumer::assign and Consumer::seek do; UsageError for the name of a gate.
    ConsumeJob(const Broker& broker, const ConsumeOptions& options);

    /// Until the count or the end is reached or a signal asks to stop. Throws CommandError if reading cannot go on, and at the end
    /// if a partition could not be read.
    void run();

    void tell_counts() const { printer_.tell_counts(options_.topic); }

private:
    /// A partition still to be read, up to `end`.
    struct Part {
        std::uint32_t partition = 0;
        std::uint64_t end = UINT64_MAX;
    };

    void hold_gate();
    void assign(std::uint32_t partition);
    void assign_if_sound(std::uint32_t partition);
    void note_damaged(std::uint32_t partition, const std::string& why);
    [[nodiscard]] std::string reason_of(const PartitionFailure& failure) const;
    void check(const PollResult& result);
    void tell_position(std::uint32_t partition);
    [[nodiscard]] bool done() const noexcept;
    void drop_finished_parts();
    [[nodiscard]] bool is_past_end(const ConsumerRecord& record) const noexcept;
    void print_records(const PollResult& result);
    void release_printed();

    Broker broker_;
    const ConsumeOptions& options_;
    Consumer consumer_;
    RecordPrinter printer_;
    std::vector<Part> parts_;
    std::uint64_t damaged_ = 0;
};

}  // namespace ringmain::cli
