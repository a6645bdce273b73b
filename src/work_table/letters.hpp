// Dead letters: exactly one for each record, whoever dies. The dead-letter log's own closing of tickets is the arbiter.
//
//   PREPARING(me) -> take a ticket -> INTENT(ticket) -> commit at exactly that ticket -> DONE(dead)
//
// A ticket may be committed only after the word names it, and the word leaves INTENT(t) only by DONE or after t was closed:
// so there are never two letters. Nobody waits for who prepares one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "partition_log/tickets.hpp"
#include "ringmain/status.hpp"
#include "work_table/work_memory.hpp"
#include "work_table/work_rules.hpp"

namespace ringmain::work_table {

/// The record that a letter is about.
struct LetterOf {
    std::uint64_t offset = 0;
    std::uint32_t deliveries = 0;
    LetterReason reason = LetterReason::limit;
};

/// A ticket of the dead-letter log.
struct LetterTicket {
    Status status = Status::ok;  ///< Anything else: the log is full or refuses, and nothing was taken.
    std::uint64_t offset = 0;
};

/// How soon a letter that was refused is tried again at the earliest, whatever the back-off says: one of 0 must not keep a
/// processor busy with a dead-letter topic that is full.
inline constexpr std::uint64_t kLetterAgainMs = 20;

/// What became of the commit at a ticket.
enum class Sent : std::uint8_t {
    committed,
    closed,   // by somebody else; there is no letter at this ticket, and never will be
    refused,  // no memory for it: the ticket was given up
};

/// What the caller may know about the end of a record.
enum class Ended : std::uint8_t {
    finished,   // it is DONE, or somebody else sees to it
    refused,    // the dead-letter log is full or refuses: the record stays, condemned, and is tried again after the back-off
    unknown,    // the dead-letter log is damaged: whether the announced letter is there cannot be found out, and nothing was done
};

/// `Letters`, the dead-letter partition that belongs to this one:
///     Status prepare(const LetterOf& letter) noexcept;    puts the letter together, before its ticket is taken
///     LetterTicket take_ticket() noexcept;
///     void give_up(std::uint64_t ticket) noexcept;
///     Sent commit_at(std::uint64_t ticket, const LetterOf& letter) noexcept;
///     std::optional<Decision> close(std::uint64_t ticket) noexcept;   of any ticket, by anybody; nothing: its log cannot be read
///     bool usable() const noexcept;                                   false: its topic was deleted or is another one by now
template <class M, class Letters>
class Lettering {
public:
    /// `slot`: of the worker that acts.
    Lettering(const WorkMemory<M>& work, const WorkRules& rules, Letters& letters, std::uint32_t slot) noexcept
        : work_(work), rules_(rules), letters_(letters), slot_(slot) {}

    /// The word by which this worker takes the end of a record upon itself.
    [[nodiscard]] std::uint64_t preparing(std::uint64_t offset, std::uint32_t count, LetterReason reason, std::uint64_t now) const noexcept {
        return preparing_word(reason, count, now + kLetterLockMs, slot_, work_.lap(offset));
    }

    /// Ends the record whose word is `word`, a PREPARING of this worker.
    Ended end(std::uint64_t offset, std::uint64_t word, std::uint64_t now) noexcept {
        if (rules_.end_of(reason_of(word)) == EndOf::skip) {
            if (work_.change(offset, word, done_word(offset, DoneReason::skipped))) work_.count(work_.control().skipped);
            return Ended::finished;
        }
        return send(offset, word, now);
    }

    /// Finds out what became of an announced letter, and sees to it that there is one. Anybody, at any time. `word`: an INTENT.
    Ended finish(std::uint64_t offset, std::uint64_t word, std::uint64_t now) noexcept {
        if (!letters_.usable()) {  // of which topic the ticket is cannot be known here: who is linked to that one sees to it
            work_.count(work_.control().letters_refused);
            return Ended::refused;
        }
        const std::optional<partition_log::Decision> decision = letters_.close(ticket_of(word));
        M::point("finish.closed");
        if (!decision) {
            work_.count(work_.control().letters_refused);
            return Ended::unknown;
        }
        if (decision == partition_log::Decision::committed) {
            note_dead(offset, word);
            return Ended::finished;
        }
        // closed, lapped, or no ticket that can be: nobody commits there any more
        const std::uint64_t mine = preparing(offset, count_of(word), reason_of(word), now);
        if (!work_.change(offset, word, mine)) return Ended::finished;
        M::point("finish.taken");
        return send(offset, mine, now);
    }

private:
    Ended send(std::uint64_t offset, std::uint64_t word, std::uint64_t now) noexcept {
        M::fence(std::memory_order_seq_cst);  // release RETIRE, acquire RETIRE: the own word before the look at the table's
        if (!work_.current()) return Ended::finished;  // after a reset: the record may be delivered again
        const LetterOf letter{offset, count_of(word), reason_of(word)};
        if (!letters_.usable() || letters_.prepare(letter) != Status::ok) return keep(offset, word, now);
        const LetterTicket ticket = letters_.take_ticket();
        if (ticket.status != Status::ok) return keep(offset, word, now);
        M::point("letter.ticket");
        if (ticket.offset > kTicketMax) {
            letters_.give_up(ticket.offset);
            return keep(offset, word, now);
        }
        const std::uint64_t intent = intent_word(reason_of(word), count_of(word), ticket.offset, work_.lap(offset));
        if (!work_.change(offset, word, intent)) {  // somebody else prepares it
            letters_.give_up(ticket.offset);
            return Ended::finished;
        }
        M::point("letter.intent");
        switch (letters_.commit_at(ticket.offset, letter)) {
            case Sent::committed: break;
            case Sent::closed: return Ended::finished;  // by who goes on; not again under another ticket: there would be two
            case Sent::refused: return keep(offset, intent, now);
        }
        M::point("letter.committed");
        note_dead(offset, intent);
        return Ended::finished;
    }

    void note_dead(std::uint64_t offset, std::uint64_t intent) noexcept {
        if (!work_.change(offset, intent, done_word(offset, DoneReason::dead))) return;
        work_.count(work_.control().dead_lettered);
    }

    /// No letter can be written now: the record stays, and is not delivered again.
    Ended keep(std::uint64_t offset, std::uint64_t word, std::uint64_t now) noexcept {
        const std::uint32_t count = count_of(word);
        const std::uint64_t due = now + std::max(kLetterAgainMs, rules_.backoff(offset, count == 0 ? 1 : count));
        if (work_.change(offset, word, condemned_word(count, due, reason_of(word), work_.lap(offset)))) {
            work_.count(work_.control().letters_refused);
            work_.lower_next_due(due, now);
        }
        return Ended::refused;
    }

    WorkMemory<M> work_;
    WorkRules rules_;
    Letters& letters_;
    std::uint32_t slot_;
};

/// For work whose records never go to dead letters, and for tests that expect none.
struct NoLetters {
    static Status prepare(const LetterOf&) noexcept { return Status::topic_deleted; }
    static LetterTicket take_ticket() noexcept { return {Status::topic_deleted, 0}; }
    static void give_up(std::uint64_t) noexcept {}
    static Sent commit_at(std::uint64_t, const LetterOf&) noexcept { return Sent::refused; }
    static partition_log::Decision close(std::uint64_t) noexcept { return partition_log::Decision::closed; }
    static bool usable() noexcept { return false; }
};

}  // namespace ringmain::work_table
