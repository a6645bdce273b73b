// The scenes of the labels: printers that share a queue, one of them killed, and two orders that make trouble.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "demo_text.hpp"
#include "orders_roles.hpp"
#include "orders_stage.hpp"

namespace ringmain::cli::orders {

namespace {

using demo::duration;
using demo::grouped;

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

std::string key_of(std::uint32_t order) { return fmt::format("order-{:06}", order); }

}  // namespace

void Stage::raise_printers() {
    printers_.reserve(kPrinters.size());
    for (std::uint32_t printer = 0; printer < kPrinters.size(); ++printer) {
        printers_.emplace_back(kPrinters[printer], board_.printers[printer].error, [this, printer] {
            run_printer(plan_, board_, records_.label_journals[printer], printer);
        });
    }
    waiting_.until("the printers", kPatience, [&] {
        return std::all_of(board_.printers.begin(), board_.printers.end(),
                           [](const PrinterPanel& panel) { return panel.ready.load(std::memory_order_acquire); });
    });
    narrator_.event(
        fmt::format("queue '{}' of topic '{}': {} workers on {} partitions, each label is acknowledged by itself",
                    kQueue, kLabels, kPrinters.size(), kLabelPartitions));
}

void Stage::watch_flaky_order() {
    std::optional<Printing> printing;
    waiting_.until("the label of the flaky order", nanoseconds(plan_.end_after_ns) + kPatience,
                   [&] { return (printing = printing_of(kFlakyOrder)).has_value(); });
    narrator_.event(fmt::format("{}, whose paper jams, is printed by {} at attempt {}", key_of(kFlakyOrder),
                                kPrinters[printing->printer], printing->attempt));
}

void Stage::kill_printer() {
    wait_for_moment("the moment of the printer's kill", plan_.kill_printer_after_ns);
    catch_printer();
    facts_.moments.printer_killed_ns = now_ns();
    printers_[kKilledPrinter].kill();
    const Held held = held_by(records_.label_journals[kKilledPrinter].entries());
    narrator_.event(
        fmt::format("{} killed with SIGKILL while it holds {} labels, {} of them printed and not acknowledged",
                    kPrinters[kKilledPrinter], held.labels, held.printed));
    LabelsAudit audit;
    waiting_.until("the labels of the killed printer", kPatience, [&] {
        audit = audit_labels(label_journals(records_.label_journals), plan_.orders());
        return audit.held_again == held.labels;
    });
    narrator_.event(fmt::format(
        "all of them are in the hands of other printers after {}",
        duration(static_cast<std::uint64_t>(audit.held_again_ns.value_or(0) - facts_.moments.printer_killed_ns))));
}

/// Stops the printer between two labels of a sheet that is partly printed and has none of the troublesome labels.
void Stage::catch_printer() {
    const PrinterPanel& panel = board_.printers[kKilledPrinter];
    catch_child("the printer at work", printers_[kKilledPrinter], [&] {
        return load(panel.unanswered) != 0 && load(panel.in_hand) != 0 &&
               !panel.holds_trouble.load(std::memory_order_relaxed);
    });
}

void Stage::mend_map() {
    wait_for_moment("the moment of the mending", plan_.mend_after_ns);
    LettersPanel& letters = board_.letters;
    waiting_.until("the letter of the poison order", kPatience, [&] {
        waiting_.for_look("a look at the letters", board_.house.looks_wanted, board_.house.looks_taken);
        return load(letters.letters) != 0;
    });
    narrator_.event(fmt::format("{} failed {} times (\"{}\") and is {} of {}", key_of(kPoisonOrder),
                                load(letters.attempts), letters.last_error.data(),
                                load(letters.letters) == 1 ? "the only letter" : "a letter", kLetters));
    board_.mended.store(true, std::memory_order_release);
    facts_.moments.mended_ns = now_ns();
    waiting_.for_look("the replay of the letters", letters.replays_wanted, letters.replays_done);
    std::optional<Printing> printing;
    waiting_.until("the label of the poison order", kPatience,
                   [&] { return (printing = printing_of(kPoisonOrder)).has_value(); });
    facts_.poison_printed_after_ns = static_cast<std::uint64_t>(printing->time_ns - facts_.moments.mended_ns);
    narrator_.event(fmt::format("the map is mended and {} letter replayed: printed by {} at attempt {}, after {}",
                                grouped(load(letters.replayed)), kPrinters[printing->printer], printing->attempt,
                                duration(facts_.poison_printed_after_ns)));
}

/// The first time that an order's label was printed; nothing if it was not yet.
std::optional<Stage::Printing> Stage::printing_of(std::uint32_t order) const {
    std::optional<Printing> first;
    for (std::uint32_t printer = 0; printer < kPrinters.size(); ++printer) {
        for (const LabelEntry& entry : records_.label_journals[printer].entries()) {
            if (entry.kind == LabelEntry::Kind::printed && entry.order == order &&
                (!first || entry.time_ns < first->time_ns)) {
                first = Printing{printer, entry.attempt, entry.time_ns};
            }
        }
    }
    return first;
}

std::uint64_t Stage::labels_printed() const noexcept {
    std::uint64_t sum = 0;
    for (const PrinterPanel& panel : board_.printers)
        sum += load(panel.printed);
    return sum;
}

}  // namespace ringmain::cli::orders
