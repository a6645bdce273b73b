// The loop of `ringmain consume -q`: a worker of a queue that prints what it acquires.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "consume_job.hpp"
#include "line_reader.hpp"
#include "record_printer.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/queue_admin.hpp"

namespace ringmain::cli {

/// Prints records as it acquires them. Without `manual` it acknowledges what has left the process; with it each line of standard
/// input is an answer: VERB PARTITION:OFFSET [ARGUMENT]. Ended in any way but by SIGKILL it gives back what it holds; killed, that
/// returns by itself and comes again.
class QueueConsumeJob {
public:
    /// Throws what QueueWorker does.
    QueueConsumeJob(const Broker& broker, const ConsumeOptions& options);
    QueueConsumeJob(const QueueConsumeJob&) = delete;
    QueueConsumeJob& operator=(const QueueConsumeJob&) = delete;

    /// Until the count is reached, nothing is available (with -e), the answers end, or a signal asks to stop. Throws CommandError if
    /// it cannot go on.
    void run();
    void tell_counts() const;

private:
    [[nodiscard]] bool done() const noexcept;
    void print(const AcquireResult& result);
    void check(Status status) const;
    [[nodiscard]] bool is_drained();
    void ack_printed(const AcquireResult& result);
    void read_answers();
    void answer(std::string_view line);
    void settle(std::string_view verb, Lock& lock, std::string_view argument);
    void tell(const SettleResult& result, const Lock& lock);

    const ConsumeOptions& options_;
    const QueueConsumeOptions& queue_;
    QueueAdmin admin_;
    QueueWorker worker_;
    RecordPrinter printer_;
    LineReader answers_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, Lock> held_;  // manual: by partition and offset
    bool answers_end_ = false;
    std::uint64_t acked_ = 0;
    std::uint64_t refused_ = 0;
};

}  // namespace ringmain::cli
