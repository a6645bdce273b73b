// Committed offsets and group membership: what users of other systems lost or read twice.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <random>

#include "concurrency/seed.hpp"
#include "group_table/lag.hpp"
#include "ringmain/keeper.hpp"
#include "support/child.hpp"
#include "support/group_place.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace std::chrono_literals;

namespace {

using Offsets = std::vector<std::uint64_t>;

GroupOptions member_options(std::chrono::milliseconds session_timeout = 45s, const std::string& static_name = {}) {
    GroupOptions options = group();
    options.session_timeout = session_timeout;
    options.static_name = static_name;
    return options;
}

void evict_all(const GroupPlace& place) {
    const auto view = place.view();
    REQUIRE(group_table::evict(place.files().groups(), view.group.slot, view.set, view.set.live));
}

group_table::Lag lag(const GroupPlace& place) {
    const TopicFiles files = place.files();
    const platform::Mapping log = files.map_partition(0, platform::Access::read_only);
    const partition_log::LogMemory<platform::HostMemory> memory(log.data(), geometry_of(log), files.readers(0));
    return group_table::lag_of(files.groups(), place.view().group.slot, 0, *memory.control);
}

}  // namespace

TEST_CASE("B01 An offset that was stored before a hand-over cannot rewind the group afterwards") {
    GroupPlace place;
    place.publish(20);
    Consumer a(place.broker, member_options());
    a.subscribe("t");
    CHECK(a.poll(5).records.size() == 5);
    evict_all(place);
    {
        Consumer b(place.broker, member_options());
        b.subscribe("t");
        CHECK(b.poll(12).records.size() == 12);
        CHECK(b.commit().status == Status::ok);
        CHECK(outcome(commit_at(a, 5)) == CommitOutcome::fenced);
    }
    CHECK(a.poll().status == Status::evicted);
    CHECK(a.poll(0).status == Status::ok);
    CHECK(a.assignment().size() == 1);
    CHECK(outcome(commit_at(a, 5)) == CommitOutcome::stale);
    CHECK(a.committed("t", 0) == 12);
}

TEST_CASE("B02 A member that gets a partition back goes on where the others have got to, not where it was") {
    GroupPlace place;
    place.publish(20);
    Consumer a(place.broker, member_options());
    a.subscribe("t");
    CHECK(a.poll(5).records.size() == 5);
    evict_all(place);
    {
        Consumer b(place.broker, member_options());
        b.subscribe("t");
        CHECK(b.poll(12).records.size() == 12);
        CHECK(b.close().status == Status::ok);
    }
    CHECK(a.poll().status == Status::evicted);
    CHECK(a.poll(0).status == Status::ok);
    CHECK(a.position("t", 0) == 12);
}

TEST_CASE("B03 Over many joins and leaves no committed offset goes back, and each start is the committed offset") {
    constexpr std::uint32_t kPartitions = 20;
    GroupPlace place(kPartitions);
    std::mt19937_64 random(seed_for("B03"));
    std::vector<std::unique_ptr<Consumer>> members;
    std::vector<std::uint64_t> highest(kPartitions, 0);
    const auto check = [&] {
        const auto view = place.view();
        for (std::uint32_t p = 0; p < kPartitions; ++p) {
            CHECK(view.partitions[p].word.committed >= highest[p]);
            highest[p] = view.partitions[p].word.committed;
        }
    };
    for (int round = 0; round < 300; ++round) {
        if (members.size() < 3) {
            GroupOptions options = member_options();
            auto self = std::make_shared<Consumer*>(nullptr);
            options.listener.assigned = [&place, self](auto partitions) {
                for (const TopicPartition& one : partitions) {
                    CHECK((*self)->position("t", one.partition) == place.view().partitions[one.partition].word.committed);
                }
            };
            members.push_back(std::make_unique<Consumer>(place.broker, options));
            *self = members.back().get();
            members.back()->subscribe("t");
        }
        place.publish(1, static_cast<std::uint32_t>(random() % kPartitions));
        for (auto& member : members) {
            (void)member->poll(1 + random() % 8);
            if (random() % 3 == 0) CHECK(member->commit().status == Status::ok);
        }
        if (random() % 4 == 0) {
            const auto leaving = members.begin() + static_cast<std::ptrdiff_t>(random() % members.size());
            if (random() % 2 == 0) CHECK((*leaving)->close().status == Status::ok);
            members.erase(leaving);
        }
        check();
    }
}

