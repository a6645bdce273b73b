// A file that cannot be used any more: what takes its place in this process, and how others are told.
#include "damage.hpp"

#include <string>

#include "layout/groups.hpp"
#include "layout/partition.hpp"
#include "platform/files.hpp"
#include "platform/futex.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

namespace {

using platform::HostMemory;
using Block = layout::ReaderBlock<HostMemory>;

// Beyond every offset, and so far below the last number that no producer's fetch-add wraps.
constexpr std::uint64_t kNoOffset = kOffsetMax + 1;

// What a handle looks at when its own mapping is gone. Whoever announces himself here is woken by nobody, and looks
// before he sleeps.
constinit Block g_damaged_block{};

Block& damaged_block() noexcept {
    // relaxed: nothing is published by it
    g_damaged_block.doorbell.fetch_or(layout::kPartitionDamaged, std::memory_order_relaxed);
    return g_damaged_block;
}

}  // namespace

void replace_log(std::byte* memory, std::uint64_t bytes, void* object) noexcept {
    if (bytes >= layout::kControlAt + sizeof(layout::PartitionControl<HostMemory>)) {
        auto& control = *reinterpret_cast<layout::PartitionControl<HostMemory>*>(memory + layout::kControlAt);
        control.log_end.store(kNoOffset, std::memory_order_relaxed);        // relaxed: nobody sees the memory yet
        control.log_start.store(kNoOffset + 1, std::memory_order_relaxed);  // relaxed: as above
    }
    if (object != nullptr)
        static_cast<partition_log::Doorbell<HostMemory>*>(object)->move_to(damaged_block());
}

void replace_readers(std::byte* memory, std::uint64_t bytes, void*) noexcept {
    for (std::uint64_t at = layout::kReadersAt; at + layout::kReaderBlockBytes <= bytes;
         at += layout::kReaderBlockBytes) {
        // relaxed: nobody sees the memory yet
        reinterpret_cast<Block*>(memory + at)->doorbell.store(layout::kPartitionDamaged, std::memory_order_relaxed);
    }
}

void replace_groups(std::byte* memory, std::uint64_t bytes, void*) noexcept {
    if (bytes < layout::kGroupsControlAt + sizeof(layout::GroupsControl<HostMemory>))
        return;
    auto& control = *reinterpret_cast<layout::GroupsControl<HostMemory>*>(memory + layout::kGroupsControlAt);
    control.dead.store(1, std::memory_order_relaxed);  // relaxed: nobody sees the memory yet
}

Error truncated_error(const std::filesystem::path& path, std::uint64_t bytes_needed) {
    std::string size = "is not whole any more";
    try {
        if (const auto now = platform::shape_of(path))
            size = "has " + std::to_string(now->bytes) + " bytes";
    } catch (const Error&) {
        // it may not be looked at
    }
    return Error(ErrorCode::corrupt, path.string(),
                 "'" + path.string() + "' was truncated while it was in use: it " + size + ", " +
                     std::to_string(bytes_needed) + " are needed");
}

void tell_damage(Block& readers) noexcept {
    const std::uint64_t before =
        readers.doorbell.fetch_or(layout::kPartitionDamaged, std::memory_order_release);  // release DOORBELL
    if ((before & layout::kPartitionDamaged) != 0)
        return;
    partition_log::Doorbell<HostMemory> bell(readers);
    if (bell.take_sleepers())
        platform::futex_wake_all(*bell.futex_word());
}

bool take_back_damage(Block& readers) noexcept {
    // relaxed: nearly always it is not set, and then nothing is to be done
    if ((readers.doorbell.load(std::memory_order_relaxed) & layout::kPartitionDamaged) == 0)
        return false;
    // release DOORBELL
    return (readers.doorbell.fetch_and(~std::uint64_t{layout::kPartitionDamaged}, std::memory_order_release) &
            layout::kPartitionDamaged) != 0;
}

}  // namespace ringmain
