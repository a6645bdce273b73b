// What a named producer, the others and its successors do.
#include "crash/named_stage.hpp"

#include <algorithm>
#include <cstring>

namespace ringmain::crash {

namespace {

constexpr std::uint64_t kPlainClient = 1;
constexpr std::uint32_t kVictimClient = 2;

std::uint64_t owner_of(std::uint64_t client) { return std::uint64_t{1} << 32 | client; }

partition_log::RecordParts stamped(NamedProducer& who, std::uint64_t sequence) {
    std::memcpy(who.stamp.data(), &kNameId, sizeof kNameId);
    std::memcpy(who.stamp.data() + sizeof kNameId, &sequence, sizeof sequence);
    partition_log::RecordParts parts = test::parts_of(who.value);
    parts.headers = who.stamp.data();
    parts.flags |= layout::kHasStamp;
    return parts;
}

// The sequence of the record at an offset, if it is there and stamped.
std::uint64_t sequence_at(const Log& log, std::uint64_t offset) {
    const partition_log::Reader<Host> reader(log);
    partition_log::RecordView view;
    if (reader.look(offset, view) != partition_log::Found::record || (view.flags & layout::kHasStamp) == 0)
        return 0;
    std::uint64_t sequence = 0;
    std::memcpy(&sequence, view.headers() + view.headers_bytes + sizeof kNameId, sizeof sequence);
    return sequence;
}

}  // namespace

test::PlainShape plain_shape(const NamedShape& shape) {
    test::PlainShape plain;
    plain.block = shape.block;
    plain.first_offset = shape.first_offset;
    return plain;
}

std::size_t NamedStage::bytes(const NamedShape& shape) { return test::plain_bytes(plain_shape(shape)) + layout::kPageBytes; }

NamedStage::NamedStage(std::byte* base, const NamedShape& wanted)
    : shape(wanted),
      log(test::plain_view<Host>(base, plain_shape(wanted))),
      done(reinterpret_cast<std::atomic<std::uint32_t>*>(base + test::plain_bytes(plain_shape(wanted)))) {
    test::format_plain(log);
    if (!shape.exclusive)
        attach_plain();
    attach(victim, kVictimClient);
    for (std::uint64_t i = 1; i <= shape.before; ++i) {
        if (publish(victim, i) == Status::ok)
            last = i;
        if (plain)
            publish_plain(1);
    }
}

recovery::NameOutcome NamedStage::attach(NamedProducer& who, std::uint32_t client) {
    who.owner = owner_of(client);
    who.value = std::string(shape.value_bytes, static_cast<char>('a' + client));
    const IsDead dead_ones = is_dead();
    recovery::Attachment attachment(log, who.owner, dead_ones);
    who.slot = shape.exclusive ? attachment.attach_exclusive() : attachment.attach_shared();
    if (who.slot.outcome != recovery::AttachOutcome::attached)
        return recovery::NameOutcome::held;
    const recovery::ClaimedName claimed = recovery::NamedAttachment(log, who.owner, dead_ones).claim("stage", kNameId);
    if (claimed.outcome != recovery::NameOutcome::claimed) {
        if (shape.exclusive)
            attachment.give_back_lease();
        attachment.detach(who.slot.slot);
        return claimed.outcome;
    }
    who.entry = claimed.entry;
    who.named.emplace(log, log.named[claimed.entry]);
    if (shape.exclusive)
        who.exclusive.emplace(log, who.slot.slot, who.slot.generation);
    else
        who.shared.emplace(log, who.slot.slot, who.slot.generation);
    return claimed.outcome;
}

void NamedStage::attach_plain() {
    const IsDead dead_ones = is_dead();
    plain_slot = recovery::Attachment(log, owner_of(kPlainClient), dead_ones).attach_shared();
    if (plain_slot.outcome == recovery::AttachOutcome::attached)
        plain.emplace(log, plain_slot.slot, plain_slot.generation);
}

Status NamedStage::publish(NamedProducer& who, std::uint64_t sequence) {
    const partition_log::RecordParts parts = stamped(who, sequence);
    return (who.shared ? who.named->publish(*who.shared, parts, sequence)
                       : who.named->publish(*who.exclusive, parts, sequence))
        .status;
}

bool NamedStage::publish_plain(std::uint64_t records) {
    if (!plain)
        return false;
    bool good = true;
    for (std::uint64_t i = 0; i < records; ++i)
        good = plain->publish(test::parts_of("plain")).status == Status::ok && good;
    return good;
}

void NamedStage::look() {
    const std::uint64_t end = log.control->log_end.load(std::memory_order_acquire) + 1;  // an exclusive one is behind its commit
    for (std::uint64_t offset = std::max(log.first_offset, end - std::min(end, log.records)); offset < end; ++offset)
        last = std::max(last, sequence_at(log, offset));
}

std::uint64_t NamedStage::wrong_successor(std::uint32_t client) {
    NamedProducer successor;
    if (attach(successor, client) != recovery::NameOutcome::claimed)
        return 1;
    std::uint64_t wrong = successor.named->last() == last ? 0 : 1;
    if (last != 0)
        wrong += publish(successor, last) == Status::duplicate ? 0 : 1;
    wrong += publish(successor, last + 1) == Status::ok ? 0 : 1;
    return wrong;
}

}  // namespace ringmain::crash
