// The counts of the labels, from the printers' journals, and from the queue's own figures beside them.
#include "orders_labels_checks.hpp"

#include <fmt/format.h>

#include "demo_text.hpp"

namespace ringmain::cli::orders {

namespace {

using demo::Check;
using demo::grouped;

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

Check check_all_printed(const RunResult& result) {
    const LabelsAudit& audit = result.labels;
    std::uint64_t published = 0;
    for (const ProducerPanel& panel : result.board.producers)
        published += load(panel.labels);
    const std::uint64_t in_log = load(result.board.house.verified_labels);
    return {"labels: the label of every order was printed",
            audit.missing == 0 && audit.unknown == 0 && audit.refused == 0 && published == result.plan.orders() &&
                in_log == published + load(result.board.letters.replayed),
            fmt::format(
                "{} published, {} in the log, {} orders printed, {} missing, {} that nobody placed, {} answers refused",
                grouped(published), grouped(in_log), grouped(audit.distinct), grouped(audit.missing),
                grouped(audit.unknown), grouped(audit.refused))};
}

Check check_repeats(const LabelsAudit& audit) {
    return {fmt::format("labels: only what {} had printed and not acknowledged was printed twice",
                        kPrinters[kKilledPrinter]),
            audit.repeated == audit.held.printed && audit.repeated_other == 0 && audit.shared == 0,
            fmt::format("{} printed twice, {} for any other reason; {} deliveries to two printers",
                        grouped(audit.repeated), grouped(audit.repeated_other), grouped(audit.shared))};
}

Check check_returned(const RunResult& result) {
    const LabelsAudit& audit = result.labels;
    const QueuePanel& queue = result.board.queue;
    return {fmt::format("labels: what {} held went to others at once, and nothing else left its printer",
                        kPrinters[kKilledPrinter]),
            audit.held.labels != 0 && audit.held_again == audit.held.labels &&
                load(queue.returned) == audit.held.labels && load(queue.expired) == 0,
            fmt::format("{} held, {} delivered to others; the queue took {} from the dead and {} whose lock ran out",
                        grouped(audit.held.labels), grouped(audit.held_again), grouped(load(queue.returned)),
                        grouped(load(queue.expired)))};
}

/// Every delivery has a reason: an order, a failure before, a holder that died, the replay.
Check check_deliveries(const RunResult& result) {
    const LabelsAudit& audit = result.labels;
    const std::uint64_t replayed = load(result.board.letters.replayed);
    const std::uint64_t tried_again = audit.failed - load(result.board.queue.dead_lettered);
    return {"labels: every delivery is accounted for",
            audit.deliveries == result.plan.orders() + replayed + tried_again + audit.held.labels &&
                load(result.board.queue.redelivered) == tried_again + audit.held.labels,
            fmt::format("{} deliveries: {} orders, {} replayed, {} failures tried again, {} held by the dead",
                        grouped(audit.deliveries), grouped(result.plan.orders()), grouped(replayed),
                        grouped(tried_again), grouped(audit.held.labels))};
}

Check check_poison(const RunResult& result) {
    const Trouble& poison = result.labels.poison;
    const LettersPanel& letters = result.board.letters;
    const std::uint64_t strange = load(letters.strange);
    return {"labels: the poison order ended in exactly one letter, was replayed once, and was printed then",
            poison.failed == kDeliveryLimit && load(letters.letters) == 1 && strange == 0 &&
                load(letters.replayed) == 1 && load(letters.replayed_again) == 0 && poison.printed_at == 1,
            fmt::format("{} attempts failed, letters {}, not as expected {}{}{}; replayed {}, by one more replay {}; "
                        "printed at attempt {} of its new life",
                        poison.failed, load(letters.letters), strange, strange == 0 ? "" : ": ",
                        strange == 0 ? "" : letters.fault.data(), load(letters.replayed), load(letters.replayed_again),
                        poison.printed_at ? std::to_string(*poison.printed_at) : "-")};
}

Check check_flaky(const LabelsAudit& audit) {
    const Trouble& flaky = audit.flaky;
    return {"labels: the flaky order was printed at its third attempt",
            flaky.failed == kFlakyAttempt - 1 && flaky.printed_at == kFlakyAttempt,
            fmt::format("{} attempts failed, printed at attempt {}", flaky.failed,
                        flaky.printed_at ? std::to_string(*flaky.printed_at) : "-")};
}

Check check_end(const RunResult& result) {
    const QueuePanel& queue = result.board.queue;
    return {"labels: the queue is at the end of the log",
            load(queue.lag) == 0 && load(queue.skipped) == 0 && load(queue.lost) == 0 && load(queue.dead_lettered) == 1,
            fmt::format("lag {}, dead-lettered {}, skipped {}, lost {}", grouped(load(queue.lag)),
                        grouped(load(queue.dead_lettered)), grouped(load(queue.skipped)), grouped(load(queue.lost)))};
}

}  // namespace

std::vector<Check> check_labels(const RunResult& result) {
    return {check_all_printed(result), check_repeats(result.labels), check_returned(result), check_deliveries(result),
            check_poison(result),      check_flaky(result.labels),   check_end(result)};
}

}  // namespace ringmain::cli::orders
