// Capped rendezvous hashing without looking at every pair in order.
#include "assignment/assignment.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>

#include "ringmain/topic_options.hpp"

namespace ringmain::assignment {

namespace {

constexpr std::uint32_t kMembersMax = 64;

constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/// The best pair of a partition that has no member yet, among the members that are not full.
struct Pair {
    std::uint64_t hash;
    std::uint16_t partition;
    std::uint16_t member;  // index
};

// The pairs in order are the best pair of any partition, again and again. A partition's best pair is looked for anew only
// when its member turns out to be full: that is the same order, since nobody who is full gets room again.
class Assigner {
public:
    Assigner(std::span<const Candidate> members, std::span<std::uint8_t> owner) noexcept
        : members_(members),
          owner_(owner),
          share_(static_cast<std::uint32_t>(owner.size() / members.size())),
          extras_(static_cast<std::uint32_t>(owner.size() % members.size())) {}

    void run() noexcept {
        for (std::size_t p = 0; p < owner_.size(); ++p) push(static_cast<std::uint16_t>(p));
        while (count_ != 0) {
            std::pop_heap(heap_.begin(), heap_.begin() + count_, [this](const Pair& a, const Pair& b) { return before(b, a); });
            const Pair best = heap_[static_cast<std::size_t>(--count_)];
            if (full(best.member)) {
                push(best.partition);
                continue;
            }
            owner_[best.partition] = static_cast<std::uint8_t>(members_[best.member].slot);
            if (++load_[best.member] > share_) --extras_;
        }
    }

private:
    [[nodiscard]] bool full(std::uint32_t member) const noexcept {
        return load_[member] > share_ || (load_[member] == share_ && extras_ == 0);
    }

    [[nodiscard]] bool before(const Pair& a, const Pair& b) const noexcept {
        if (a.hash != b.hash) return a.hash < b.hash;
        if (a.partition != b.partition) return a.partition < b.partition;
        return members_[a.member].slot < members_[b.member].slot;
    }

    void push(std::uint16_t partition) noexcept {
        const std::uint64_t salt = mix(partition + std::uint64_t{0x9e3779b97f4a7c15});
        std::optional<Pair> best;
        for (std::size_t i = 0; i < members_.size(); ++i) {
            if (full(static_cast<std::uint32_t>(i))) continue;
            const Pair pair{mix(members_[i].key ^ salt), partition, static_cast<std::uint16_t>(i)};
            if (!best || before(pair, *best)) best = pair;
        }
        assert(best);  // partitions without a member are as many as the members have room for
        heap_[static_cast<std::size_t>(count_++)] = *best;
        std::push_heap(heap_.begin(), heap_.begin() + count_, [this](const Pair& a, const Pair& b) { return before(b, a); });
    }

    std::span<const Candidate> members_;
    std::span<std::uint8_t> owner_;
    std::uint32_t share_;
    std::uint32_t extras_;
    std::array<std::uint32_t, kMembersMax> load_{};
    std::array<Pair, kPartitionsMax> heap_;
    std::ptrdiff_t count_ = 0;
};

}  // namespace

void assign(std::span<const Candidate> members, std::span<std::uint8_t> owner) noexcept {
    if (members.empty() || members.size() > kMembersMax || owner.size() > kPartitionsMax) {
        std::fill(owner.begin(), owner.end(), kNobody);
        return;
    }
    Assigner(members, owner).run();
}

}  // namespace ringmain::assignment
