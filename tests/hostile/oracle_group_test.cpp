// Consumer groups over memory that lies: each call comes to its end and touches nothing but the memory it was given.
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "group_table/bystander.hpp"
#include "group_table/lag.hpp"
#include "group_table/listing.hpp"
#include "hostile/oracle_run.hpp"
#include "layout/readers.hpp"
#include "partition_log/log_start.hpp"
#include "partition_log/publisher.hpp"
#include "recovery/group_upkeep.hpp"
#include "support/plain_groups.hpp"
#include "support/plain_log.hpp"

namespace ringmain::test {

namespace {

using namespace group_table;
using M = OracleMemory;

constexpr layout::GroupsGeometry kShape{4, 3, 4, 0};

// What a liveness oracle says is not in shared memory, but may be anything.
struct IsDead {
    bool operator()(std::uint64_t) const noexcept { return (Oracle::random() & 3) == 0; }
};

std::uint64_t below(std::uint64_t limit) { return Oracle::random() % limit; }

class OracleGroupCalls {
public:
    void call() {
        static constexpr OracleCall<OracleGroupCalls> kCalls[] = {
            {"create", &OracleGroupCalls::create},      {"join", &OracleGroupCalls::join},
            {"poll", &OracleGroupCalls::poll},          {"commit", &OracleGroupCalls::commit},
            {"leave", &OracleGroupCalls::leave},        {"evict", &OracleGroupCalls::evict_some},
            {"reset", &OracleGroupCalls::reset},        {"remove", &OracleGroupCalls::remove},
            {"list", &OracleGroupCalls::list},          {"move", &OracleGroupCalls::move},
            {"keep", &OracleGroupCalls::keep},          {"commit unowned", &OracleGroupCalls::commit_by_hand},
            {"claims", &OracleGroupCalls::free_claims}, {"let go by age", &OracleGroupCalls::let_go},
        };
        run_some(*this, kCalls);
    }

private:
    void create() {
        static constexpr std::array kNames = {"a", "b", "c", "a name that is longer than a word"};
        GroupCreation<M> creation(plain_.groups, Oracle::random());
        const Found found = creation.find_or_create(
            kNames[below(kNames.size())], {.gating = below(2) == 0, .lag_records_max = below(9)},
            [](std::uint32_t) { return Oracle::random(); }, IsDead{});
        if (found.group.slot >= kShape.groups_max)
            std::abort();
        if (found.status > FindStatus::created)
            return;
        member_.emplace(plain_, found.group, Oracle::random(), below(2) == 0 ? "static" : "");
    }
    void join() {
        if (!member_)
            return;
        if (member_->join(IsDead{}) == JoinStatus::joined && member_->membership().slot() >= kShape.members_max)
            std::abort();
    }
    void poll() {
        if (member_)
            member_->poll();
    }
    void commit() {
        if (!member_)
            return;
        std::array<CommitItem, 4> items;
        for (std::uint32_t p = 0; p < items.size(); ++p) {
            member_->read(p, below(5));
            items[p] = member_->item(p, below(2) == 0 ? member_->position(p) : Oracle::random());
            if (below(9) == 0)
                items[p].tenure.partition = static_cast<std::uint32_t>(Oracle::random());
        }
        member_->membership().positions().commit(items, plain_.floors(), 1);
        Tenure tenure = member_->tenure(static_cast<std::uint32_t>(below(4)));
        (void)member_->membership().positions().replay(tenure, Oracle::random() >> 3, plain_.floors());
    }
    void leave() {
        if (!member_ || !member_->in())
            return;
        if (below(2) == 0)
            return member_->leave();
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
        const GroupReset<M> reset(plain_.groups,
                                  {static_cast<std::uint32_t>(below(kShape.groups_max)), Oracle::random()});
        (void)reset.begin(plain_.groups.set(0), below(2) == 0);
        reset.set(static_cast<std::uint32_t>(below(4)), Oracle::random() >> 2, plain_.controls[0].gate_floor);
        reset.finish();
    }
    void remove() {
        const auto slot = static_cast<std::uint32_t>(below(kShape.groups_max));
        (void)delete_group(plain_.groups, {slot, plain_.groups.born(slot)}, below(2) == 0);
        sweep(plain_.groups, slot);
        if (below(50) == 0)
            delete_all_groups(plain_.groups);
    }
    void list() {
        for (const GroupView& view : view_groups(plain_.groups)) {
            if (view.name.size() > layout::kGroupNameMax)
                std::abort();
            for (const MemberView& member : view.members) {
                if (member.static_name.size() > layout::kStaticNameMax)
                    std::abort();
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

    /// A keeper's pass, and what members that read may ask.
    void keep() {
        now_ += below(2'000'000'000);
        (void)keeper_.step(IsDead{}, now_);
        if (!member_)
            return;
        const auto partition = static_cast<std::uint32_t>(below(5));
        (void)member_->membership().positions().standing({partition, static_cast<std::uint32_t>(Oracle::random())});
        if (partition < kShape.partitions)
            member_->membership().positions().note_delivered(partition, Oracle::random());
    }
    void commit_by_hand() {
        CommitItem item;
        item.tenure.partition = static_cast<std::uint32_t>(below(5));
        item.position = Oracle::random() >> 2;
        item.offset = below(2) == 0 ? item.position : Oracle::random();
        commit_unowned(plain_.groups, {static_cast<std::uint32_t>(below(kShape.groups_max)), below(20)}, item,
                       below(2) == 0, now_);
    }
    void free_claims() {
        GroupCreation<M> creation(plain_.groups, Oracle::random());
        creation.help();
        (void)creation.find("b");
        (void)creation.free_dead_claim(static_cast<std::uint32_t>(below(kShape.groups_max)), IsDead{});
    }
    void let_go() {
        partition_log::SharedPublisher<M> publisher(log_.log, 0, 1);
        const std::string value(below(100), 'v');
        (void)publisher.publish(parts_of(value));
        partition_log::LogMemory<M> log = log_.log;
        log.groups = {plain_.groups, static_cast<std::uint32_t>(below(kShape.partitions)), below(4) != 0};
        (void)recovery::let_go_by_age(log, Oracle::random());
    }

    PlainGroups<M> plain_{kShape};
    PlainLog<M> log_{{.block = true}};
    recovery::GroupKeeper<M> keeper_{plain_.groups};
    std::uint64_t now_ = 1;
    PageMemory readers_{sizeof(layout::ReaderBlock<M>)};
    std::optional<PollingMember<M>> member_;
    Observer observer_;
};

}  // namespace

TEST_CASE("No call on consumer groups can be made to loop or to touch foreign memory by what their memory answers") {
    call_under_all_moods("groups", 20, [](std::uint64_t) { return std::make_unique<OracleGroupCalls>(); });
}

}  // namespace ringmain::test
