// Looking for contradictions in the work on a topic's records.
#include "work_verification.hpp"

#include <string>

#include "error_about.hpp"
#include "group_table/listing.hpp"
#include "partition_log/log_memory.hpp"
#include "platform/files.hpp"
#include "ringmain/error.hpp"
#include "topic_paths.hpp"
#include "work_files.hpp"
#include "work_table/work_memory.hpp"

namespace ringmain {

namespace {

using Memory = platform::HostMemory;
using work_table::WorkState;

/// The words of one partition. Every word names an offset of its place, so that each can be judged by itself.
class WordVerifier {
public:
    WordVerifier(const WorkFiles& work, const WorkFiles::Part& part)
        : work_(work),
          part_(part),
          control_(*reinterpret_cast<const layout::WorkControl<Memory>*>(part.base + layout::kWorkControlAt)),
          words_(reinterpret_cast<const Memory::Atomic<std::uint64_t>*>(part.base + layout::kWorkWordsAt)) {}

    void run(VerifyReport& report) {
        if (auto what = fault_of_frontier()) add(report, *what);
        for (std::uint64_t index = 0; index < part_.geometry.window; ++index) {
            const std::uint64_t word = words_[index].load(std::memory_order_acquire);  // acquire WORK
            const char* const what = fault_of_word(word, index);
            if (what == nullptr) continue;
            add(report, "word " + std::to_string(index) + " of partition " + std::to_string(part_.geometry.partition) + " " + what);
            return;  // one tells enough: garbage has many
        }
    }

private:
    void add(VerifyReport& report, const std::string& what) const {
        const auto& geometry = part_.geometry;
        report.damage.push_back({work_words_path(work_.directory(), geometry.partition, geometry.generation).string(), what});
    }

    /// Nothing is handed out that producers have not decided: the end is read after it.
    [[nodiscard]] std::optional<std::string> fault_of_frontier() {
        const std::uint64_t frontier = control_.frontier.load(std::memory_order_acquire);  // acquire FRONTIER
        const platform::Mapping file = work_.topic().map_partition(part_.geometry.partition, platform::Access::read_only);
        const partition_log::LogMemory<Memory> log(file.data(), geometry_of(file), work_.topic().readers(part_.geometry.partition));
        log_end_ = log.control->log_end.load(std::memory_order_acquire);  // acquire TICKET
        const std::uint64_t start = work_.topic().groups().word(work_.group().slot, part_.geometry.partition).committed;
        if (frontier <= std::max(log_end_, start)) return std::nullopt;
        return "partition " + std::to_string(part_.geometry.partition) + " was handed out up to " + std::to_string(frontier) +
               ", beyond the log end " + std::to_string(log_end_);
    }

    [[nodiscard]] const char* fault_of_word(std::uint64_t word, std::uint64_t index) const noexcept {
        constexpr std::uint64_t kReadyZeros = 0x7f;
        switch (work_table::state_of(word)) {
            case WorkState::done: return word != 0 && !belongs(word, index) ? "is finished for an offset that has another word" : nullptr;
            case WorkState::ready: return (word >> 12 & kReadyZeros) != 0 ? "is available with bits that mean nothing" : nullptr;
            case WorkState::locked: return work_table::count_of(word) == 0 ? "is held, and was never delivered" : nullptr;
            default: return nullptr;
        }
    }

    /// A finished word has the offset modulo a number that is no power of two: it is one of these.
    [[nodiscard]] bool belongs(std::uint64_t word, std::uint64_t index) const noexcept {
        if ((word & work_table::kDoneOffsets) == 0) return false;
        std::uint64_t offset = (word & work_table::kDoneOffsets) - 1;
        do {
            if ((offset & (part_.geometry.window - 1)) == index) return true;
            offset += work_table::kDoneOffsets;
        } while (offset <= log_end_);
        return false;
    }

    const WorkFiles& work_;
    const WorkFiles::Part& part_;
    const layout::WorkControl<Memory>& control_;
    const Memory::Atomic<std::uint64_t>* words_;
    std::uint64_t log_end_ = 0;
};

template <class Look>
void look_at(VerifyReport& report, const Look& look) {
    try {
        look();
    } catch (const Error& error) {
        if (!is_gone(error)) report.damage.push_back({error.object(), error.what()});  // else deleted since it was listed
    }
}

/// Stream groups have work only if their failures are retried.
bool has_work(const TopicFiles& topic, const group_table::GroupView& group) {
    return group.options.kind == group_table::GroupKind::queue ||
           platform::kind_of(work_path(topic.directory(), group.group.slot, group.group.born)) != platform::PathKind::absent;
}

}  // namespace

void verify_work(const std::shared_ptr<const TopicFiles>& topic, VerifyReport& report) {
    for (const group_table::GroupView& group : group_table::view_groups(topic->groups())) {
        look_at(report, [&] {
            if (!has_work(*topic, group)) return;
            WorkFiles work(topic, group.group, group.name, platform::Access::read_only);
            for (std::uint32_t partition = 0; partition < topic->options().partitions; ++partition)
                look_at(report, [&] { WordVerifier(work, work.part(partition)).run(report); });
        });
    }
}

}  // namespace ringmain
