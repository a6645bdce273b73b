// What the threads of a group crowd do, and the judgement of it.
#include "concurrency/group_crowd.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "concurrency/watchdog.hpp"
#include "partition_log/log_start.hpp"

namespace ringmain::test {

using namespace group_table;

namespace {

using Key = std::pair<std::uint32_t, std::uint32_t>;
using M = GroupCrowd::M;

constexpr std::uint64_t kLogEnd = std::uint64_t{1} << 40;
constexpr std::uint64_t kResetSpan = 1000;
constexpr std::uint64_t kRing = 16;  // of a gating group's log, in records

std::string text_of(const TenureHistory& tenure) {
    return "partition " + std::to_string(tenure.partition) + " generation " + std::to_string(tenure.generation) + ": ";
}

bool may_end_at(const TenureHistory& tenure, std::uint64_t offset) {
    return offset == tenure.committed ||
           std::find(tenure.maybe.begin(), tenure.maybe.end(), offset) != tenure.maybe.end();
}

// A member with its notes. What it holds is noted outside of the calls that it may die in.
class NotingMember {
public:
    NotingMember(const GroupsView<M>& view, GroupRef group, std::uint64_t client, std::vector<TenureHistory>& notes)
        : member_(view, group, client), notes_(notes) {}

    /// False: it died.
    template <class IsDead>
    bool round(std::minstd_rand& random, std::uint32_t dies_after, const IsDead& is_dead, std::atomic<std::uint64_t>& commits) {
        if (!member_.in()) return act(dies_after, [&] { (void)member_.join(is_dead); });
        note_intents();
        if (!act(dies_after, [&] { member_.poll(); })) return false;
        note_holdings();
        const auto partition = static_cast<std::uint32_t>(random() % GroupCrowd::kPartitions);
        if (!member_.holds(partition)) return true;
        const std::uint64_t before = member_.position(partition);
        const std::uint64_t count = member_.read(partition, 1 + random() % 9);
        if (!member_.holds(partition)) current_[partition] = kNone;  // it was lost, and is noted as it was
        if (count != 0 && current_[partition] != kNone) notes_[current_[partition]].handed_out = before + count;
        return random() % 3 != 0 || commit(random, partition, dies_after, commits);
    }

    void leave(std::uint32_t dies_after) {
        note_intents();
        act(dies_after, [&] { member_.leave(); });
        current_.fill(kNone);
    }

    PollingMember<M>& member() { return member_; }
    CommitItem last_commit;

private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    template <class Work>
    static bool act(std::uint32_t dies_after, const Work& work) {
        if (dies_after != 0) return Fate::mine().survives(dies_after, work);
        work();
        return true;
    }

    bool commit(std::minstd_rand& random, std::uint32_t partition, std::uint32_t dies_after, std::atomic<std::uint64_t>& commits) {
        if (current_[partition] == kNone) return true;
        TenureHistory& note = notes_[current_[partition]];
        const std::uint64_t offset = std::max(note.committed, member_.position(partition) - random() % 2);
        note.maybe.push_back(offset);
        if (!act(dies_after, [&] { last_commit = member_.commit(partition, offset); })) return false;
        if (last_commit.status == CommitStatus::committed) {
            note.committed = offset;
            note.maybe.clear();
            commits.fetch_add(1, std::memory_order_relaxed);  // relaxed: counted after the threads ended
        } else {
            note.maybe.pop_back();  // the answer says that it did not land
        }
        if (!member_.holds(partition)) current_[partition] = kNone;
        return true;
    }

    // A poll or leave may give everything up, committing what was handed out.
    void note_intents() {
        for (std::uint32_t p = 0; p < GroupCrowd::kPartitions; ++p) {
            if (current_[p] != kNone && !may_end_at(notes_[current_[p]], member_.position(p)))
                notes_[current_[p]].maybe.push_back(member_.position(p));
        }
    }

    void note_holdings() {
        for (std::uint32_t p = 0; p < GroupCrowd::kPartitions; ++p) {
            const std::uint32_t generation = member_.tenure(p).generation;
            if (generation == 0) {
                current_[p] = kNone;
            } else if (current_[p] == kNone || notes_[current_[p]].generation != generation) {
                const std::uint64_t start = member_.position(p);
                current_[p] = notes_.size();
                notes_.push_back({p, generation, false, start, start, start});
            }
        }
    }

