// Members of a group as processes that come, go, are stopped, continued and killed at random, while an operator resets:
// nothing unread is skipped, every hand-over begins exactly at the committed offset, and only the disturbed repeat records.
#include <cstdlib>
#include <iostream>
#include <list>
#include <random>
#include <thread>

#include "concurrency/seed.hpp"
#include "member_process.hpp"
#include "support/child.hpp"
#include "support/group_place.hpp"

namespace ringmain::test {

namespace {

using namespace std::chrono_literals;
using Kind = MemberEvent::Kind;
constexpr std::uint32_t kPartitions = 4;
constexpr std::size_t kMembersAtOnce = 5;
constexpr std::uint32_t kProducer = 0;  // its number in the history

std::chrono::milliseconds duration() { return std::getenv("RINGMAIN_LONG") != nullptr ? 60'000ms : 5'000ms; }

class Chaos {
public:
    Chaos(const std::string& name, bool gating) : gating_(gating), random_(seed_for(name)) {
        TopicOptions options;
        options.partitions = kPartitions;
        options.records = gating ? 256 : 1 << 18;
        options.producer_slots = 4;
        options.payload_bytes = 0;
        options.members = 16;
        options.when_full = gating ? WhenFull::block : WhenFull::overwrite;
        place_.broker.create_topic("t", options);
        GroupOptions group;
        group.name = "g";
        group.gating = gating;
        Consumer(place_.broker, group).subscribe("t");  // it begins here
    }

    bool kills = true;
    bool resets = false;

    void run() {
        Child producer([this] { return publish(); });
        const auto until = std::chrono::steady_clock::now() + duration();
        while (std::chrono::steady_clock::now() < until && !history_.nearly_full()) {
            step();
            std::this_thread::sleep_for(std::chrono::milliseconds(1 + below(20)));
        }
        history_.leave(kProducer).store(true, std::memory_order_release);
        REQUIRE(producer.wait() == 0);
        end();
        judge();
    }

private:
    struct Running {
        Child child;
        std::uint32_t process;
        bool stopped = false;
    };

    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

    int publish() {
        Broker broker(place_.scratch.broker());
        Producer producer(broker, "t");
        for (std::uint32_t i = 0; !history_.leave(kProducer).load(std::memory_order_acquire); ++i) {
            ProducerRecord record;
            record.value = as_bytes("x");
            record.partition = i % kPartitions;
            const Status status = producer.try_publish(record).status;
            if (status != Status::ok && status != Status::would_block) return 1;
            if (i % 16 == 0 || status == Status::would_block) std::this_thread::sleep_for(1ms);
        }
        return 0;
    }

    void start(bool drain = false) {
        const std::uint32_t process = next_++;
        const MemberJob job{place_.scratch.broker(), process, random_(), gating_, drain};
        running_.push_back({Child([this, job] { return be_member(history_, job); }), process});
    }

    void step() {
        if (running_.size() < kMembersAtOnce && below(3) == 0) return start();
        reap();
        if (running_.empty()) return;
        auto one = std::next(running_.begin(), static_cast<std::ptrdiff_t>(below(static_cast<std::uint32_t>(running_.size()))));
        switch (below(8)) {
            case 0: history_.leave(one->process).store(true, std::memory_order_release); break;
            case 1: if (kills) disturb(one, SIGKILL); break;
            case 2: if (kills) disturb(one, SIGSTOP); break;
            case 3: if (one->stopped) disturb(one, SIGCONT); break;
            case 4: if (resets && below(4) == 0) reset(below(kPartitions)); break;
            default: break;
        }
    }

    void disturb(std::list<Running>::iterator one, int signal) {
        history_.note({Kind::disturbed, one->process});
        if (signal == SIGKILL) {
            one->child.kill();
            running_.erase(one);
            return;
        }
        one->child.signal(signal);
        one->stopped = signal == SIGSTOP;
    }

