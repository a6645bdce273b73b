// Deliveries, printings and repeats, out of the journals of all printers.
#include "orders_labels_audit.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace ringmain::cli::orders {

namespace {

/// A record and which of its deliveries.
using Delivery = std::tuple<std::uint8_t, std::uint64_t, std::uint32_t>;

Delivery delivery_of(const LabelEntry& entry) noexcept { return {entry.partition, entry.offset, entry.attempt}; }

struct Unanswered {
    std::uint32_t order = 0;
    bool printed = false;
};

std::map<Delivery, Unanswered> unanswered_in(std::span<const LabelEntry> journal) {
    std::map<Delivery, Unanswered> unanswered;
    for (const LabelEntry& entry : journal) {
        switch (entry.kind) {
            case LabelEntry::Kind::taken:
                unanswered[delivery_of(entry)].order = entry.order;
                break;
            case LabelEntry::Kind::printed:
                unanswered[delivery_of(entry)].printed = true;
                break;
            case LabelEntry::Kind::answered:
            case LabelEntry::Kind::refused:
                unanswered.erase(delivery_of(entry));
                break;
            case LabelEntry::Kind::failed:
                break;
        }
    }
    return unanswered;
}

/// Counts what all printers wrote down.
class Counting {
public:
    Counting(LabelsAudit& audit, std::uint64_t orders) : audit_(audit), printings_(orders) {}

    void take(const LabelEntry& entry) {
        if (entry.order >= printings_.size()) {
            ++audit_.unknown;
            return;
        }
        switch (entry.kind) {
            case LabelEntry::Kind::taken:
                ++audit_.deliveries;
                ++takers_[delivery_of(entry)];
                break;
            case LabelEntry::Kind::printed:
                ++audit_.printed;
                ++printings_[entry.order];
                note(entry);
                break;
            case LabelEntry::Kind::failed:
                ++audit_.failed;
                note(entry);
                break;
            case LabelEntry::Kind::refused:
                ++audit_.refused;
                break;
            case LabelEntry::Kind::answered:
                break;
        }
    }

    /// `killed`: what the killed printer left.
    void end(const std::map<Delivery, Unanswered>& killed) {
        for (const auto& [delivery, takers] : takers_)
            audit_.shared += takers > 1 ? 1 : 0;
        std::vector<std::uint32_t> excused(printings_.size());
        for (const auto& [delivery, held] : killed) {
            if (held.printed && held.order < excused.size())
                ++excused[held.order];
        }
        for (std::size_t order = 0; order < printings_.size(); ++order) {
            if (printings_[order] == 0)
                continue;
            const std::uint32_t superfluous = printings_[order] - 1;
            ++audit_.distinct;
            audit_.repeated += std::min(superfluous, excused[order]);
            audit_.repeated_other += superfluous - std::min(superfluous, excused[order]);
        }
        audit_.missing = printings_.size() - audit_.distinct;
    }

private:
    void note(const LabelEntry& entry) {
        if (entry.order == kPoisonOrder)
            note(audit_.poison, poison_printed_ns_, entry);
        if (entry.order == kFlakyOrder)
            note(audit_.flaky, flaky_printed_ns_, entry);
    }
    static void note(Trouble& trouble, std::int64_t& printed_ns, const LabelEntry& entry) {
        if (entry.kind == LabelEntry::Kind::failed) {
            ++trouble.failed;
        } else if (!trouble.printed_at || entry.time_ns < printed_ns) {
            trouble.printed_at = entry.attempt;
            printed_ns = entry.time_ns;
        }
    }

    LabelsAudit& audit_;
    std::vector<std::uint32_t> printings_;  // by order
    std::map<Delivery, std::uint32_t> takers_;
    std::int64_t poison_printed_ns_ = 0;
    std::int64_t flaky_printed_ns_ = 0;
};

/// Whether and when another printer was given each record that the killed one held.
void follow_held(LabelsAudit& audit, const LabelJournals& journals, std::map<Delivery, Unanswered> held) {
    for (std::uint32_t printer = 0; printer < kPrinters.size(); ++printer) {
        if (printer == kKilledPrinter)
            continue;
        for (const LabelEntry& entry : journals[printer]) {
            if (entry.kind != LabelEntry::Kind::taken || entry.attempt == 0 ||
                held.erase({entry.partition, entry.offset, entry.attempt - 1}) == 0) {
                continue;
            }
            ++audit.held_again;
            audit.held_again_ns = std::max(audit.held_again_ns.value_or(entry.time_ns), entry.time_ns);
        }
    }
}

Held count_held(const std::map<Delivery, Unanswered>& unanswered) {
    Held held;
    held.labels = unanswered.size();
    for (const auto& [delivery, one] : unanswered)
        held.printed += one.printed ? 1 : 0;
    return held;
}

}  // namespace

Held held_by(std::span<const LabelEntry> journal) { return count_held(unanswered_in(journal)); }

LabelJournals label_journals(std::span<const LabelJournal> journals) {
    LabelJournals all;
    for (std::size_t printer = 0; printer < all.size() && printer < journals.size(); ++printer)
        all[printer] = journals[printer].entries();
    return all;
}

LabelsAudit audit_labels(const LabelJournals& journals, std::uint64_t orders) {
    LabelsAudit audit;
    Counting counting(audit, orders);
    for (const std::span<const LabelEntry> journal : journals) {
        for (const LabelEntry& entry : journal)
            counting.take(entry);
    }
    const std::map<Delivery, Unanswered> held = unanswered_in(journals[kKilledPrinter]);
    counting.end(held);
    audit.held = count_held(held);
    follow_held(audit, journals, held);
    return audit;
}

}  // namespace ringmain::cli::orders
