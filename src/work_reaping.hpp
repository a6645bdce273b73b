// What a queue's workers leave behind when they die, as whoever opened the queue's files deals with it.
#pragma once

#include <cstdint>

#include "work_files.hpp"

namespace ringmain {

struct ReturnedRecords {
    std::uint64_t records = 0;
    bool complete = true;  ///< False: a partition was reset since its file was opened, or has none. Again, after it was opened anew.
};

/// Makes the records that the holder of a worker's slot has, in all partitions, available again. Requires the proof that `owner`
/// is dead. Whoever frees the slot does so only after a complete return.
ReturnedRecords return_records_of(WorkFiles& files, std::uint32_t slot, std::uint64_t owner, std::uint64_t now_ms);

}  // namespace ringmain
