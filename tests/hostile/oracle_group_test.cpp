// Consumer groups over memory that lies: each call comes to its end and touches nothing but the memory it was given.
#include <array>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <optional>

#include "concurrency/seed.hpp"
#include "group_table/lag.hpp"
#include "group_table/listing.hpp"
#include "hostile/oracle_memory.hpp"
#include "layout/readers.hpp"
#include "partition_log/log_start.hpp"
#include "support/catch.hpp"
#include "support/plain_groups.hpp"

namespace ringmain::test {

namespace {

using namespace group_table;
using M = OracleMemory;

constexpr std::uint64_t kAccessesBound = 20'000;  // far above what any call needs on three groups of four members
constexpr layout::GroupsGeometry kShape{4, 3, 4, 0};

// What a liveness oracle says is not in shared memory, but may be anything.
struct IsDead {
    bool operator()(std::uint64_t) const noexcept { return (Oracle::random() & 3) == 0; }
};

std::uint64_t below(std::uint64_t limit) { return Oracle::random() % limit; }

class OracleGroupCalls {
public:
    void call() {
        struct Call {
            const char* name;
            void (OracleGroupCalls::*run)();
        };
        static constexpr Call kCalls[] = {
            {"create", &OracleGroupCalls::create}, {"join", &OracleGroupCalls::join},
            {"poll", &OracleGroupCalls::poll},     {"commit", &OracleGroupCalls::commit},
            {"leave", &OracleGroupCalls::leave},   {"evict", &OracleGroupCalls::evict_some},
            {"reset", &OracleGroupCalls::reset},   {"remove", &OracleGroupCalls::remove},
            {"list", &OracleGroupCalls::list},     {"move", &OracleGroupCalls::move},
        };
        const Call& call = kCalls[below(std::size(kCalls))];
        Oracle::begin_call(call.name);
        (this->*call.run)();
    }

private:
    void create() {
        static constexpr std::array kNames = {"a", "b", "c", "a name that is longer than a word"};
        GroupCreation<M> creation(plain_.groups, Oracle::random());
        const Found found = creation.find_or_create(kNames[below(kNames.size())], {.gating = below(2) == 0, .lag_records_max = below(9)},
                                                    [](std::uint32_t) { return Oracle::random(); }, IsDead{});
        if (found.group.slot >= kShape.groups_max) std::abort();
        if (found.status > FindStatus::created) return;
        member_.emplace(plain_, found.group, Oracle::random(), below(2) == 0 ? "static" : "");
    }
    void join() {
        if (!member_) return;
        if (member_->join(IsDead{}) == JoinStatus::joined && member_->membership().slot() >= kShape.members_max) std::abort();
    }
    void poll() {
        if (member_) member_->poll();
    }
    void commit() {
        if (!member_) return;
        std::array<CommitItem, 4> items;
        for (std::uint32_t p = 0; p < items.size(); ++p) {
            member_->read(p, below(5));
            items[p] = member_->item(p, below(2) == 0 ? member_->position(p) : Oracle::random());
            if (below(9) == 0) items[p].tenure.partition = static_cast<std::uint32_t>(Oracle::random());
        }
        member_->membership().positions().commit(items, plain_.floors(), 1);
        Tenure tenure = member_->tenure(static_cast<std::uint32_t>(below(4)));
        (void)member_->membership().positions().replay(tenure, Oracle::random() >> 3, plain_.floors());
    }
    void leave() {
        if (!member_ || !member_->in()) return;
        if (below(2) == 0) return member_->leave();
        member_->membership().detach();
        member_.reset();
    }
    void evict_some() {
        const auto group = static_cast<std::uint32_t>(below(kShape.groups_max));
        evict_dead(plain_.groups, group, IsDead{});
        free_member_slots(plain_.groups, group, IsDead{});
        const auto verdict = observer_.look(plain_.groups, group, Oracle::random());
        evict(plain_.groups, group, verdict.set, verdict.overdue);
    }
    void reset() {
        const GroupReset<M> reset(plain_.groups, {static_cast<std::uint32_t>(below(kShape.groups_max)), Oracle::random()});
        (void)reset.begin(plain_.groups.set(0), below(2) == 0);
        reset.set(static_cast<std::uint32_t>(below(4)), Oracle::random() >> 2, plain_.controls[0].gate_floor);
        reset.finish();
    }
    void remove() {
        const auto slot = static_cast<std::uint32_t>(below(kShape.groups_max));
        (void)delete_group(plain_.groups, {slot, plain_.groups.born(slot)}, below(2) == 0);
        sweep(plain_.groups, slot);
        if (below(50) == 0) delete_all_groups(plain_.groups);
    }
    void list() {
        for (const GroupView& view : view_groups(plain_.groups)) {
            if (view.name.size() > layout::kGroupNameMax) std::abort();
            for (const MemberView& member : view.members) {
                if (member.static_name.size() > layout::kStaticNameMax) std::abort();
            }
        }
        (void)lag_of(plain_.groups, 0, 0, plain_.controls[0]);
    }
    void move() {
        partition_log::LogMemory<M> log;
        log.control = plain_.controls;
        log.readers = reinterpret_cast<layout::ReaderBlock<M>*>(readers_.data());
        log.groups = {plain_.groups, static_cast<std::uint32_t>(below(4)), true};
        (void)partition_log::advance_start(log, Oracle::random());
    }

    PlainGroups<M> plain_{kShape};
    PageMemory readers_{sizeof(layout::ReaderBlock<M>)};
    std::optional<PollingMember<M>> member_;
    Observer observer_;
};

}  // namespace

TEST_CASE("No call on consumer groups can be made to loop or to touch foreign memory by what their memory answers") {
    const std::uint64_t seed = seed_for("oracle of groups");
    const std::uint64_t calls = from_environment("RINGMAIN_HOSTILE_CALLS", 250'000) / 4;
    for (const unsigned lies_per_256 : {0U, 3U, 24U, 96U, 192U}) {
        Oracle::begin(derive_seed(seed, lies_per_256), lies_per_256);
        for (std::uint64_t done = 0; done < calls;) {
            OracleGroupCalls groups;
            for (int i = 0; i < 1'000; ++i, ++done) groups.call();
        }
        std::cout << lies_per_256 << " lies in 256: at most " << Oracle::accesses_max() << " accesses to shared memory in a call\n";
        CHECK(Oracle::accesses_max() < kAccessesBound);
    }
}

}  // namespace ringmain::test
