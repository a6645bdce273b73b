// Publishing under a name: each record with a sequence, the last of which is known after any death.
//
// Around the usual way of a record there are three notes in the name's entry: the sequence and the intent before the commit,
// the new last sequence after it. docs/adr/0008 says why that is exact; rows N1... of docs/recovery.md.
#pragma once

#include <cstdint>

#include "partition_log/exclusive_publisher.hpp"
#include "partition_log/intents.hpp"
#include "partition_log/publisher.hpp"

namespace ringmain::partition_log {

/// The name's entry, in the hands of its one owner (recovery/named_attachment.hpp). One thread at a time.
template <class M>
class NamedPublisher {
public:
    using Entry = typename LogMemory<M>::Named;

    /// Requires an entry that is owned and folded: no intent.
    NamedPublisher(const LogMemory<M>& log, Entry& entry) noexcept
        : log_(log), entry_(&entry), last_(entry.last.load(std::memory_order_acquire)) {}  // acquire NAME

    /// The newest sequence in the log, 0: none yet.
    [[nodiscard]] std::uint64_t last() const noexcept { return last_; }

    /// Requires parts that carry the stamp of `sequence`, placed. `duplicate` if it is not above the last one.
    /// Progress as SharedPublisher::publish_placed; on any answer but ok the body stays reserved.
    [[nodiscard]] Published publish_placed(SharedPublisher<M>& publisher, const RecordParts& parts, Location location,
                                           std::uint64_t sequence) noexcept {
        if (sequence <= last_) return {Status::duplicate};
        begin(sequence);
        for (std::uint64_t tries = 0; tries <= log_.records; ++tries) {
            const Published ticket = publisher.take_ticket();
            if (ticket.status != Status::ok) return {ticket.status};
            M::point("named.ticket");
            intend(ticket.offset, IntentState::shared);
            // the intent before the look at log_start; pairs with settle_intents
            M::fence(std::memory_order_seq_cst);
            M::point("named.intended");
            if (publisher.commit_unless_passed(ticket.offset, parts, location)) {
                M::point("named.committed");
                end(sequence);
                return {Status::ok, ticket.offset};
            }
            withdraw();
            if (publisher.out_of_reach()) return {Status::corrupt};
        }
        return {Status::exhausted};
    }

    [[nodiscard]] Published publish_placed(ExclusivePublisher<M>& publisher, const RecordParts& parts, Location location,
                                           std::uint64_t sequence) noexcept {
        if (sequence <= last_) return {Status::duplicate};
        begin(sequence);
        intend(publisher.next_offset(), IntentState::exclusive);
        M::point("named.intended");
        const Published published = publisher.publish_placed(parts, location);
        if (published.status == Status::ok) {
            end(sequence);
        } else {
            withdraw();
        }
        return published;
    }

    /// The same, bodies that do not fit a cell copied into the extent first.
    template <class Publisher>
    [[nodiscard]] Published publish(Publisher& publisher, const RecordParts& parts, std::uint64_t sequence) noexcept {
        if (sequence <= last_) return {Status::duplicate};
        const Reserved placed = publisher.bodies().place(parts);
        if (placed.status != Status::ok) return {placed.status};
        const Published published = publish_placed(publisher, parts, placed.location, sequence);
        if (published.status != Status::ok && placed.location != kInCell) {
            publisher.bodies().give_back(placed.location, parts.length());
        }
        return published;
    }

private:
    // release INTENT: what the intent is about, before it
    void begin(std::uint64_t sequence) noexcept { entry_->sequence.store(sequence, std::memory_order_release); }
    // release INTENT: before the commit
    void intend(std::uint64_t offset, IntentState state) noexcept {
        entry_->hold.low.store(intent_word(offset, state), std::memory_order_release);
    }
    void withdraw() noexcept { entry_->hold.low.store(0, std::memory_order_release); }  // release INTENT
    void end(std::uint64_t sequence) noexcept {
        last_ = sequence;
        entry_->last.store(sequence, std::memory_order_release);  // release INTENT: before the intent goes
        M::point("named.noted");
        withdraw();
    }

    LogMemory<M> log_;
    Entry* entry_;
    std::uint64_t last_;
};

}  // namespace ringmain::partition_log
