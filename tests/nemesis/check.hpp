// The checkers: pure functions over the histories of a run, O(n log n). Each says what it finds.
#pragma once

#include "known_records.hpp"
#include "verdict.hpp"

namespace ringmain::nemesis {

/// Acknowledged records are read or reported lost; producers' order, order in real time, sequences of named producers.
void check_log(const Run& run, const KnownRecords& records, Verdict& verdict);

/// Each reader steps from offset to offset, or says which it missed.
void check_readers(const Run& run, const KnownRecords& records, Verdict& verdict);

/// Groups: tenures, commits, at least once.
void check_groups(const Run& run, const KnownRecords& records, Verdict& verdict);

/// Queues: each record is finished once, by its holder or by a letter.
void check_queues(const Run& run, const KnownRecords& records, Verdict& verdict);

/// What an onlooker saw: committed offsets go forward unless there was a reset, and not beyond the end.
void check_samples(const Run& run, Verdict& verdict);

/// All of them.
[[nodiscard]] Verdict check(const Run& run);

}  // namespace ringmain::nemesis
