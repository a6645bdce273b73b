// What a queue's workers leave behind when they die.
#include "work_reaping.hpp"

#include "ringmain/error.hpp"
#include "work_table/reaping.hpp"
#include "work_table/work_memory.hpp"
#include "work_table/workers.hpp"

namespace ringmain {

using platform::HostMemory;

ReturnedRecords return_records_of(WorkFiles& files, std::uint32_t slot, std::uint64_t owner, std::uint64_t now_ms) {
    const work_table::WorkRules rules = files.rules();
    const work_table::Workers<HostMemory> workers(files.workers(), layout::kWorkersMax);
    const auto still_its = [&]() noexcept { return workers.owner(slot) == owner; };
    ReturnedRecords returned;
    for (std::uint32_t partition = 0; partition < files.topic().options().partitions; ++partition) {
        try {
            const WorkFiles::Part& part = files.part(partition);
            const work_table::WorkMemory<HostMemory> work(part.base, part.geometry, files.topic().groups(), {});
            returned.records += work_table::return_records(work, rules, slot, still_its, now_ms);
            returned.complete = returned.complete && work.current() && files.whole(partition);
        } catch (const Error&) {
            returned.complete = false;
        }
    }
    return returned;
}

}  // namespace ringmain
