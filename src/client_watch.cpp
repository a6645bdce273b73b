// Who is attached to a broker directory, and when somebody of them has died.
#include "client_watch.hpp"

#include <algorithm>

namespace ringmain {

namespace {

// Slots are taken from the lowest on, so those behind the last one in use are looked at less often. One look in so many:
constexpr std::uint64_t kWholeTableEvery = 16;
constexpr std::uint32_t kSlotsBehind = 8;

}  // namespace

void ClientWatch::look(std::int64_t now_ns) {
    const bool came = note_newcomers();
    const bool due = somebody_ended_ || now_ns < probed_ns_ || now_ns - probed_ns_ >= kProbeNs;
    bool died = false;
    if (due || came) {  // a newcomer may be dead already
        somebody_ended_ = false;
        probed_ns_ = now_ns;
        died = probe();
    }
    if (looks_++ == 0 || died) ++deaths_;
    if (came || died) watch_the_living();
}

std::uint32_t ClientWatch::slots_to_look_at() noexcept {
    if (looks_ % kWholeTableEvery == 0) return layout::kClientsMax;
    return std::min<std::uint32_t>(static_cast<std::uint32_t>(seen_.size()) + kSlotsBehind, layout::kClientsMax);
}

/// Another client in the slot of one that lived is the proof that it died; so it is of those that had the slot in between.
bool ClientWatch::note_newcomers() {
    bool came = false;
    const std::uint32_t slots = slots_to_look_at();
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
        const auto client = clients_->last_of(slot);
        if (!client) continue;
        if (seen_.size() <= slot) seen_.resize(slot + 1);
        if (seen_[slot].incarnation == client->incarnation) continue;
        if (seen_[slot].alive || client->incarnation - seen_[slot].incarnation > 1) ++deaths_;
        seen_[slot] = {client->incarnation, true};
        came = true;
    }
    return came;
}

bool ClientWatch::probe() {
    bool died = false;
    alive_ = 0;
    for (std::uint32_t slot = 0; slot < seen_.size(); ++slot) {
        if (!seen_[slot].alive) continue;
        seen_[slot].alive = !clients_->proven_dead({slot, seen_[slot].incarnation});
        died |= !seen_[slot].alive;
        alive_ += seen_[slot].alive ? 1 : 0;
    }
    return died;
}

void ClientWatch::watch_the_living() {
    std::vector<platform::ProcessIdentity> living;
    for (std::uint32_t slot = 0; slot < seen_.size(); ++slot) {
        if (!seen_[slot].alive) continue;
        if (const auto details = clients_->details({slot, seen_[slot].incarnation})) living.push_back(details->process);
    }
    processes_.watch(living);
}

void ClientWatch::wait(std::chrono::nanoseconds timeout) noexcept {
    if (processes_.wait(timeout)) somebody_ended_ = true;
}

}  // namespace ringmain
