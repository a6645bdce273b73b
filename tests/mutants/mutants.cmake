# The planted faults: name, file below src/, the unit test that must find it, the text, what stands there instead.
# Weakened memory orders are not here: x86 does not show them, they are the model checker's to find.

set(tickets partition_log/tickets.hpp)
mutant("the entry never says taking" ${tickets} partition_log_ticket_test
    [=[entry_->ticket.store(kTaking, std::memory_order_release);]=] [=[]=])
mutant("the entry never names the ticket" ${tickets} partition_log_ticket_test
    [=[entry_->ticket.store(holding(first), std::memory_order_release);]=] [=[]=])
mutant("the entry is never idle again" ${tickets} partition_log_ticket_test
    [=[void idle() noexcept { entry_->ticket.store(kIdle, std::memory_order_release); }]=] [=[void idle() noexcept {}]=])
mutant("the count of a batch is not announced" ${tickets} recovery_reap_test
    [=[entry_->count.store(count, std::memory_order_release);]=] [=[]=])
mutant("a commit is a store" ${tickets} partition_log_ticket_test
    [=[if (cell.word.compare_exchange_strong(from, cell_word(offset, CellState::committed), std::memory_order_release,
                                         std::memory_order_relaxed)) [[likely]] {]=]
    [=[cell.word.store(cell_word(offset, CellState::committed), std::memory_order_release);
        if (from != 3) {]=])
mutant("a late holder never releases its quarantined cell" ${tickets} partition_log_ticket_test
    [=[release_late(cell.word, from);]=] [=[]=])
mutant("a late holder does not follow later closings" ${tickets} partition_log_ticket_test
    [=[while (state_of(seen) == CellState::quarantined) {]=] [=[if (state_of(seen) == CellState::quarantined) {]=])
mutant("a claim overwrites a lap whose start has not moved" ${tickets} partition_log_publish_test
    [=[seen == cell_word(previous, CellState::committed) && start_passed_ > previous]=]
    [=[seen == cell_word(previous, CellState::committed)]=])
mutant("a claim overwrites without moving the start" ${tickets} partition_log_publish_test
    [=[start_passed_ = pass_previous_lap(log_, offset);]=] [=[start_passed_ = offset;]=])
mutant("a claim takes a quarantined cell" ${tickets} partition_log_ticket_test
    [=[return word == cell_word(previous, CellState::committed) || word == cell_word(previous, CellState::released);]=]
    [=[return offset_of(word) == previous;]=])
mutant("a released cell never serves again" ${tickets} partition_log_publish_test
    [=[ || word == cell_word(previous, CellState::released);]=] [=[;]=])
mutant("a claim takes a cell of any age" ${tickets} partition_log_ticket_test
    [=[while (!may_write(seen, offset)) {]=] [=[while (decided(seen, offset)) {]=])
mutant("giving up takes a cell that may have a late writer" ${tickets} partition_log_ticket_test
    [=[if (!may_write(seen, offset)) {]=] [=[if (offset == ~std::uint64_t{0}) {]=])
mutant("giving up drops a record without moving the start" ${tickets} partition_log_ticket_test
    [=[            pass_previous_lap_once(offset);
            // release CELL_RELEASE]=] [=[            // release CELL_RELEASE]=])
mutant("closing drops the record one lap before in silence" ${tickets} partition_log_ticket_test
    [=[if (needs_start(log, offset)) pass_previous_lap(log, offset);]=] [=[]=])
mutant("closing is a store" partition_log/intents.hpp partition_log_ticket_test
    [=[const bool closed = log.cell(offset).word.compare_exchange_strong(
        seen, cell_word(offset, CellState::quarantined), std::memory_order_acq_rel, std::memory_order_acquire);]=]
    [=[log.cell(offset).word.store(cell_word(offset, CellState::quarantined), std::memory_order_release);
    const bool closed = seen != 3;]=])
mutant("a closing is not announced to the keeper" partition_log/intents.hpp partition_log_ticket_test
    [=[log.control->closings.fetch_add(1, std::memory_order_relaxed);]=] [=[]=])
mutant("closing takes a lapped ticket for a decided one" ${tickets} partition_log_ticket_test
    [=[if (offset_of(seen) > offset) return Decision::lapped;]=] [=[]=])

set(start partition_log/log_start.hpp)
mutant("the log start moves back" ${start} gate_table_test
    [=[while (seen < to) {]=] [=[while (seen != to) {]=])
mutant("moving the start looks at no gate" ${start} gate_table_test
    [=[first.below(target) ? first.offset : target;]=] [=[first.below(target) ? target : target;]=])
mutant("moving the start looks at the gates once" ${start} gate_table_test
    [=[const bool held = second.below(to);]=] [=[const bool held = second.below(0);]=])
mutant("moving the start announces no floor" ${start} gate_table_test
    [=[raise(log.control->gate_floor, to, std::memory_order_acq_rel);]=] [=[]=])
mutant("room is the whole ring" ${start} partition_log_room_test
    [=[const std::uint64_t room = log.records - log.slack;]=] [=[const std::uint64_t room = log.records;]=])

set(gates gate_table/gate_table.hpp)
mutant("a gate begins below the floor" ${gates} gate_table_test
    [=[if (floor <= offset) return offset;]=] [=[if (floor <= offset || floor > 0) return offset;]=])
mutant("a dropped gate goes on gating" ${gates} gate_table_test
    [=[readers_->gates[index].owner.store(0, std::memory_order_release);]=] [=[]=])
mutant("two reap one gate" ${gates} gate_table_test
    [=[return readers_->gates[index].owner.compare_exchange_strong(dead_owner, 0, std::memory_order_acq_rel,
                                                                    std::memory_order_relaxed);]=]
    [=[readers_->gates[index].owner.store(0, std::memory_order_release);
        return dead_owner != 0;]=])

set(extents partition_log/extents.hpp)
mutant("two take one extent" ${extents} partition_log_extent_test
    [=[if (!log_.extents[index].word.compare_exchange_strong(from, owned_word_, std::memory_order_acq_rel,
                                                              std::memory_order_relaxed)) {]=]
    [=[log_.extents[index].word.store(owned_word_, std::memory_order_release);
        if (from == 3) {]=])
mutant("an extent is used again while its records are kept" ${extents} partition_log_extent_test
    [=[raise(log_.control->log_start, end, std::memory_order_release);]=] [=[]=])
mutant("an extent forgets what was committed from it" ${extents} partition_log_extent_test
    [=[{ end_ = offset + 1; }]=] [=[{ end_ = offset; }]=])
mutant("an extent that is full is not given back" ${extents} partition_log_extent_test
    [=[        seal();
        return take_free()]=] [=[        return take_free()]=])
mutant("an extent is overrun" ${extents} partition_log_extent_test
    [=[position_ + body_footprint(bytes) <= log_.extent_bytes;]=] [=[position_ <= log_.extent_bytes;]=])

set(reader partition_log/reader.hpp)
mutant("what was lapped while it was copied is valid" ${reader} partition_log_reader_test
    [=[return log_.control->log_start.load(std::memory_order_relaxed) <= offset;]=] [=[return offset + 1 != 0;]=])
mutant("a body may lie outside the payload" ${reader} partition_log_reader_test
    [=[if (location >= log_.payload_bytes) return nullptr;]=] [=[]=])
mutant("a body may be longer than its cell" ${reader} partition_log_reader_test
    [=[return view.length <= log_.inline_bytes;]=] [=[return true;]=])
mutant("a body may reach beyond its extent" ${reader} partition_log_reader_test
    [=[if ((location & (log_.extent_bytes - 1)) + length > log_.extent_bytes) return nullptr;]=] [=[]=])

set(exclusive partition_log/exclusive_publisher.hpp)
mutant("an exclusive producer never moves the log end" ${exclusive} partition_log_exclusive_test
    [=[++end_;
        announce();]=] [=[++end_;]=])
mutant("an exclusive producer overwrites without moving the start" ${exclusive} partition_log_exclusive_test
    [=[tickets_.pass_previous_lap_once(offset);]=] [=[]=])

set(recovery recovery/recovery.hpp)
mutant("R1: what is committed beyond the log end is lost" ${recovery} recovery_attach_test
    [=[    recover_log_end(log);
    settle]=] [=[    settle]=])
mutant("R2: a living holder loses its lease" ${recovery} recovery_attach_test
    [=[if (layout::has_begun(owner) && same_tenure && !is_dead(owner)) return false;]=] [=[if (owner == 3 && same_tenure) return false;]=])
mutant("R2: a lease outlives its tenure" ${recovery} recovery_attach_test
    [=[if (layout::has_begun(owner) && same_tenure && !is_dead(owner)) return false;]=]
    [=[if (owner != 0 && (same_tenure || owner != 0) && !is_dead(owner)) return false;]=])
mutant("R3: a dead producer's extents stay owned" ${recovery} recovery_reap_test
    [=[const std::uint64_t extents = seal_extents(log, slot, generation);]=] [=[const std::uint64_t extents = generation & 0;]=])
mutant("R3: a dead producer's extents are free at once" ${recovery} recovery_reap_test
    [=[partition_log::sealed_extent(end), std::memory_order_acq_rel]=] [=[partition_log::sealed_extent(end & 0), std::memory_order_acq_rel]=])
mutant("R4: the living are reaped" ${recovery} recovery_reap_test
    [=[if (!is_dead(layout::client_of(owner))) return false;]=] [=[]=])
mutant("R4: a slow reaper frees the next owner's slot" ${recovery} recovery_reap_test
    [=[if (entry.owner.compare_exchange_strong(expected, 0, std::memory_order_acq_rel, std::memory_order_relaxed)) {]=]
    [=[entry.owner.store(0, std::memory_order_release);
    if (expected != 0) {]=])
mutant("R4: a dead producer's slot stays taken" ${recovery} recovery_reap_test
    [=[if (entry.owner.compare_exchange_strong(expected, 0, std::memory_order_acq_rel, std::memory_order_relaxed)) {]=]
    [=[if (expected == 0) {]=])
mutant("R5: taking is taken for idle" ${recovery} recovery_reap_test
    [=[if (ticket == partition_log::kTaking) return true;]=] [=[if (ticket == partition_log::kTaking) continue;]=])
mutant("R5: the dead hold cells back" ${recovery} recovery_reap_test
    [=[if (ticket == partition_log::kIdle || is_dead(owner)) continue;]=] [=[if (ticket == partition_log::kIdle) continue;]=])
mutant("R5: a batch holds back its first cell alone" ${recovery} recovery_reap_test
    [=[if (((offset - first) & (log.records - 1)) < count) return true;]=]
    [=[if (((offset - first) & (log.records - 1)) < (count != 0)) return true;]=])
mutant("R5: a cell is released beside its late writer" ${recovery} recovery_reap_test
    [=[if (may_have_late_writer(log, offset, is_dead)) {]=] [=[if (may_have_late_writer(log, offset, is_dead) && offset > 100) {]=])
mutant("R5: a cell that was closed again is released" ${recovery} recovery_reap_test
    [=[if (!word.compare_exchange_strong(seen, partition_log::cell_word(offset, partition_log::CellState::released),
                                      std::memory_order_acq_rel, std::memory_order_relaxed)) {]=]
    [=[word.store(partition_log::cell_word(offset, partition_log::CellState::released), std::memory_order_release);
    if (seen == 0) {]=])
mutant("R5: committed cells are released" ${recovery} recovery_reap_test
    [=[if (partition_log::state_of(seen) != partition_log::CellState::quarantined) return false;]=] [=[]=])

set(attachment recovery/attachment.hpp)
mutant("a shared producer does not look at the lease" ${attachment} recovery_attach_test
    [=[if (const std::uint64_t lease = live_lease(); lease != 0) {]=] [=[if (const std::uint64_t lease = live_lease(); lease + 1 == 0) {]=])
mutant("an exclusive producer does not look at the slots" ${attachment} recovery_attach_test
    [=[if (const auto other = other_live_producer(attached.slot)) {]=]
    [=[if (const auto other = other_live_producer(attached.slot); other && *other > 1000) {]=])
mutant("an exclusive producer leaves open tickets behind" ${attachment} recovery_attach_test
    [=[        decide_open_tickets();
        return attached;]=] [=[        return attached;]=])
mutant("a tenure begins with the last one's ticket" ${attachment} recovery_attach_test
    [=[        entry.ticket.store(partition_log::kIdle, std::memory_order_release);           // release ENTRY
]=] [=[]=])
mutant("tenures share a generation" ${attachment} recovery_attach_test
    [=[entry.generation.load(std::memory_order_relaxed) + 1;]=] [=[entry.generation.load(std::memory_order_relaxed) | 1;]=])
mutant("a full table is not reaped" ${attachment} recovery_attach_test
    [=[if (pass == 0) reap_producers(log_, is_dead_);]=] [=[]=])