    PollingMember<M> member_;
    std::vector<TenureHistory>& notes_;
    std::array<std::size_t, GroupCrowd::kPartitions> current_{kNone, kNone, kNone, kNone};
};

}  // namespace

std::vector<std::string> judge_tenures(const std::vector<TenureHistory>& all,
                                       const std::array<std::uint32_t, 4>& last_generation) {
    std::vector<std::string> faults;
    std::map<Key, const TenureHistory*> known;
    for (const TenureHistory& tenure : all) {
        if (!known.emplace(Key{tenure.partition, tenure.generation}, &tenure).second)
            faults.push_back(text_of(tenure) + "two owners");
        if (tenure.reset) continue;
        if (tenure.committed < tenure.start) faults.push_back(text_of(tenure) + "committed backwards");
        if (tenure.committed > tenure.handed_out) faults.push_back(text_of(tenure) + "committed what was not handed out");
    }
    for (const auto& [key, tenure] : known) {
        const auto before = known.find({key.first, key.second == 1 ? ~std::uint32_t{0} : key.second - 1});
        // the thread of the generation before may have died between its exchange and its note
        if (before == known.end() || tenure->reset) continue;
        if (!may_end_at(*before->second, tenure->start))
            faults.push_back(text_of(*tenure) + "began at " + std::to_string(tenure->start) + ", not where the one before ended");
        if (tenure->start < before->second->committed) faults.push_back(text_of(*tenure) + "began below an acknowledged commit");
    }
    for (std::uint32_t p = 0; p < last_generation.size(); ++p) {
        if (!known.contains({p, last_generation[p]})) faults.push_back("partition " + std::to_string(p) + ": its last owner is unknown");
    }
    return faults;
}

GroupCrowd::GroupCrowd(std::string name, bool gating, std::uint64_t first_offset)
    : name_(std::move(name)), seed_(seed_for(name_)), gating_(gating), first_offset_(first_offset) {
    GroupCreation<M> creation(plain_.groups, lives_->begin(99));
    group_ = creation.find_or_create("group", {.gating = gating, .lag_records_max = gating ? kRing + 4 : 0}, [&](std::uint32_t) { return first_offset; }, lives_->is_dead()).group;
    for (std::uint32_t p = 0; p < kPartitions; ++p) {
        plain_.set_end(p, gating ? first_offset : first_offset + kLogEnd);
        plain_.controls[p].log_start.store(first_offset, std::memory_order_release);
        plain_.controls[p].gate_floor.store(first_offset, std::memory_order_release);
    }
}

void GroupCrowd::run(std::uint64_t rounds_each) {
    const Watchdog watchdog(name_);
    for (std::uint32_t p = 0; p < kPartitions && first_generation != 0; ++p) {
        PartitionWord word = plain_.groups.word(group_.slot, p);
        PartitionWord to = word;
        to.generation = first_generation;
        plain_.groups.change_word(group_.slot, p, word, to);
    }
    histories_.resize(members + 2);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < members; ++i) threads.emplace_back([this, i, rounds_each] { be_member(i, rounds_each); });
    std::vector<std::thread> others;
    others.emplace_back([this] { be_operator(); });
    others.emplace_back([this] { be_keeper(); });
    if (gating_) others.emplace_back([this] { be_mover(); });
    for (std::thread& thread : threads) thread.join();
    done_.store(true, std::memory_order_release);
    for (std::thread& thread : others) thread.join();
    end();
}

void GroupCrowd::be_member(std::uint32_t index, std::uint64_t rounds) {
    std::minstd_rand random(static_cast<std::minstd_rand::result_type>(derive_seed(seed_, index)));
    Fate::mine().hold_up(derive_seed(seed_, 100 + index), 64);
    std::uint64_t client = lives_->begin(index);
    NotingMember member(plain_, group_, client, histories_[index]);
    for (std::uint64_t i = 0; i < rounds; ++i) {
        const std::uint32_t dies_after = random() % 1000 < deaths ? 1 + static_cast<std::uint32_t>(random() % 6) : 0;
        if (!member.round(random, dies_after, lives_->is_dead(), commits_)) {
            lives_->end(client);
            client = lives_->begin(index);
            std::destroy_at(&member);
            std::construct_at(&member, plain_, group_, client, histories_[index]);
            continue;
        }
        if (gating_ && member.last_commit.gates) check_gate(member.member(), member.last_commit);
        if (random() % 200 == 0) member.leave(0);
        if (wrong_evictions && random() % 100 == 0) {
            const SetWord seen = plain_.groups.set(group_.slot);
            evict(plain_.groups, group_.slot, seen, std::uint64_t{1} << random() % kShape.members_max);
        }
    }
    lives_->end(client);
}

