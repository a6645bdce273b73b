// The assignment: balanced to one, the same for everybody, and with few moves.
#include "assignment/assignment.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "ringmain/topic_options.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using assignment::assign;
using assignment::Candidate;

namespace {

using Owners = std::vector<std::uint8_t>;

Owners assigned(const std::vector<Candidate>& members, std::size_t partitions) {
    Owners owner(partitions);
    assign(members, owner);
    return owner;
}

std::vector<Candidate> draw_members(std::mt19937_64& random, std::uint32_t count) {
    std::vector<std::uint32_t> slots(64);
    for (std::uint32_t i = 0; i < 64; ++i) slots[i] = i;
    std::shuffle(slots.begin(), slots.end(), random);
    std::vector<Candidate> members;
    for (std::uint32_t i = 0; i < count; ++i) members.push_back({random(), slots[i]});
    return members;
}

std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// The definition itself: every pair, in order.
Owners by_definition(const std::vector<Candidate>& members, std::size_t partitions) {
    std::vector<std::tuple<std::uint64_t, std::size_t, std::uint32_t, std::size_t>> pairs;
    for (std::size_t p = 0; p < partitions; ++p) {
        for (std::size_t m = 0; m < members.size(); ++m) {
            pairs.emplace_back(mixed(members[m].key ^ mixed(p + 0x9e3779b97f4a7c15ULL)), p, members[m].slot, m);
        }
    }
    std::sort(pairs.begin(), pairs.end());
    Owners owner(partitions, assignment::kNobody);
    std::vector<std::size_t> load(members.size());
    std::size_t extras = partitions % members.size();
    for (const auto& [hash, p, slot, m] : pairs) {
        const std::size_t share = partitions / members.size();
        if (owner[p] != assignment::kNobody || load[m] > share || (load[m] == share && extras == 0)) continue;
        owner[p] = static_cast<std::uint8_t>(slot);
        if (++load[m] > share) --extras;
    }
    return owner;
}

// Partitions that change their owner when one of n leaves, beside nothing: on average over 12 draws.
double moves(std::uint32_t partitions, std::uint32_t n) {
    std::mt19937_64 random(7);
    double sum = 0;
    for (int draw = 0; draw < 12; ++draw) {
        std::vector<Candidate> members = draw_members(random, n);
        const Owners before = assigned(members, partitions);
        members.pop_back();
        const Owners after = assigned(members, partitions);
        for (std::size_t p = 0; p < partitions; ++p) sum += before[p] != after[p] ? 1 : 0;
    }
    return sum / 12;
}

}  // namespace

TEST_CASE("the assignment gives every partition a member and is balanced to one") {
    std::mt19937_64 random(1);
    for (std::uint32_t round = 0; round < 300; ++round) {
        const auto count = static_cast<std::uint32_t>(1 + random() % 64);
        const std::size_t partitions = 1 + random() % 200;
        const auto members = draw_members(random, count);
        std::map<std::uint8_t, std::size_t> load;
        for (const Candidate& member : members) load[static_cast<std::uint8_t>(member.slot)] = 0;
        for (const std::uint8_t slot : assigned(members, partitions)) {
            REQUIRE(load.contains(slot));
            ++load[slot];
        }
        for (const auto& [slot, partitions_of] : load) {
            CHECK(partitions_of >= partitions / count);
            CHECK(partitions_of <= (partitions + count - 1) / count);
        }
    }
}

TEST_CASE("the assignment is what its definition says, and does not depend on the order of the members") {
    std::mt19937_64 random(2);
    for (std::uint32_t round = 0; round < 300; ++round) {
        auto members = draw_members(random, static_cast<std::uint32_t>(1 + random() % 64));
        if (round % 3 == 0) members[0].key = members[members.size() / 2].key;  // a collision of two names' hashes
        const std::size_t partitions = 1 + random() % 100;
        const Owners owner = assigned(members, partitions);
        CHECK(owner == by_definition(members, partitions));
        std::shuffle(members.begin(), members.end(), random);
        CHECK(assigned(members, partitions) == owner);
    }
}

TEST_CASE("the assignment of known members is the one of layout::kAssignmentVersion 1") {
    // a change here makes members of two builds disagree: it needs a new kAssignmentVersion
    const std::vector<Candidate> members = {{1, 0}, {2, 1}, {3, 5}};
    CHECK(assigned(members, 8) == by_definition(members, 8));
    CHECK(assigned(members, 8) == Owners{1, 1, 5, 0, 5, 1, 5, 0});
}

TEST_CASE("a member that leaves moves few partitions beside its own") {
    CHECK(moves(64, 8) <= 13);   // 8 are its own
    CHECK(moves(64, 16) <= 12);  // 4
    CHECK(moves(12, 3) <= 6);    // 4
    CHECK(moves(64, 64) <= 6);   // 1
}

TEST_CASE("without members nobody gets anything, and a lone member gets all") {
    CHECK(assigned({}, 3) == Owners(3, assignment::kNobody));
    CHECK(assigned({{9, 63}}, kPartitionsMax) == Owners(kPartitionsMax, 63));
    std::vector<Candidate> all;
    for (std::uint32_t i = 0; i < 64; ++i) all.push_back({i, i});
    Owners owner = assigned(all, kPartitionsMax);
    for (std::uint8_t slot = 0; slot < 64; ++slot) CHECK(std::count(owner.begin(), owner.end(), slot) == kPartitionsMax / 64);
}
