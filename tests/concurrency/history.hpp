// What happened to every record of a run, and whether it may have happened so.
//
// A log that answers with offsets is its own order: no search is needed. Threads fill histories of their own; the main
// thread puts them together when they are done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ringmain::test {

/// A record's name: who published it, and as which of his.
struct RecordId {
    std::uint32_t producer = 0;
    std::uint64_t sequence = 0;
    friend auto operator<=>(const RecordId&, const RecordId&) = default;
};

/// One producer's acknowledged records, in the order in which it published them.
struct Acknowledged {
    RecordId id;
    std::uint64_t offset = 0;
};
struct ProducerHistory {
    std::vector<Acknowledged> records;
    std::uint64_t deaths = 0;
    std::vector<std::string> faults;
};

struct Delivered {
    std::uint64_t offset = 0;
    RecordId id;
};
struct Loss {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};
struct ReaderHistory {
    std::uint64_t begin = 0;  // the offset it began at
    std::uint64_t end = 0;    // the offset it would read next
    std::vector<Delivered> records;
    std::vector<Loss> gaps;
    std::vector<std::uint64_t> skipped;
    std::vector<std::string> faults;  // torn or impossible records
};

/// Everything that is wrong with the run, in sentences; empty if nothing is.
[[nodiscard]] std::vector<std::string> judge(const std::vector<ProducerHistory>& producers,
                                             const std::vector<ReaderHistory>& readers);

/// One line for people: how many records, gaps, skips, deaths.
[[nodiscard]] std::string summary(const std::vector<ProducerHistory>& producers,
                                  const std::vector<ReaderHistory>& readers);

}  // namespace ringmain::test
