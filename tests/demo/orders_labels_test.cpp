// The audit of the labels finds what is wrong in printers' journals that were written by hand.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/orders_labels_audit.hpp"
#include "cli/orders_report.hpp"
#include "support/catch.hpp"

using namespace ringmain::cli::orders;

namespace {

using Kind = LabelEntry::Kind;
constexpr std::uint32_t kOther = 0;  // any printer that is not the killed one

/// A delivery of an order's label; the record of order n is at offset n.
struct Delivery {
    std::uint32_t order = 0;
    std::uint32_t attempt = 1;
};

/// The printers' journals, each entry a nanosecond after the one before.
class Printers {
public:
    void note(std::uint32_t printer, Delivery delivery, std::initializer_list<Kind> kinds) {
        for (const Kind kind : kinds) {
            LabelEntry entry;
            entry.time_ns = ++time_ns_;
            entry.offset = delivery.order;
            entry.order = delivery.order;
            entry.attempt = delivery.attempt;
            entry.kind = kind;
            entries_[printer].push_back(entry);
        }
    }
    void print(std::uint32_t printer, Delivery delivery) {
        note(printer, delivery, {Kind::taken, Kind::printed, Kind::answered});
    }
    void fail(std::uint32_t printer, Delivery delivery) {
        note(printer, delivery, {Kind::taken, Kind::failed, Kind::answered});
    }
    [[nodiscard]] LabelsAudit audit_of(std::uint64_t orders) const { return audit_labels(journals(), orders); }
    [[nodiscard]] LabelJournals journals() const {
        LabelJournals journals;
        for (std::size_t printer = 0; printer < entries_.size(); ++printer)
            journals[printer] = entries_[printer];
        return journals;
    }

private:
    std::array<std::vector<LabelEntry>, kPrinters.size()> entries_;
    std::int64_t time_ns_ = 0;
};

/// Order 0 was printed and answered for by the printer that is killed, 1 printed, 2 taken.
Printers killed_at_work() {
    Printers printers;
    printers.print(kKilledPrinter, {0});
    printers.note(kKilledPrinter, {1}, {Kind::taken, Kind::printed});
    printers.note(kKilledPrinter, {2}, {Kind::taken});
    return printers;
}

}  // namespace

TEST_CASE("The audit of labels that were printed once each finds nothing wrong") {
    Printers printers;
    printers.print(kOther, {0});
    printers.print(kKilledPrinter, {1});
    const LabelsAudit audit = printers.audit_of(2);
    CHECK(audit.deliveries == 2);
    CHECK(audit.distinct == 2);
    CHECK(audit.missing == 0);
    CHECK(audit.unknown == 0);
    CHECK(audit.refused == 0);
    CHECK(audit.shared == 0);
    CHECK(audit.held.labels == 0);
    CHECK(audit.repeated == 0);
    CHECK(audit.repeated_other == 0);
}

TEST_CASE("The audit of labels knows what the killed printer held, and excuses the repeats of that alone") {
    Printers printers = killed_at_work();
    CHECK(held_by(printers.journals()[kKilledPrinter]).labels == 2);
    CHECK(held_by(printers.journals()[kKilledPrinter]).printed == 1);
    printers.print(kOther, {1, 2});
    CHECK(printers.audit_of(3).held_again == 1);
    printers.print(kOther, {2, 2});
    const LabelsAudit audit = printers.audit_of(3);
    CHECK(audit.held.labels == 2);
    CHECK(audit.held_again == 2);
    CHECK(audit.held_again_ns == 10);
    CHECK(audit.repeated == 1);
    CHECK(audit.repeated_other == 0);
    CHECK(audit.missing == 0);

    printers.print(kOther, {0, 2});  // that one was answered for
    CHECK(printers.audit_of(3).repeated_other == 1);
    printers.print(kOther, {1, 3});
    CHECK(printers.audit_of(3).repeated == 1);
    CHECK(printers.audit_of(3).repeated_other == 2);
}

TEST_CASE(
    "The audit of labels counts what was not printed, what nobody placed, what two had, and answers that were "
    "refused") {
    Printers printers;
    printers.print(kOther, {0});
    printers.note(2, {0}, {Kind::taken});
    printers.note(2, {1}, {Kind::taken, Kind::answered});
    printers.print(2, {7});
    printers.note(3, {2}, {Kind::taken, Kind::printed, Kind::refused});
    const LabelsAudit audit = printers.audit_of(3);
    CHECK(audit.missing == 1);
    CHECK(audit.unknown == 3);
    CHECK(audit.shared == 1);
    CHECK(audit.refused == 1);
    CHECK(audit.held_again == 0);
}

TEST_CASE("The audit of labels counts the attempts of the orders that make trouble") {
    Printers printers;
    for (std::uint32_t attempt = 1; attempt <= kDeliveryLimit; ++attempt)
        printers.fail(kOther, {kPoisonOrder, attempt});
    printers.fail(2, {kFlakyOrder, 1});
    printers.fail(3, {kFlakyOrder, 2});
    LabelsAudit audit = printers.audit_of(kFlakyOrder + 1);
    CHECK(audit.poison.failed == kDeliveryLimit);
    CHECK_FALSE(audit.poison.printed_at);
    CHECK_FALSE(audit.flaky.printed_at);
    printers.print(4, {kFlakyOrder, 3});
    printers.print(2, {kFlakyOrder, 4});
    audit = printers.audit_of(kFlakyOrder + 1);
    CHECK(audit.failed == kDeliveryLimit + 2);
    CHECK(audit.flaky.failed == 2);
    CHECK(audit.flaky.printed_at == 3);
}