TEST_CASE("B05 A member that was stopped while others took over is fenced, with both generations, until it has joined again") {
    GroupPlace place;
    place.publish(20);
    Child a([&] {
        Broker broker(place.scratch.broker());
        Consumer consumer(broker, member_options(100ms));
        consumer.subscribe("t");
        if (consumer.poll(5, 10s).records.size() != 5) return 1;
        ::raise(SIGSTOP);
        const CommitResult result = consumer.commit();
        if (result.status != Status::commit_refused || result.partitions.size() != 1) return 2;
        const PartitionCommit& one = result.partitions[0];
        if (one.outcome != CommitOutcome::fenced || one.generation == one.current_generation || one.committed != 12) return 3;
        if (consumer.poll().status != Status::evicted) return 4;
        if (commit_at(consumer, 5).partitions[0].outcome != CommitOutcome::not_assigned) return 5;
        return consumer.poll(0).status == Status::ok ? 0 : 6;
    });
    REQUIRE(::waitpid(a.pid(), nullptr, WUNTRACED) == a.pid());
    Consumer b(place.broker, member_options(100ms));
    b.subscribe("t");
    CHECK(offsets_of(b.poll(12, 20s)).size() == 12);
    CHECK(b.commit().status == Status::ok);
    a.signal(SIGCONT);
    CHECK(a.wait() == 0);
    CHECK(place.view().partitions[0].word.committed == 12);
}

