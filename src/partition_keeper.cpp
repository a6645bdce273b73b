// The housekeeping of one partition, in bounded steps.
#include "partition_keeper.hpp"

#include <algorithm>

#include "gate_table/gate_table.hpp"
#include "group_table/listing.hpp"
#include "layout/clients.hpp"
#include "partition_log/control_check.hpp"
#include "platform/clock.hpp"
#include "recovery/group_upkeep.hpp"
#include "recovery/recovery.hpp"

namespace ringmain {

namespace {

constexpr std::int64_t kPatienceNs = 1'000'000;   // how long a ticket may look the same before it is closed
constexpr std::int64_t kWaitingSweepNs = 100'000'000;           // cells that wait for a stopped holder
constexpr std::int64_t kStoppedCloserSweepNs = 1'000'000'000;   // closers that may still act
constexpr std::int64_t kJudgedAgainNs = 1'000'000'000;          // tickets of a stopped producer that were closed
constexpr std::int64_t kLetGoNs = 500'000'000;                  // how long a group may hold a record that is too old
constexpr std::uint64_t kCellsPerStep = 8'192;
constexpr std::size_t kSuspectsMax = 256;

}  // namespace

PartitionKeeper::PartitionKeeper(const TopicFiles& topic, std::uint32_t partition)
    : topic_(topic.name()),
      partition_(partition),
      mapping_(topic.map_partition(partition, platform::Access::read_write)),
      log_(topic.log_in(mapping_, partition)),
      doorbell_(*log_.readers),
      retention_(topic, partition, log_),
      seen_(log_.producer_slots) {}

std::string PartitionKeeper::contradiction() const {
    const partition_log::ControlCheck check = partition_log::check_control(log_);
    return check.sound() ? std::string() : to_text(check, log_.first_offset);
}

PartitionKeeper::Signs PartitionKeeper::signs() const noexcept {
    return {log_.control->log_end.load(std::memory_order_acquire),   // acquire TICKET
            log_.control->closings.load(std::memory_order_acquire),  // acquire TICKET_CLOSE
            doorbell_.close_requested()};
}

/// A ticket that somebody holds moves log_end; a producer that holds none keeps nobody waiting, alive or stopped. What is known
/// to be open or waiting has a time at which it is due, and what the dead hold is looked for after each death.
bool PartitionKeeper::rests(const Signs& now, const KeeperStep& step) const noexcept {
    if (!looked_ || step.now_ns < looked_ns_) return false;  // or a clock that went back
    return now == seen_signs_ && !now.close_requested && step.deaths == seen_deaths_ && step.now_ns < due_ns_;
}

std::int64_t PartitionKeeper::next_due_ns(std::int64_t now_ns) const noexcept {
    if (sweep_at_ != 0 || scan_at_ < scan_end_) return now_ns;
    std::int64_t due_ns = kNothingDue;
    for (const Seen& seen : seen_) {
        if (!layout::has_begun(seen.owner) || seen.ticket == partition_log::kIdle) continue;
        due_ns = std::min(due_ns, seen.since_ns + (seen.judged ? kJudgedAgainNs : kPatienceNs));
    }
    if (!suspects_.empty()) due_ns = std::min(due_ns, suspects_since_ns_ + kPatienceNs);
    if (sweep_waiting_) due_ns = std::min(due_ns, swept_ns_ + kWaitingSweepNs);
    const std::uint64_t done = log_.control->closings_done.load(std::memory_order_acquire);  // acquire TICKET_CLOSE
    if (sweep_closings_ != done) due_ns = std::min(due_ns, swept_ns_ + kStoppedCloserSweepNs);
    return due_ns;
}

void PartitionKeeper::step(KeeperStep& step, bool age_limited) {
    if (age_limited) let_groups_go(step);
    retention_.step(step);
    const Signs now = signs();  // before the look: what changes later is seen by the next step
    rested_ = rests(now, step);
    if (rested_) return;
    step.changed |= now != seen_signs_ || now.close_requested;
    find_reaped_by_others();
    looked_ = true;
    seen_signs_ = now;
    seen_deaths_ = step.deaths;
    looked_ns_ = step.now_ns;
    const KeeperReport before = step.report;
    reap_gates(step);
    reap_producers(step);
    if (now.close_requested && doorbell_.serve_close_request(log_)) ++step.report.closed_tickets;
    close_stuck_tickets(step);
    scan_for_open_tickets(step);
    release_cells(step);
    tell_count(step, KeeperEventKind::tickets_closed, step.report.closed_tickets - before.closed_tickets);
    tell_count(step, KeeperEventKind::cells_released, step.report.released_cells - before.released_cells);
    if (sweep_at_ != 0 || scan_at_ < scan_end_) ++step.report.unfinished;
    due_ns_ = next_due_ns(step.now_ns);
}

void PartitionKeeper::tell_count(const KeeperStep& step, KeeperEventKind kind, std::uint64_t count) const {
    if (count != 0) tell(step, kind, [] { return std::string(); }, count);
}

void PartitionKeeper::let_groups_go(KeeperStep& step) {
    if (is_recent(let_go_ns_, step.now_ns, kLetGoNs)) return;
    let_go_ns_ = step.now_ns;
    const auto told = [&](std::uint32_t slot, std::uint64_t offset) {
        const auto name = [&] { return group_table::name_of(log_.groups.groups(), slot); };
        tell(step, KeeperEventKind::group_let_go, name, 1, offset);
    };
    step.report.let_go += recovery::let_go_by_age(log_, static_cast<std::uint64_t>(platform::realtime_ns()), told);
}

void PartitionKeeper::reap_gates(KeeperStep& step) {
    const auto told = [&](std::uint32_t index, std::uint64_t owner) {
        const auto gate = [&] {
            return "'" + gate_table::GateTable<Memory>(log_.readers).name(index) + "' of " + step.client_text(owner);
        };
        tell(step, KeeperEventKind::gate_reaped, gate, 1);
    };
    step.report.reaped_gates += recovery::reap_gates(log_, step.is_dead, told);
}

/// Whoever reaps a producer may die, or be nobody who closes, before the ticket that it held is closed: no entry names that ticket.
void PartitionKeeper::find_reaped_by_others() noexcept {
    const std::uint64_t reaped = log_.control->reaped_producers.load(std::memory_order_relaxed);  // relaxed: grows late at worst
    if (!looked_ || reaped != seen_reaped_) request_scan();
    seen_reaped_ = reaped;
}

void PartitionKeeper::reap_producers(KeeperStep& step) {
    for (std::uint32_t slot = 0; slot < log_.producer_slots; ++slot) {
        auto& entry = log_.producers[slot];
        const std::uint64_t owner = entry.owner.load(std::memory_order_acquire);  // acquire ENTRY
        if (owner == 0 || !step.is_dead(layout::client_of(owner))) continue;
        const std::uint64_t ticket = entry.ticket.load(std::memory_order_acquire);  // acquire ENTRY
        const std::uint64_t count = entry.count.load(std::memory_order_acquire);    // acquire ENTRY
        std::uint64_t sealed = 0;
        if (!recovery::reap_producer(log_, slot, owner, step.is_dead, &sealed)) continue;
        ++step.report.reaped_producers;
        ++seen_reaped_;
        step.report.sealed_extents += sealed;
        const auto client = [&] { return step.client_text(owner); };
        tell(step, KeeperEventKind::producer_reaped, client, 1);
        if (sealed != 0) tell(step, KeeperEventKind::extents_sealed, client, sealed);
        if (ticket == partition_log::kTaking) request_scan();
        if (ticket > partition_log::kTaking) close_held(ticket >> 2, count, step.report);
    }
}

void PartitionKeeper::close_stuck_tickets(KeeperStep& step) {
    for (std::uint32_t slot = 0; slot < log_.producer_slots; ++slot) {
        const auto& entry = log_.producers[slot];
        const std::uint64_t owner = entry.owner.load(std::memory_order_acquire);    // acquire ENTRY
        const std::uint64_t ticket = entry.ticket.load(std::memory_order_acquire);  // acquire ENTRY
        if (!is_stuck(seen_[slot], owner, ticket, step.now_ns)) continue;
        const std::uint64_t count = entry.count.load(std::memory_order_acquire);  // acquire ENTRY
        if (ticket == partition_log::kTaking) {
            request_scan();
        } else {
            close_held(ticket >> 2, count, step.report);
        }
    }
}

/// Whether the entry has shown the same for the patience. One that was judged is judged again when log_end has moved, because
/// an entry may say "taking" of several tickets one after the other, and now and then in any case.
bool PartitionKeeper::is_stuck(Seen& seen, std::uint64_t owner, std::uint64_t ticket, std::int64_t now_ns) const noexcept {
    if (!layout::has_begun(owner) || ticket == partition_log::kIdle || seen.owner != owner || seen.ticket != ticket) {
        seen = {owner, ticket, now_ns, false, 0};
        return false;
    }
    if (now_ns < seen.since_ns) seen.since_ns = now_ns;  // a clock that went back
    seen.judged = seen.judged && seen.log_end == seen_signs_.log_end;
    if (now_ns - seen.since_ns < (seen.judged ? kJudgedAgainNs : kPatienceNs)) return false;
    seen.since_ns = now_ns;
    seen.judged = true;
    seen.log_end = seen_signs_.log_end;
    return true;
}

void PartitionKeeper::close_held(std::uint64_t first, std::uint64_t count, KeeperReport& report) {
    const std::uint64_t held = std::min<std::uint64_t>(count, log_.batch_records_max);  // the count is input
    for (std::uint64_t i = 0; i < held; ++i) close_if_open(first + i, report);
}

void PartitionKeeper::close_if_open(std::uint64_t offset, KeeperReport& report) {
    const std::uint64_t end = log_.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
    if (offset >= end || end - offset > log_.records) return;
    const std::uint64_t word = log_.cell(offset).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT, TICKET_CLOSE
    if (partition_log::decided(word, offset)) return;
    if (partition_log::close_if_open(log_, offset)) ++report.closed_tickets;
}

/// In a log that contradicts itself no ticket is known to be open.
void PartitionKeeper::request_scan() noexcept {
    if (!partition_log::check_control(log_).sound()) return;
    const std::uint64_t end = log_.control->log_end.load(std::memory_order_acquire);      // acquire TICKET
    const std::uint64_t start = log_.control->log_start.load(std::memory_order_acquire);  // acquire LOG_START
    const std::uint64_t oldest = end - std::min(end - log_.first_offset, log_.records);
    if (scan_at_ >= scan_end_) scan_at_ = std::min(end, std::max(start, oldest));
    scan_end_ = end;
}

/// First pass: which tickets are open. After the patience: close those that still are.
void PartitionKeeper::scan_for_open_tickets(KeeperStep& step) {
    const std::int64_t now_ns = step.now_ns;
    if (now_ns < suspects_since_ns_) suspects_since_ns_ = now_ns;  // a clock that went back
    if (!suspects_.empty() && now_ns - suspects_since_ns_ >= kPatienceNs) {
        for (const std::uint64_t offset : suspects_) close_if_open(offset, step.report);
        suspects_.clear();
    }
    if (scan_at_ >= scan_end_) return;
    const std::uint64_t until = std::min(scan_end_, scan_at_ + step.grant_cells(kCellsPerStep));
    for (; scan_at_ < until && suspects_.size() < kSuspectsMax; ++scan_at_) {
        const std::uint64_t word = log_.cell(scan_at_).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT
        if (partition_log::decided(word, scan_at_)) continue;
        if (suspects_.empty()) suspects_since_ns_ = now_ns;
        suspects_.push_back(scan_at_);
    }
}

bool PartitionKeeper::sweep_is_due(std::int64_t now_ns) noexcept {
    const std::uint64_t done = log_.control->closings_done.load(std::memory_order_acquire);  // acquire TICKET_CLOSE
    sweep_closings_ = log_.control->closings.load(std::memory_order_acquire);                // acquire TICKET_CLOSE
    if (sweep_closings_ != swept_closings_ || !swept_once_) return true;
    const std::int64_t since_ns = now_ns < swept_ns_ ? kStoppedCloserSweepNs : now_ns - swept_ns_;  // a clock that went back
    return (sweep_waiting_ && since_ns >= kWaitingSweepNs) || (sweep_closings_ != done && since_ns >= kStoppedCloserSweepNs);
}

void PartitionKeeper::release_cells(KeeperStep& step) {
    if (sweep_at_ == 0) {
        if (!sweep_is_due(step.now_ns)) return;
        sweep_waiting_ = false;
        swept_ns_ = step.now_ns;
    }
    const std::uint64_t until = std::min(log_.records, sweep_at_ + step.grant_cells(kCellsPerStep));
    for (; sweep_at_ < until; ++sweep_at_) {
        if (recovery::release_cell(log_, sweep_at_, step.is_dead, sweep_waiting_)) ++step.report.released_cells;
    }
    if (sweep_at_ < log_.records) return;
    sweep_at_ = 0;
    swept_once_ = true;
    swept_closings_ = sweep_closings_;
}

}  // namespace ringmain
