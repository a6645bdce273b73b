// The others: what they do while a victim is stopped or dead, and what must be left of it in the end.
#include "crash/step_world.hpp"

#include <time.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace ringmain::crash {

namespace {

constexpr std::uint64_t owner_of(std::uint32_t client) { return std::uint64_t{1} << 32 | client; }

std::uint64_t cpu_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

Actor actor(std::uint32_t writer) {
    Actor actor;
    actor.writer = writer;
    actor.owner = owner_of(writer);
    return actor;
}

}  // namespace

bool IsDead::operator()(std::uint64_t owner) const noexcept {
    return std::find(dead->begin(), dead->end(), owner) != dead->end();
}

std::size_t world_bytes(const test::PlainShape& shape) { return test::plain_bytes(shape) + layout::kPageBytes; }

World::World(std::byte* base, const test::PlainShape& shape, std::size_t value_bytes_wanted)
    : log(test::plain_view<Host>(base, shape)),
      value_bytes(value_bytes_wanted),
      me(actor(1)),
      victims{actor(2), actor(3)},
      sleeper(actor(4)),
      ledger(log) {
    auto* report = reinterpret_cast<Report*>(base + test::plain_bytes(shape));
    reports = {report, report + 1};
    test::format_plain(log);
}

bool World::attach(Actor& who) {
    who.slot = recovery::Attachment(log, who.owner, is_dead()).attach_shared();
    if (who.slot.outcome != recovery::AttachOutcome::attached)
        return false;
    who.shared.emplace(log, who.slot.slot, who.slot.generation);
    return true;
}

bool World::attach_exclusive(Actor& who) {
    who.slot = recovery::Attachment(log, who.owner, is_dead()).attach_exclusive();
    if (who.slot.outcome != recovery::AttachOutcome::attached)
        return false;
    who.exclusive.emplace(log, who.slot.slot, who.slot.generation);
    return true;
}

void World::begin_gate() {
    reader_gate = gates().claim(owner_of(7), "reader");
    gates().hold(*reader_gate, ledger.next(), log.control->gate_floor);
}

Status World::publish() {
    const std::uint64_t id = record_id(me.writer, me.sequence + 1);
    const std::string value = record_value(id, value_bytes);
    const partition_log::Published published = me.shared->publish(test::parts_of(value));
    if (published.status != Status::ok)
        return published.status;
    ++me.sequence;
    ledger.published(id, published.offset);
    return Status::ok;
}

void World::publish_many(int count) {
    for (int i = 0; i < count; ++i) {
        if (publish() != Status::ok)
            ++ledger.faults().stuck;
    }
}

void World::read() {
    ledger.read_on(log);
    if (reader_gate)
        gates().move(*reader_gate, ledger.next());
}

bool World::go_on(std::uint64_t records) {
    constexpr int kRefusalsMax = 3;
    int refusals = 0;
    for (std::uint64_t done = 0; done < records;) {
        const std::uint64_t begun = cpu_ns();
        const bool published = !me.shared || publish() == Status::ok;
        read();
        longest_ns = std::max(longest_ns, cpu_ns() - begun);
        refusals = published ? 0 : refusals + 1;
        if (refusals > kRefusalsMax)
            return false;
        done += published ? 1 : 0;
        if (done % 8 == 0)
            ledger.read_again(log);
    }
    return true;
}

void World::keep_house() {
    recovery::reap_producers(log, is_dead());
    for (std::uint32_t i = 0; i < layout::kGatesMax; ++i) {
        const std::uint64_t owner = gates().owner(i);
        if (owner != 0 && is_dead()(layout::client_of(owner)))
            gates().reap(i, owner);
    }
    for (std::uint64_t i = 0; i < log.records; ++i) {
        bool waiting = false;
        recovery::release_cell(log, i, is_dead(), waiting);
    }
}

std::uint64_t World::left_behind() const {
    std::uint64_t left = 0;
    for (std::uint64_t i = 0; i < log.records; ++i) {
        const std::uint64_t word = log.cell_at(i).word.load(std::memory_order_acquire);
        left += partition_log::state_of(word) == partition_log::CellState::quarantined ? 1 : 0;
    }
    for (std::uint32_t i = 0; i < log.extent_count; ++i) {
        const std::uint64_t word = log.extents[i].word.load(std::memory_order_acquire);
        if (partition_log::extent_state(word) != partition_log::ExtentState::owned)
            continue;
        left += me.shared && word == partition_log::owned_extent(me.slot.slot, me.slot.generation) ? 0 : 1;
    }
    for (std::uint32_t slot = 0; slot < log.producer_slots; ++slot) {
        const std::uint64_t owner = log.producers[slot].owner.load(std::memory_order_acquire);
        left += owner != 0 && owner != me.owner ? 1 : 0;
    }
    for (std::uint32_t i = 0; i < layout::kGatesMax; ++i) {
        const bool readers = reader_gate == i;
        left += !readers && gates().owner(i) != 0 ? 1 : 0;
    }
    left += log.control->lease.load(std::memory_order_acquire) != 0 ? 1 : 0;
    return left;
}

void load(const World& world, Actor& victim, std::uint32_t count) {
    auto values = std::make_shared<std::vector<std::string>>();
    for (std::uint32_t i = 1; i <= count; ++i) {
        values->push_back(record_value(record_id(victim.writer, victim.sequence + i), world.value_bytes));
    }
    victim.parts.clear();
    for (const std::string& value : *values)
        victim.parts.push_back(test::parts_of(value));
    victim.values = std::move(values);
}

void publish_loaded(Actor& victim, Report& report) {
    const auto note = [&](Status status, std::size_t count) {
        report.published = static_cast<std::uint32_t>(count);
        report.status = status;
    };
    const std::span<std::uint64_t> offsets(report.offsets.data(), victim.parts.size());
    if (victim.parts.size() > 1) {
        if (victim.shared) {
            const auto answer = victim.shared->publish_batch(victim.parts, offsets);
            note(answer.status, answer.count);
        } else {
            const auto answer = victim.exclusive->publish_batch(victim.parts, offsets);
            note(answer.status, answer.count);
        }
        return;
    }
    const auto answer =
        victim.shared ? victim.shared->publish(victim.parts[0]) : victim.exclusive->publish(victim.parts[0]);
    offsets[0] = answer.offset;
    note(answer.status, answer.status == Status::ok ? 1 : 0);
}

}  // namespace ringmain::crash