TEST_CASE("B07 A handler slower than the session time-out never shares its partition: it keeps it by poll(0), or is told") {
    GroupPlace place;
    place.publish(10);
    const bool keeps = GENERATE(false, true);
    Child other([&] {
        Broker broker(place.scratch.broker());
        Consumer consumer(broker, member_options(200ms));
        consumer.subscribe("t");
        for (;;) (void)consumer.poll(1, 50ms);
        return 0;
    });
    Consumer slow(place.broker, member_options(200ms));
    slow.subscribe("t");
    while (place.view().set.members() < 2 || slow.poll(0).status != Status::ok) {}
    const bool has = !slow.assignment().empty();
    for (int i = 0; i < 60; ++i) {
        ::usleep(10'000);
        if (keeps) CHECK(slow.poll(0).status == Status::ok);
    }
    if (keeps) {
        CHECK(slow.assignment().empty() == !has);
    } else {
        CHECK(slow.poll().status == Status::evicted);
        CHECK(slow.assignment().empty());
    }
}

TEST_CASE("B08 Who commits the last record has nothing left to read, and no lag") {
    GroupPlace place;
    place.publish(10);
    {
        Consumer consumer(place.broker, member_options());
        consumer.subscribe("t");
        const PollResult result = consumer.poll();
        CHECK(consumer.commit(result.records.last(1)).status == Status::ok);
        CHECK(consumer.committed("t", 0) == 10);
    }
    Consumer again(place.broker, member_options());
    again.subscribe("t");
    CHECK(again.poll().records.empty());
    CHECK(lag(place).records == 0);
}

TEST_CASE("B09 By default a process that is killed in its handler loses nothing") {
    GroupPlace place;
    place.publish(50);
    Child killed([&] {
        Broker broker(place.scratch.broker());
        Consumer consumer(broker, member_options());
        consumer.subscribe("t");
        const PollResult result = consumer.poll(40, 10s);
        for (const ConsumerRecord& record : result.records) {
            if (record.offset == 37) ::raise(SIGSTOP);
        }
        return 0;
    });
    REQUIRE(::waitpid(killed.pid(), nullptr, WUNTRACED) == killed.pid());
    killed.kill();
    Consumer successor(place.broker, member_options());
    successor.subscribe("t");
    const Offsets again = offsets_of(successor.poll(64, 20s));
    REQUIRE(again.size() == 50);
    CHECK(again.front() == 0);
}

TEST_CASE("B10 Nobody commits beyond the end") {
    GroupPlace place;
    place.publish(10);
    Consumer consumer(place.broker, member_options());
    consumer.subscribe("t");
    CHECK(consumer.poll().records.size() == 10);
    CHECK(outcome(commit_at(consumer, 11)) == CommitOutcome::beyond_position);
    CHECK(outcome(commit_at(consumer, static_cast<std::uint64_t>(-1))) == CommitOutcome::beyond_position);
    CHECK(outcome(commit_at(consumer, 10)) == CommitOutcome::committed);
    CHECK(lag(place).records == 0);
}

TEST_CASE("B11 Records that are gone are lost, not lag") {
    GroupPlace place;
    place.publish(10);
    Consumer consumer(place.broker, member_options());
    consumer.subscribe("t");
    CHECK(consumer.poll().records.size() == 10);
    CHECK(consumer.commit().status == Status::ok);
    place.publish(1000);
    const auto behind = lag(place);
    CHECK(behind.lost == behind.log_start - 10);
    CHECK(behind.records == 1010 - behind.log_start);
}

TEST_CASE("B13 A group that has not committed has no committed offset") {
    GroupPlace place;
    place.publish(29);
    Consumer consumer(place.broker, member_options());
    consumer.subscribe("t");
    CHECK(consumer.poll(5).records.size() == 5);
    CHECK(consumer.committed("t", 0) == std::nullopt);
    CHECK(lag(place).records == 29);
}

TEST_CASE("B16 An idle group stays for ever, whatever keepers come and go") {
    GroupPlace place;
    place.publish(10);
    {
        Consumer consumer(place.broker, member_options());
        consumer.subscribe("t");
        CHECK(consumer.poll(7).records.size() == 7);
        CHECK(consumer.close().status == Status::ok);
    }
    for (int life = 0; life < 2; ++life) {
        Keeper keeper(place.broker);
        for (int day = 0; day <= 30; ++day) (void)keeper.do_work(std::chrono::hours(24 * day));
    }
    Consumer consumer(place.broker, member_options());
    consumer.subscribe("t");
    CHECK(offsets_of(consumer.poll(1)) == Offsets{7});
}

TEST_CASE("B17 The same offset again is a commit, with a time of its own") {
    GroupPlace place;
    place.publish(10);
    Consumer consumer(place.broker, member_options());
    consumer.subscribe("t");
    CHECK(consumer.poll().records.size() == 10);
    CHECK(consumer.commit().status == Status::ok);
    const auto first = place.view().partitions[0];
    ::usleep(20'000);
    CHECK(consumer.commit().status == Status::ok);
    const auto second = place.view().partitions[0];
    CHECK(second.commits == first.commits + 1);
    CHECK(second.committed_ns > first.committed_ns);
}

TEST_CASE("B18 A lower commit is stale; a reset goes back, and fences who is at work") {
    GroupPlace place;
    place.publish(20);
    Consumer consumer(place.broker, member_options());
    consumer.subscribe("t");
    CHECK(consumer.poll(10).records.size() == 10);
    CHECK(outcome(commit_at(consumer, 10)) == CommitOutcome::committed);
    CHECK(outcome(commit_at(consumer, 5)) == CommitOutcome::stale);
    CHECK(consumer.committed("t", 0) == 10);
    place.reset(0, 5);
    CHECK(outcome(commit_at(consumer, 10)) == CommitOutcome::fenced);
    CHECK(offsets_of(consumer.poll(1)) == Offsets{5});
}

TEST_CASE("B19 Commits in the middle of others' joins and leaves leave nobody deaf") {
    GroupPlace place(2);
    Consumer consumer(place.broker, member_options());
    consumer.subscribe("t");
    std::uint64_t read = 0;
    for (int i = 0; i < 200; ++i) {
        Consumer other(place.broker, member_options());
        other.subscribe("t");
        place.publish(1, static_cast<std::uint32_t>(i) % 2);
        for (int k = 0; k < 3; ++k) {
            for (Consumer* one : {&consumer, &other}) {
                read += one->poll(4).records.size();
                CHECK(one->commit().status == Status::ok);
            }
        }
        CHECK(other.close().status == Status::ok);
        read += consumer.poll(4).records.size();
        CHECK(consumer.commit().status == Status::ok);
        CHECK(consumer.assignment().size() == 2);
    }
    CHECK(read == 200);
}

TEST_CASE("B21 A member name comes back while the killed one is still registered, two hundred times") {
    GroupPlace place;
    place.publish(10);
    for (int i = 0; i < 200; ++i) {
        Child member([&] {
            Broker broker(place.scratch.broker());
            Consumer consumer(broker, member_options(45s, "the same"));
            consumer.subscribe("t");
            const PollResult result = consumer.poll(1, 10s);
            if (result.records.size() != 1 || result.records[0].offset != 0) return 1;
            ::raise(SIGKILL);
            return 2;
        });
        REQUIRE(member.wait() == 128 + SIGKILL);
    }
    CHECK(place.view().set.members() == 1);
    Consumer last(place.broker, member_options(45s, "the same"));
    last.subscribe("t");
    CHECK(last.poll(1).records.size() == 1);
}