    void reap() {
        running_.remove_if([](Running& one) {
            siginfo_t info{};
            return ::waitid(P_PID, static_cast<id_t>(one.child.pid()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
        });
    }

    /// Back, to anywhere: everything from there is read again.
    void reset(std::uint32_t partition) {
        const TopicFiles files = place_files();
        for (const auto& seen : group_table::view_groups(files.groups())) {
            const group_table::GroupReset reset(files.groups(), seen.group);
            if (reset.begin(seen.set, true) != group_table::ResetStatus::begun) return;
            const std::uint64_t target = below(static_cast<std::uint32_t>(seen.partitions[partition].word.committed) + 1);
            const std::atomic<std::uint64_t> no_floor{0};
            const auto done = reset.set(partition, target, no_floor);
            history_.note({Kind::reset, 0, partition, done.generation, done.committed});
            reset.finish();
        }
    }

    [[nodiscard]] TopicFiles place_files() const { return {place_.scratch.broker() / "topics" / "t", "t"}; }

    void end() {
        for (Running& one : running_) {
            if (one.stopped) one.child.signal(SIGCONT);
            history_.leave(one.process).store(true, std::memory_order_release);
        }
        for (Running& one : running_) CHECK(one.child.wait() == 0);
        running_.clear();
        start(true);
        CHECK(running_.front().child.wait(60s) == 0);
    }

    void judge() {
        std::vector<std::set<std::uint64_t>> records(kPartitions);
        std::vector<std::uint64_t> committed;
        const TopicFiles files = place_files();
        const auto groups = group_table::view_groups(files.groups());
        REQUIRE(groups.size() == 1);
        Consumer reader(place_.broker);
        reader.assign("t");
        for (std::uint32_t p = 0; p < kPartitions; ++p) {
            committed.push_back(groups[0].partitions[p].word.committed);
            CHECK(committed[p] == reader.log_end("t", p));  // nothing is left, and nothing is committed beyond the end
        }
        if (gating_) {  // what is no longer there was committed; no offset is left out unless a ticket was closed
            for (std::uint32_t p = 0; p < kPartitions; ++p) {
                for (std::uint64_t offset = 0; offset < committed[p]; ++offset) records[p].insert(offset);
            }
            for (const PartitionDescription& one : place_.broker.describe_topic("t").partitions) {
                if (one.closed_tickets != 0) return;  // a loaded machine: who is to say which
            }
        } else {
            for (PollResult all = reader.poll(); !all.records.empty(); all = reader.poll()) {
                for (const ConsumerRecord& record : all.records) records[record.partition].insert(record.offset);
            }
        }
        const auto events = history_.events();
        const auto faults = judge_members(events, records, committed);
        for (std::size_t i = 0; i < faults.size() && i < 10; ++i) UNSCOPED_INFO(faults[i]);
        CHECK(faults.empty());
        std::cout << next_ << " members, " << events.size() << " events, " << committed[0] << " records in the first partition" << std::endl;
        CHECK(next_ > 10);
    }

    TestBroker place_;
    MemberHistory history_;
    bool gating_;
    std::mt19937_64 random_;
    std::list<Running> running_;
    std::uint32_t next_ = 1;
};

}  // namespace

TEST_CASE("The judge over member processes finds every kind of broken promise") {
    const std::vector<std::set<std::uint64_t>> records{{0, 1, 2, 3, 5}};
    const auto verdict = [&](std::vector<MemberEvent> events, std::uint64_t committed) {
        events.insert(events.begin(), {{Kind::assigned, 1, 0, 7, 0}, {Kind::delivered, 1, 0, 0, 0, 2, 3}});
        std::string all;
        for (const std::string& fault : judge_members(events, records, std::vector<std::uint64_t>{committed})) all += fault + "\n";
        return all;
    };
    const MemberEvent commits_3{Kind::committed, 1, 0, 0, 3};
    CHECK(verdict({commits_3}, 3).empty());
    CHECK(verdict({commits_3, {Kind::assigned, 2, 0, 8, 3}, {Kind::delivered, 2, 0, 0, 3, 5, 2}}, 3).empty());
    CHECK(verdict({{Kind::trying, 1, 0, 0, 3}}, 3).empty());  // it may have been applied
    CHECK(verdict({{Kind::trying, 1, 0, 0, 3}}, 0).empty());
    CHECK_THAT(verdict({{Kind::trying, 1, 0, 0, 3}, {Kind::refused, 1, 0, 0, 3}}, 3), contains("in the end 3"));
    CHECK_THAT(verdict({commits_3, {Kind::committed, 1, 0, 0, 2}}, 2), contains("went back"));
    CHECK_THAT(verdict({{Kind::committed, 1, 0, 0, 4}}, 4), contains("beyond what was delivered"));
    CHECK_THAT(verdict({{Kind::delivered, 1, 0, 0, 5, 5, 1}}, 0), contains("was given 5"));
    CHECK_THAT(verdict({{Kind::delivered, 1, 0, 0, 3, 5, 1}}, 0), contains("missing"));
    CHECK_THAT(verdict({commits_3, {Kind::assigned, 2, 0, 8, 2}}, 2), contains("began at 2"));
    CHECK_THAT(verdict({{Kind::assigned, 2, 0, 7, 0}}, 0), contains("two owners"));
    CHECK_THAT(verdict({{Kind::left, 1}, {Kind::assigned, 2, 0, 8, 0}}, 0), contains("repeats"));
    CHECK(verdict({{Kind::left, 1}, {Kind::disturbed, 1}, {Kind::assigned, 2, 0, 8, 0}}, 0).empty());
    CHECK_THAT(verdict({{Kind::reset, 0, 0, 8, 5}, {Kind::assigned, 2, 0, 9, 5}}, 5), contains("offset 3 was skipped"));
    CHECK_THAT(verdict({{Kind::reset, 0, 0, 8, 1}, {Kind::assigned, 2, 0, 9, 2}}, 2), contains("began at 2"));
}

TEST_CASE("Member processes that come and go repeat nothing and skip nothing") {
    Chaos chaos("members that come and go", false);
    chaos.kills = false;
    chaos.run();
}

TEST_CASE("Member processes that are killed, stopped and continued skip nothing, and what is handed over is where they committed") {
    Chaos chaos("members that are killed and stopped", false);
    chaos.run();
}

TEST_CASE("Member processes that are reset meanwhile begin exactly where they were put") {
    Chaos chaos("members that are reset", false);
    chaos.resets = true;
    chaos.run();
}

TEST_CASE("Member processes of a gating group that are killed and stopped lose no record to retention") {
    Chaos chaos("members that gate", true);
    chaos.run();
}

}  // namespace ringmain::test
