// The groups of a topic on plain memory, and members that poll: without files, logs and clocks.
#pragma once

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assignment/assignment.hpp"
#include "group_table/creation.hpp"
#include "group_table/eviction.hpp"
#include "group_table/membership.hpp"
#include "group_table/positions.hpp"
#include "group_table/reset.hpp"
#include "group_table/sweeping.hpp"

namespace ringmain::test {

/// The production memory policy; a call can be left for good at a named point, as if the process had died there.
struct DyingMemory : platform::HostMemory {
    static void point(const char* name) noexcept {
        if (death_ != nullptr && name == at_) std::longjmp(*std::exchange(death_, nullptr), 1);
    }

    /// Runs `work` until it comes to the point. True if it did. What `work` creates must be trivially destructible.
    template <class Work>
    [[gnu::noinline]] static bool dies_at(std::string_view name, const Work& work) {
        std::jmp_buf death;
        at_ = name;
        death_ = &death;
        if (setjmp(death) != 0) return true;
        work();
        death_ = nullptr;
        return false;
    }

private:
    static inline thread_local std::jmp_buf* death_ = nullptr;
    static inline thread_local std::string_view at_;
};

/// Who is proven dead.
struct DeadClients {
    const std::vector<std::uint64_t>* dead;
    bool operator()(std::uint64_t client) const noexcept {
        return std::find(dead->begin(), dead->end(), client) != dead->end();
    }
};

/// gate_floor of each partition.
template <class M>
struct Floors {
    layout::PartitionControl<M>* controls;
    const typename M::template Atomic<std::uint64_t>& operator()(std::uint32_t partition) const noexcept {
        return controls[partition].gate_floor;
    }
};

[[nodiscard]] inline std::size_t plain_groups_bytes(const layout::GroupsGeometry& shape) noexcept {
    return layout::groups_file_bytes(shape) + shape.partitions * sizeof(layout::PartitionControl<platform::HostMemory>);
}

/// The groups, and behind them a control page for each partition.
template <class M>
struct GroupsView {
    GroupsView(std::byte* base, const layout::GroupsGeometry& shape) noexcept
        : groups(base, shape),
          controls(reinterpret_cast<layout::PartitionControl<M>*>(base + layout::groups_file_bytes(shape))) {}

    [[nodiscard]] Floors<M> floors() const noexcept { return {controls}; }
    void set_end(std::uint32_t partition, std::uint64_t end) const noexcept {
        controls[partition].log_end.store(end, std::memory_order_release);
    }

    group_table::GroupsMemory<M> groups;
    layout::PartitionControl<M>* controls;
};

class PageMemory {
public:
    explicit PageMemory(std::size_t bytes) : base_(static_cast<std::byte*>(::operator new(bytes, kAlignment))) {
        std::memset(base_.get(), 0, bytes);
    }
    [[nodiscard]] std::byte* data() const noexcept { return base_.get(); }

private:
    static constexpr std::align_val_t kAlignment{layout::kPageBytes};
    struct Free {
        void operator()(std::byte* base) const noexcept { ::operator delete(base, kAlignment); }
    };
    std::unique_ptr<std::byte, Free> base_;
};

template <class M = platform::HostMemory>
struct PlainGroups : PageMemory, GroupsView<M> {
    explicit PlainGroups(const layout::GroupsGeometry& shape = {4, 3, 4, 0})
        : PageMemory(plain_groups_bytes(shape)), GroupsView<M>(PageMemory::data(), shape) {}

    [[nodiscard]] DeadClients is_dead() const noexcept { return {&dead}; }

    group_table::Found create(std::uint64_t client, std::string_view name,
                              const group_table::GroupOptions& options = {}) const noexcept {
        group_table::GroupCreation<M> creation(this->groups, client);
        return creation.find_or_create(name, options, [](std::uint32_t partition) { return 10 * std::uint64_t{partition}; },
                                       is_dead());
    }

    std::vector<std::uint64_t> dead;
};

inline constexpr std::uint64_t kClientA = std::uint64_t{1} << 32 | 1;
inline constexpr std::uint64_t kClientB = std::uint64_t{1} << 32 | 2;
inline constexpr std::uint64_t kClientC = std::uint64_t{1} << 32 | 3;

/// A consumer that is a member, over logs that are only numbers: it hands out what is below log_end. A value.
template <class M>
class PollingMember {
public:
    static constexpr std::uint32_t kPartitionsMax = 8;

    PollingMember(const GroupsView<M>& view, group_table::GroupRef group, std::uint64_t client, std::string_view static_name = {})
        : view_(view), group_(group), membership_(view.groups, group, client, {static_name, 1000}) {}

    template <class IsDead>
    group_table::JoinStatus join(const IsDead& is_dead) noexcept {
        held_ = {};
        const auto status = membership_.join(is_dead, view_.floors());
        in_ = status == group_table::JoinStatus::joined;
        if (in_) look();
        return status;
    }

