// What a process notes of what it does, and the histories that a run leaves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ringmain::nemesis {

enum class Role : std::uint8_t { nemesis, producer, member, worker, reader, auditor, admin, keeper, daemon };
const char* to_string(Role role) noexcept;

/// One line of a history. What `id`, `offset`, `aux` and `extra` mean depends on the kind.
struct Event {
    enum class Kind : std::uint8_t {
        none,    // the history ends here, or its process was killed while it wrote
        failed,  // an answer that never may be; aux: what, for people to look up

        // producers
        invoked,       // id; aux: the sequence of a named producer, or 0
        acknowledged,  // id, offset
        refused,       // id: this record may not be in the log
        resumed,       // a named producer; offset: its last sequence in the partition

        // whoever reads
        began,      // offset: what is read next
        delivered,  // id, offset; aux: sequence
        torn,       // offset: the bytes contradict each other
        gap,        // offset: from, id: to

        // members
        assigned,        // offset: the position; aux: generation
        committing,      // offset
        committed,       // offset
        commit_refused,  // offset
        revoked,         // offset: the position, which the hand-over may commit
        lost,
        left,  // by close: members commit what they have, workers give it back

        // workers; aux: generation of the queue in the partition
        acquiring,
        acquired,  // id, offset; extra: deliveries
        settling,  // offset; extra: Operation
        settled,   // offset; extra: Operation, id: Settled

        // auditors, of dead letters; topic, partition and offset are those of the record
        letter,  // id; 0: the value was lost

        // the admin; aux: generation
        reset,    // offset: committed now, id: the log end when it was planned
        sampled,  // offset: committed, id: log end

        // the nemesis; aux: the life that it concerns
        stopped,
        continued,
        killed,
        exited,  // by itself; extra: its exit code
    };
    Kind kind = Kind::none;
    std::uint8_t topic = 0;
    std::uint8_t partition = 0;
    std::uint8_t extra = 0;
    std::uint32_t aux = 0;
    std::uint64_t time = 0;  // CLOCK_MONOTONIC, ns
    std::uint64_t id = 0;
    std::uint64_t offset = 0;
};
static_assert(sizeof(Event) == 32);
const char* to_string(Event::Kind kind) noexcept;
std::string to_string(const Event& event);

enum class Operation : std::uint8_t { ack, nack, release, reject };

/// A record's name: which life of which process made it, and as which of its records.
constexpr std::uint64_t make_id(std::uint32_t life, std::uint64_t sequence) noexcept {
    return std::uint64_t{life} << 40 | sequence;
}
constexpr std::uint32_t life_of(std::uint64_t id) noexcept { return static_cast<std::uint32_t>(id >> 40); }
constexpr std::uint64_t sequence_of(std::uint64_t id) noexcept { return id & ((std::uint64_t{1} << 40) - 1); }

/// One life of one process. A life is used once; `index` tells the processes of a role apart and passes to the
/// successor.
struct History {
    std::uint32_t life = 0;
    Role role = Role::nemesis;
    std::uint32_t index = 0;
    std::span<const Event> events;
};

}  // namespace ringmain::nemesis