// The gate holds from the answer on. The log start is read first: if the word then still shows the gate, it was there all
// the time, since only this member puts it back.
void GroupCrowd::check_gate(PollingMember<M>& member, const CommitItem& commit) {
    gates_.fetch_add(commit.let_go ? 1 : 0, std::memory_order_relaxed);  // relaxed: read after the threads ended
    const auto& control = plain_.controls[commit.tenure.partition];
    const std::uint64_t start = control.log_start.load(std::memory_order_acquire);
    const Standing now = member.membership().positions().standing(commit.tenure);
    if (start > commit.committed && now.held && now.gates && now.committed == commit.committed)
        passed_.fetch_add(1, std::memory_order_relaxed);  // relaxed: read after the threads ended
}

void GroupCrowd::be_operator() {
    std::minstd_rand random(static_cast<std::minstd_rand::result_type>(derive_seed(seed_, 200)));
    const GroupReset<M> reset(plain_.groups, group_);
    for (unsigned i = 0; i < resets && !done_.load(std::memory_order_acquire); ++i) {
        while (reset.begin(plain_.groups.set(group_.slot), true) == ResetStatus::changed) std::this_thread::yield();
        for (std::uint32_t p = 0; p < kPartitions; ++p) {
            const std::uint64_t target = first_offset_ + random() % kResetSpan;
            const ResetDone done = reset.set(p, target, plain_.controls[p].gate_floor);
            histories_[members].push_back({p, done.generation, true, target, target, target});
        }
        reset.finish();
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
    }
}

void GroupCrowd::be_keeper() {
    while (!done_.load(std::memory_order_acquire)) {
        evict_dead(plain_.groups, group_.slot, lives_->is_dead());
        free_member_slots(plain_.groups, group_.slot, lives_->is_dead());
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

// Publishes, and moves the log start behind it as far as the gates let it. Readers are faster at times, and let go at others.
void GroupCrowd::be_mover() {
    std::minstd_rand random(static_cast<std::minstd_rand::result_type>(derive_seed(seed_, 300)));
    Fate::mine().hold_up(derive_seed(seed_, 301), 8);
    std::uint32_t p = 0;
    while (!done_.load(std::memory_order_acquire)) {
        p = (p + 1) % kPartitions;
        partition_log::LogMemory<M> log;
        log.control = &plain_.controls[p];
        log.readers = reinterpret_cast<layout::ReaderBlock<M>*>(readers_.data());
        log.groups = {plain_.groups, p, true};
        const std::uint64_t end = log.control->log_end.load(std::memory_order_acquire) + random() % 8;
        log.control->log_end.store(end, std::memory_order_release);
        (void)partition_log::advance_start(log, std::max(first_offset_, end - std::min<std::uint64_t>(end, kRing)));
    }
}

/// Everybody else is gone: one more member gets everything, and knows the last generation of each partition.
void GroupCrowd::end() {
    std::minstd_rand random(1);
    evict_dead(plain_.groups, group_.slot, lives_->is_dead());
    NotingMember last(plain_, group_, lives_->begin(98), histories_[members + 1]);
    Fate::mine().hold_up(0, 0);
    std::array<std::uint32_t, kPartitions> generations{};
    std::atomic<std::uint64_t> uncounted{0};
    for (int i = 0; i < 3; ++i) last.round(random, 0, lives_->is_dead(), uncounted);
    for (std::uint32_t p = 0; p < kPartitions; ++p) generations[p] = last.member().tenure(p).generation;
    std::vector<TenureHistory> all;
    for (const auto& notes : histories_) all.insert(all.end(), notes.begin(), notes.end());
    if (!gating_) {
        faults_ = judge_tenures(all, generations);
    } else if (passed_.load(std::memory_order_acquire) != 0) {
        faults_.push_back("log_start passed a gate");
    }
    if (last.member().holdings() != kPartitions) faults_.push_back("the last member does not have everything");
    if (plain_.groups.set(group_.slot).members() != 1) faults_.push_back("dead members are left in the set");
    std::cout << name_ << ": " << all.size() << " tenures, " << commits() << " commits, " << returns() << " returns of gates\n";
}

}  // namespace ringmain::test
