// A printer: a worker of the queue. It acquires a sheet of labels, prints one after the other, writes down that it did,
// and answers for the sheet when it is through.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "orders_roles.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/queue.hpp"

namespace ringmain::cli::orders {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kSheetLabels = 16;
constexpr milliseconds kAcquireTimeout{20};
constexpr milliseconds kWarmUp{40};         // a sheet takes so long, so that labels gather meanwhile,
constexpr milliseconds kPrinting{5};        // and each of its labels so long
constexpr std::uint64_t kDefectAfter = 20;  // a planted defect waits for so many labels

class Printer {
public:
    Printer(const Plan& plan, const Board& board, PrinterPanel& panel, LabelJournal& journal, std::uint32_t printer)
        : plan_(plan),
          board_(board),
          panel_(panel),
          journal_(journal),
          printer_(printer),
          worker_(Broker(plan.broker), kLabels, kQueue) {
        panel_.ready.store(true, std::memory_order_release);
    }

    void run() {
        while (!board_.close.load(std::memory_order_acquire))
            work_once();
        worker_.close();
    }

private:
    /// A label in hand.
    struct Job {
        const QueueRecord& record;
        std::uint32_t order;
        std::string error = {};  ///< Empty: it was printed.
    };

    void work_once() {
        const AcquireResult result = worker_.acquire(kSheetLabels, kAcquireTimeout);
        if (result.status != Status::ok || !result.gaps.empty())
            throw std::runtime_error(fmt::format("acquire: {}, {} gaps", to_string(result.status), result.gaps.size()));
        if (result.records.empty())
            return;
        std::vector<Job> sheet = take(result);
        std::this_thread::sleep_for(kWarmUp);
        for (Job& job : sheet)
            print(job);
        for (const Job& job : sheet)
            answer(job);
        panel_.unanswered.store(0, std::memory_order_relaxed);
        panel_.holds_trouble.store(false, std::memory_order_relaxed);
    }

    std::vector<Job> take(const AcquireResult& result) {
        std::vector<Job> sheet;
        for (const QueueRecord& record : result.records) {
            const std::string_view key = text_or(record.record.key, "");
            const auto order = order_named(key);
            if (!order)
                throw std::runtime_error(fmt::format("labels, partition {}, offset {}: the key '{}' is no order's",
                                                     record.record.partition, record.record.offset, key));
            if (*order == kPoisonOrder || *order == kFlakyOrder)
                panel_.holds_trouble.store(true, std::memory_order_relaxed);
            sheet.push_back({record, *order});
            note(sheet.back(), LabelEntry::Kind::taken);
        }
        panel_.in_hand.store(sheet.size(), std::memory_order_relaxed);
        return sheet;
    }

    void print(Job& job) {
        std::this_thread::sleep_for(kPrinting);
        job.error = trouble_with(job);
        if (job.error.empty()) {
            if (!forget(job.order))
                note(job, LabelEntry::Kind::printed);
            panel_.printed.store(++printed_, std::memory_order_relaxed);
        } else {
            note(job, LabelEntry::Kind::failed);
        }
        panel_.in_hand.fetch_sub(1, std::memory_order_relaxed);
        panel_.unanswered.fetch_add(1, std::memory_order_relaxed);
    }

    [[nodiscard]] std::string trouble_with(const Job& job) const {
        const std::string_view town = text_or(job.record.record.value, "");
        if (town == kUnknownTown && !board_.mended.load(std::memory_order_acquire))
            return fmt::format("no such town: {}", town);
        if (job.order == kFlakyOrder && job.record.deliveries < kFlakyAttempt)
            return "paper jam";
        return {};
    }

    /// The planted defect, once: a label is acknowledged that was not printed.
    bool forget(std::uint32_t order) {
        const bool now = plan_.options.defect == Defect::forget && printer_ == kForgetfulPrinter && !forgot_;
        if (!now || printed_ < kDefectAfter || order == kPoisonOrder || order == kFlakyOrder)
            return false;
        forgot_ = true;
        return true;
    }

    void answer(const Job& job) {
        const SettleResult result =
            job.error.empty() ? worker_.ack(job.record.lock) : worker_.nack(job.record.lock, std::nullopt, job.error);
        note(job, result.settled == Settled::done ? LabelEntry::Kind::answered : LabelEntry::Kind::refused);
    }

    void note(const Job& job, LabelEntry::Kind kind) {
        LabelEntry entry;
        entry.time_ns = now_ns();
        entry.offset = job.record.record.offset;
        entry.order = job.order;
        entry.attempt = job.record.deliveries;
        entry.partition = static_cast<std::uint8_t>(job.record.record.partition);
        entry.kind = kind;
        journal_.append(entry);
    }

    const Plan& plan_;
    const Board& board_;
    PrinterPanel& panel_;
    LabelJournal& journal_;
    std::uint32_t printer_;
    QueueWorker worker_;
    std::uint64_t printed_ = 0;
    bool forgot_ = false;
};

}  // namespace

void run_printer(const Plan& plan, Board& board, LabelJournal& journal, std::uint32_t printer) {
    Printer(plan, board, board.printers[printer], journal, printer).run();
}

}  // namespace ringmain::cli::orders
