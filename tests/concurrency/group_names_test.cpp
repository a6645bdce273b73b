// Groups created, used and deleted by many at once: a name is one group at a time, and a group has one name.
#include <array>
#include <atomic>
#include <iostream>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "concurrency/crowd.hpp"
#include "concurrency/lives.hpp"
#include "concurrency/mortal_memory.hpp"
#include "concurrency/seed.hpp"
#include "concurrency/watchdog.hpp"
#include "group_table/listing.hpp"
#include "support/catch.hpp"
#include "support/plain_groups.hpp"

namespace ringmain::test {

namespace {

using namespace group_table;
using M = MortalMemory;

constexpr std::array<std::string_view, 3> kNames = {"alpha", "beta", "gamma"};

class Names {
public:
    Names() : lives_(std::make_unique<Lives>()) {}

    void run(std::uint64_t seed, std::uint64_t rounds) {
        std::vector<std::thread> threads;
        for (std::uint32_t i = 0; i < 4; ++i) threads.emplace_back([this, i, seed, rounds] { work(i, derive_seed(seed, i), rounds); });
        for (std::thread& thread : threads) thread.join();
        check_end();
    }

    [[nodiscard]] std::vector<std::string> faults() const { return faults_; }
    [[nodiscard]] std::size_t groups() const { return name_of_.size(); }

private:
    void work(std::uint32_t index, std::uint64_t seed, std::uint64_t rounds) {
        std::minstd_rand random(static_cast<std::minstd_rand::result_type>(seed));
        Fate::mine().hold_up(seed, 16);
        std::uint64_t client = lives_->begin(index);
        for (std::uint64_t i = 0; i < rounds; ++i) {
            const std::string_view name = kNames[random() % kNames.size()];
            const std::uint32_t dies_after = random() % 50 == 0 ? 1 + static_cast<std::uint32_t>(random() % 9) : 0;
            Found found;
            const bool alive = survives(dies_after, [&] { found = create(name, client); });
            if (alive && found.status <= FindStatus::created) {
                note(found.group, name);
                if (survives(dies_after, [&] { use(found.group, client, random() % 4 == 0); })) continue;
            } else if (alive) {
                continue;  // no slot is free at this moment
            }
            lives_->end(client);
            client = lives_->begin(index);
        }
        lives_->end(client);
    }

    template <class Work>
    static bool survives(std::uint32_t points, const Work& work) {
        if (points != 0) return Fate::mine().survives(points, work);
        work();
        return true;
    }

    Found create(std::string_view name, std::uint64_t client) {
        GroupCreation<M> creation(plain_.groups, client);
        return creation.find_or_create(name, {}, [](std::uint32_t) { return std::uint64_t{5}; }, lives_->is_dead());
    }

    void use(GroupRef group, std::uint64_t client, bool deletes) {
        PollingMember<M> member(plain_, group, client);
        if (member.join(lives_->is_dead()) == JoinStatus::joined) {
            member.poll();
            for (std::uint32_t p = 0; p < 2; ++p) {
                if (member.read(p, 3) != 0) (void)member.commit(p);
            }
            member.leave();
        }
        if (deletes) (void)delete_group(plain_.groups, group, true);
    }

    void note(GroupRef group, std::string_view name) {
        const std::lock_guard lock(mutex_);
        const auto [at, fresh] = name_of_.emplace(std::pair{group.slot, group.born}, name);
        if (!fresh && at->second != name) faults_.push_back("one group was found under two names");
    }

    void check_end() {
        Fate::mine().hold_up(0, 0);
        const std::uint64_t client = lives_->begin(9);
        for (const std::string_view name : kNames) {
            if (create(name, client).status > FindStatus::created) faults_.push_back("a slot was lost");
        }
        std::map<std::string, int> open;
        for (const GroupView& view : view_groups(plain_.groups)) ++open[view.name];
        if (open.size() != kNames.size()) faults_.push_back("a name is missing");
        for (const auto& [name, count] : open) {
            if (count != 1) faults_.push_back(name + " is " + std::to_string(count) + " groups");
        }
    }

    PlainGroups<M> plain_{{2, 5, 6, 0}};
    std::unique_ptr<Lives> lives_;
    std::mutex mutex_;
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::string_view> name_of_;
    std::vector<std::string> faults_;
};

}  // namespace

TEST_CASE("Groups that many create, join and delete at once are one for each name") {
    const Watchdog watchdog("group names");
    Names names;
    names.run(seed_for("group names"), scaled(8'000));
    CHECK(names.faults() == std::vector<std::string>{});
    std::cout << "group names: " << names.groups() << " groups\n";
    CHECK(names.groups() > 10);
}

}  // namespace ringmain::test
