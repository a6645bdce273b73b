// Scenarios of the client table: who has a slot, and who is told to be dead.
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "client_table/client_slot.hpp"
#include "explore/explored_memory.hpp"
#include "explore/scenario.hpp"

namespace ringmain::explore {

namespace {

using M = ExploredMemory;
using layout::ClientId;

constexpr std::uint32_t kSlots = 2;
constexpr unsigned kClients = 3;
constexpr unsigned kNobody = kThreadsMax;

// Two slots, the first of which a client had that is gone; and words in other files that name the clients.
struct Shared {
    std::array<layout::ClientEntry<M>, kSlots> entries;
    std::array<M::Atomic<std::uint64_t>, kClients> named;
    std::array<M::Atomic<std::uint64_t>, kClients> work;  // what each does as long as it lives, in no order
};

// Three processes take a slot each, as soon as there is one, and judge the others by the words that name them. Two of
// them may die anywhere.
class Clients : public Scenario {
public:
    Clients() : Scenario({.preemptions = 4, .stale = 2, .deaths = 2, .mortal = 7}, kClients) {
        share({memory_.data(), memory_.size()});
        for (auto& entry : shared().entries)
            keep_calm(&entry.pid, 4 * 8);
    }

    void set_up() override { shared().entries[0].incarnation.store(kGone.incarnation, std::memory_order_relaxed); }
    void begin() override {
        holders_ = {kNobody, kNobody};
        given_ = {{kGone.slot, kGone.incarnation}};
        ids_ = {};
    }
    void thread(unsigned index) override {
        judge_all(index);
        if (attach(index))
            judge_all(index);
    }
    // Who lives has his slot, and everybody else's is free.
    void finish() override {
        for (unsigned client = 0; client < kClients; ++client) {
            const ClientId id = ids_[client];
            if (id.incarnation != 0)
                require(is_proven_dead(id) == fell(client), "a client that ended lives, or one that lives ended");
        }
        for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
            const unsigned holder = holders_[slot];
            require(is_free(slot) == (holder == kNobody || fell(holder)), "a slot of the dead is not free");
        }
    }

private:
    static constexpr ClientId kGone{0, 1};

    [[nodiscard]] Shared& shared() noexcept { return *reinterpret_cast<Shared*>(memory_.data()); }
    [[nodiscard]] client_table::ClientSlot<M> slot_at(std::uint32_t slot) noexcept {
        return {shared().entries[slot], slot};
    }

    // The lock of a slot, as the kernel has it: its end is ordered before the next one's beginning.
    [[nodiscard]] bool is_free(std::uint32_t slot) const {
        for (;;) {
            const unsigned holder = holders_[slot];
            const bool ended = proven_dead(holder == kNobody ? who_asks() : holder);
            if (holder == holders_[slot])
                return holder == kNobody || ended;
        }
    }

    // Not dead in a thread. A question about him is a step, and orders nothing.
    [[nodiscard]] static unsigned who_asks() noexcept { return this_thread() < kClients ? this_thread() : 0; }

    bool attach(unsigned thread) {
        for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
            if (!is_free(slot))
                continue;
            holders_[slot] = thread;
            const ClientId id = slot_at(slot).take({}, 0);
            require(id.slot == slot && id.incarnation != 0, "a client has no name");
            require(given_.insert({id.slot, id.incarnation}).second, "two clients have one name");
            ids_[thread] = id;
            shared().named[thread].store(id.word(), std::memory_order_release);
            shared().work[thread].store(1, std::memory_order_relaxed);
            return true;
        }
        return false;
    }

    void judge_all(unsigned thread) {
        for (unsigned client = 0; client < kClients; ++client) {
            const std::uint64_t word = shared().named[client].load(std::memory_order_acquire);
            if (client != thread && word != 0)
                judge(client, ClientId::from_word(word));
        }
    }
    // Never by mistake; and if nobody has taken the slot since, always. The proof comes after all that the dead one
    // did.
    void judge(unsigned client, ClientId id) {
        const bool was_dead = fell(client);
        const bool told = is_proven_dead(id);
        require(!told || fell(client), "a client that lives is proven dead");
        M::Atomic<std::uint64_t>& work = shared().work[client];
        require(!told || work.load(std::memory_order_relaxed) == newest(&work),
                "what a client did that is proven dead is not seen");
        require(told || !was_dead || holders_[id.slot] != client, "a client that died is not proven dead");
    }
    [[nodiscard]] bool is_proven_dead(ClientId id) {
        return slot_at(id.slot).proven_dead(id.incarnation, [&] { return !is_free(id.slot); });
    }

    alignas(128) std::array<std::byte, (sizeof(Shared) + 127) / 128 * 128> memory_{};
    std::array<unsigned, kSlots> holders_{};
    std::set<std::pair<std::uint32_t, std::uint32_t>> given_;
    std::array<ClientId, kClients> ids_{};
};

const Registered clients{"clients.attach", [] { return std::make_unique<Clients>(); }};

}  // namespace

}  // namespace ringmain::explore