TEST_CASE("A key names its order, and one that is no order's names none") {
    CHECK(order_named("order-000040") == 40);
    for (const char* key : {"", "order-", "order-4x", "orders-4", "order-99999999999"})
        CHECK_FALSE(order_named(key));
}

namespace {

/// A run of 51 orders, all of them printed as the story wants it, and judged.
struct Judged {
    Plan plan = make_plan({});
    Records records{100, 1'000};
    std::uint64_t time_ns = 0;

    Judged() {
        plan.options.producers = 1;
        plan.orders_per_producer = kFlakyOrder + 1;
        Board& board = *records.board;
        board.producers[0].labels = plan.orders();
        board.house.verified_labels = plan.orders() + 1;
        board.letters.letters = board.letters.replayed = board.queue.dead_lettered = 1;
        board.queue.returned = 1;
        board.queue.redelivered = kDeliveryLimit - 1 + 2 + 1;
        write(kKilledPrinter, {0}, {Kind::taken, Kind::printed});
        write(kOther, {0, 2}, {Kind::taken, Kind::printed, Kind::answered});
        for (std::uint32_t order = 1; order < plan.orders(); ++order) {
            std::uint32_t fails = order == kPoisonOrder ? kDeliveryLimit : 0;
            fails = order == kFlakyOrder ? 2 : fails;
            for (std::uint32_t attempt = 1; attempt <= fails; ++attempt)
                write(kOther, {order, attempt}, {Kind::taken, Kind::failed, Kind::answered});
            if (order != kPoisonOrder)
                write(kOther, {order, fails + 1}, {Kind::taken, Kind::printed, Kind::answered});
        }
        write(kOther, {kPoisonOrder, 1}, {Kind::taken, Kind::printed, Kind::answered}, 1'000);
    }
    void write(std::uint32_t printer, Delivery delivery, std::initializer_list<Kind> kinds,
               std::uint64_t offset_more = 0) {
        for (const Kind kind : kinds) {
            LabelEntry entry;
            entry.time_ns = static_cast<std::int64_t>(++time_ns);
            entry.offset = delivery.order + offset_more;
            entry.order = delivery.order;
            entry.attempt = delivery.attempt;
            entry.kind = kind;
            records.label_journals[printer].append(entry);
        }
    }
    /// Names of those that concern the labels and are wrong.
    [[nodiscard]] std::vector<std::string> wrong() const {
        std::vector<std::string> names;
        for (const auto& check : judge(plan, records, {}).checks) {
            UNSCOPED_INFO(check.name << ": " << check.detail);
            if (!check.good && check.name.starts_with("labels: "))
                names.push_back(check.name.substr(8));
        }
        return names;
    }
    [[nodiscard]] bool only_wrong(const std::string& part) const {
        const std::vector<std::string> names = wrong();
        return names.size() == 1 && names.front().find(part) != std::string::npos;
    }
};

}  // namespace

TEST_CASE(
    "Labels that were printed as the story wants it are right in every count, and each thing that is not is named") {
    CHECK(Judged().wrong().empty());
    SECTION("an answer that the queue refused") {
        Judged judged;
        judged.write(2, {3, 9}, {Kind::refused});
        CHECK(judged.only_wrong("the label of every order"));
    }
    SECTION("a label that was lost on its way") {
        Judged judged;
        judged.records.board->house.verified_labels = judged.plan.orders();
        CHECK(judged.only_wrong("the label of every order"));
    }
    SECTION("a label that was printed twice for no reason") {
        Judged judged;
        judged.write(2, {3, 1}, {Kind::printed});
        CHECK(judged.only_wrong("printed twice"));
    }
    SECTION("a lock that ran out") {
        Judged judged;
        judged.records.board->queue.expired = 1;
        CHECK(judged.only_wrong("went to others at once"));
    }
    SECTION("a delivery that nobody can explain") {
        Judged judged;
        judged.write(2, {3, 2}, {Kind::taken, Kind::answered});
        CHECK(judged.only_wrong("every delivery"));
    }
    SECTION("two letters") {
        Judged judged;
        judged.records.board->letters.letters = 2;
        CHECK(judged.only_wrong("exactly one letter"));
    }
    SECTION("a letter that is not as expected") {
        Judged judged;
        judged.records.board->letters.strange = 1;
        CHECK(judged.only_wrong("exactly one letter"));
    }
    SECTION("a letter that was replayed twice") {
        Judged judged;
        judged.records.board->letters.replayed_again = 1;
        CHECK(judged.only_wrong("exactly one letter"));
    }
    SECTION("a queue that is not at the end") {
        Judged judged;
        judged.records.board->queue.lag = 1;
        CHECK(judged.only_wrong("end of the log"));
    }
}