    /// Looks if the membership changed, gives up what is not its own any more, takes what is. False: not a member.
    bool poll() noexcept {
        if (!in_) return false;
        membership_.count_poll(1);
        if (membership_.changed() && !look()) return false;
        for (std::uint32_t p = 0; p < view_.groups.partitions(); ++p) {
            if (mine_[p] && held_[p].generation == 0) take(p);
        }
        return true;
    }

    /// Hands out up to `records` of a partition. Returns how many; nothing once the tenure is over.
    std::uint64_t read(std::uint32_t partition, std::uint64_t records) noexcept {
        Held& held = held_[partition];
        if (held.generation == 0) return 0;
        if (!membership_.positions().standing(tenure(partition)).held) {
            held = {};
            return 0;
        }
        // what is gone is stepped over, as a reader does after a gap
        held.position = std::max(held.position, view_.controls[partition].log_start.load(std::memory_order_acquire));
        const std::uint64_t end = view_.controls[partition].log_end.load(std::memory_order_acquire);
        const std::uint64_t to = std::max(held.position, std::min(end, held.position + records));
        const std::uint64_t count = to - held.position;
        held.position = to;
        return count;
    }

    group_table::CommitItem commit(std::uint32_t partition) noexcept { return commit(partition, held_[partition].position); }
    group_table::CommitItem commit(std::uint32_t partition, std::uint64_t offset) noexcept {
        group_table::CommitItem item = this->item(partition, offset);
        membership_.positions().commit({&item, 1}, view_.floors(), 1);
        if (item.status == group_table::CommitStatus::fenced) held_[partition] = {};
        return item;
    }

    [[nodiscard]] group_table::CommitItem item(std::uint32_t partition, std::uint64_t offset) const noexcept {
        group_table::CommitItem item;
        item.tenure = tenure(partition);
        item.position = held_[partition].position;
        item.offset = offset;
        return item;
    }

    void leave() noexcept {
        for (std::uint32_t p = 0; p < view_.groups.partitions(); ++p) give_up(p);
        membership_.leave();
        in_ = false;
    }

    [[nodiscard]] bool holds(std::uint32_t partition) const noexcept { return held_[partition].generation != 0; }
    [[nodiscard]] std::uint32_t holdings() const noexcept {
        std::uint32_t count = 0;
        for (std::uint32_t p = 0; p < view_.groups.partitions(); ++p) count += holds(p) ? 1 : 0;
        return count;
    }
    [[nodiscard]] std::uint64_t position(std::uint32_t partition) const noexcept { return held_[partition].position; }
    [[nodiscard]] group_table::Tenure tenure(std::uint32_t partition) const noexcept {
        return {partition, held_[partition].generation};
    }
    [[nodiscard]] group_table::Membership<M>& membership() noexcept { return membership_; }
    [[nodiscard]] group_table::LookStatus last_look() const noexcept { return status_; }
    [[nodiscard]] bool in() const noexcept { return in_; }
    void forget(std::uint32_t partition) noexcept { held_[partition] = {}; }

    bool look() noexcept {
        const group_table::Look look = membership_.look();
        status_ = look.status;
        if (status_ != group_table::LookStatus::member) {
            in_ = false;
            held_ = {};
            return false;
        }
        std::array<assignment::Candidate, layout::kMembersHardMax> members;
        for (std::uint32_t i = 0; i < look.count; ++i) members[i] = {look.members[i].key, look.members[i].slot};
        std::array<std::uint8_t, kPartitionsMax> owner{};
        assignment::assign(std::span(members).first(look.count), std::span(owner).first(view_.groups.partitions()));
        for (std::uint32_t p = 0; p < view_.groups.partitions(); ++p) {
            mine_[p] = owner[p] == membership_.slot();
            if (!mine_[p]) give_up(p);
        }
        return true;
    }

private:
    struct Held {
        std::uint32_t generation = 0;
        std::uint64_t position = 0;
    };

    void give_up(std::uint32_t partition) noexcept {
        if (held_[partition].generation == 0) return;
        (void)membership_.positions().release(tenure(partition), held_[partition].position);
        held_[partition] = {};
        view_.groups.count_wake(group_.slot);
    }

    void take(std::uint32_t partition) noexcept {
        const group_table::Acquired got = membership_.positions().acquire(partition, 1);
        if (got.status == group_table::AcquireStatus::acquired) held_[partition] = {got.generation, got.committed};
    }

    GroupsView<M> view_;
    group_table::GroupRef group_;
    group_table::Membership<M> membership_;
    std::array<Held, kPartitionsMax> held_{};
    std::array<bool, kPartitionsMax> mine_{};
    group_table::LookStatus status_ = group_table::LookStatus::evicted;
    bool in_ = false;
};

}  // namespace ringmain::test
