// The loop of `ringmain consume -g`: a member of a group that commits what it has printed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "consume_job.hpp"
#include "record_printer.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/group_admin.hpp"

namespace ringmain::cli {

/// Joins the group in one topic, prints what it gets, and commits only what has left the process. Ended in any way but by
/// SIGKILL, it leaves the group; killed, what was printed since its last commit comes again.
class GroupConsumeJob {
public:
    /// Throws what Consumer::subscribe does; UsageError for a value of the group that cannot be.
    GroupConsumeJob(const Broker& broker, const ConsumeOptions& options);
    GroupConsumeJob(const GroupConsumeJob&) = delete;
    GroupConsumeJob& operator=(const GroupConsumeJob&) = delete;

    /// Until the count or the end is reached or a signal asks to stop. Throws CommandError if reading cannot go on.
    void run();
    void tell_counts() const { printer_.tell_counts(options_.topic); }

private:
    [[nodiscard]] bool done() const noexcept;
    void print(const PollResult& result);
    void commit_printed();
    void tell_refused(const CommitResult& result);
    void check(const PollResult& result);
    void note_damaged(const PartitionFailure& failure);
    [[nodiscard]] bool has_read_all();
    [[nodiscard]] GroupOptions with_listener(GroupOptions group);

    const ConsumeOptions& options_;
    GroupAdmin admin_;
    RecordPrinter printer_;
    Consumer consumer_;
    std::vector<std::uint64_t> ends_;  // of all partitions, at the start
    std::uint64_t damaged_ = 0;
    bool uncommitted_ = false;
    bool moved_ = false;  // by the last poll
};

}  // namespace ringmain::cli
