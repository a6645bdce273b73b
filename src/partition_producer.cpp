// Attaching to a partition, detaching from it, and what a producer owes sleepers and readers.
#include "partition_producer.hpp"

#include <cerrno>
#include <string>

#include "damage.hpp"
#include "error_about.hpp"
#include "gate_table/gate_table.hpp"
#include "group_table/shared_text.hpp"
#include "platform/barrier.hpp"
#include "platform/futex.hpp"
#include "platform/system_failure.hpp"
#include "recovery/attachment.hpp"
#include "recovery/named_attachment.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

auto death_oracle(const Broker::Impl& broker) noexcept {
    return [&broker](std::uint64_t owner) noexcept { return broker.clients().proven_dead_word(owner); };
}

std::string client_text(const Broker::Impl& broker, std::uint64_t owner) {
    return to_string(broker.clients().describe(layout::ClientId::from_word(layout::client_of(owner))));
}

std::string holder_text(const Broker::Impl& broker, const PartitionProducer::Log& log, std::uint32_t slot) {
    const std::uint64_t owner = slot < log.producer_slots ? log.producers[slot].owner.load(std::memory_order_acquire) : 0;  // acquire ENTRY
    if (owner == 0) return "a producer that has just left";
    return client_text(broker, owner);
}

[[noreturn]] void refuse(const Broker::Impl& broker, const TopicFiles& topic, std::uint32_t partition,
                         const PartitionProducer::Log& log, const recovery::Attached& attached) {
    const std::string object = partition_text(topic.name(), partition);
    switch (attached.outcome) {
        case recovery::AttachOutcome::exclusive:
            throw error_about(ErrorCode::busy, object,
                        "is held exclusively by " + holder_text(broker, log, attached.slot) + "; no other producer can attach");
        case recovery::AttachOutcome::shared:
            throw error_about(ErrorCode::busy, object,
                        "cannot be opened exclusively: a shared producer is attached, " + holder_text(broker, log, attached.slot));
        case recovery::AttachOutcome::corrupt: {
            const partition_log::ControlCheck check = partition_log::check_control(log);
            throw error_about(ErrorCode::corrupt, object,
                        check.sound() ? "has cells beyond its log end " + std::to_string(check.end) + "; run 'ringmain verify'"
                                      : "is damaged: " + to_text(check, log.first_offset) + "; run 'ringmain verify'");
        }
        default:
            throw error_about(ErrorCode::limit, object,
                        "is full: all " + std::to_string(log.producer_slots) + " producer slots belong to live producers");
    }
}

[[noreturn]] void refuse_name(const Broker::Impl& broker, const std::string& object, std::string_view name,
                              const recovery::ClaimedName& claimed) {
    const std::string who = "producer name '" + std::string(name) + "' ";
    switch (claimed.outcome) {
        case recovery::NameOutcome::held:
            throw error_about(ErrorCode::busy, object,
                        who + "belongs to " + (claimed.holder == 0 ? std::string("a producer that has just left") : client_text(broker, claimed.holder)) +
                            "; another one can have it when that process has ended, not while it is stopped");
        case recovery::NameOutcome::collision:
            throw error_about(ErrorCode::invalid_argument, object, who + "has the same id as another name there; choose a different one");
        case recovery::NameOutcome::corrupt:
            throw error_about(ErrorCode::corrupt, object, who + "has an entry that contradicts the log; run 'ringmain verify'");
        default:
            throw error_about(ErrorCode::limit, object,
                        who + "has no room: " + std::to_string(layout::kProducerNamesMax) + " other names were used there, and names stay");
    }
}

}  // namespace

PartitionProducer::PartitionProducer(std::shared_ptr<Broker::Impl> broker, std::shared_ptr<const TopicFiles> topic,
                                     std::uint32_t partition, bool exclusive, std::string_view name)
    : broker_(std::move(broker)),
      topic_(std::move(topic)),
      partition_(partition),
      owner_(broker_->client().word()),
      mapping_(topic_->map_partition(partition, platform::Access::read_write)),
      log_(topic_->log_in(mapping_, partition)),
      doorbell_(*log_.readers),
      full_fence_(!platform::register_for_barriers()) {
    if (!topic_->readers_writable()) {
        // to wake sleeping consumers
        throw platform::system_failure("write", readers_path(topic_->directory()), EACCES);
    }
    mapping_.on_truncation(replace_log, &doorbell_);
    topic_->check_whole(mapping_, partition_);
    take_back_damage(*log_.readers);  // its file is sound
    attach(exclusive);
    try {
        if (!name.empty()) claim_name(name);
        topic_->check_whole(mapping_, partition_);
    } catch (...) {
        detach();
        throw;
    }
}

void PartitionProducer::attach(bool exclusive) {
    const auto is_dead = death_oracle(*broker_);
    recovery::Attachment attachment(log_, owner_, is_dead);
    const recovery::Attached attached = exclusive ? attachment.attach_exclusive() : attachment.attach_shared();
    if (attached.outcome != recovery::AttachOutcome::attached) refuse(*broker_, *topic_, partition_, log_, attached);
    slot_ = attached.slot;
    if (exclusive) {
        exclusive_.emplace(log_, attached.slot, attached.generation);
    } else {
        shared_.emplace(log_, attached.slot, attached.generation);
    }
}

void PartitionProducer::claim_name(std::string_view name) {
    const auto is_dead = death_oracle(*broker_);
    recovery::NamedAttachment attachment(log_, owner_, is_dead);
    const recovery::ClaimedName claimed = attachment.claim(name, producer_id(name));
    if (claimed.outcome != recovery::NameOutcome::claimed) refuse_name(*broker_, partition_text(topic_->name(), partition_), name, claimed);
    named_entry_ = claimed.entry;
    named_.emplace(log_, log_.named[claimed.entry]);
}

void PartitionProducer::detach() noexcept {
    const auto is_dead = death_oracle(*broker_);
    recovery::Attachment attachment(log_, owner_, is_dead);
    bodies().seal();
    if (exclusive_) attachment.give_back_lease();
    attachment.detach(slot_);
    if (named_) recovery::NamedAttachment(log_, owner_, is_dead).give_back(named_entry_);
}

bool PartitionProducer::revive(const platform::Mapping& now) noexcept {
    if (lost() || now.identity() != mapping_.identity()) return false;
    take_back_damage(*log_.readers);
    return true;
}

PartitionProducer::~PartitionProducer() {
    // nothing is given back in a file that may end before the slot
    if (!broker_->fork_guard().forked() && !doorbell_.damaged()) detach();
}

partition_log::Published PartitionProducer::publish_named(const partition_log::RecordParts& parts, std::uint64_t sequence) noexcept {
    return after(shared_ ? named_->publish(*shared_, parts, sequence) : named_->publish(*exclusive_, parts, sequence));
}

partition_log::Published PartitionProducer::publish_named_placed(const partition_log::RecordParts& parts,
                                                                 partition_log::Location location, std::uint64_t sequence) noexcept {
    return after(shared_ ? named_->publish_placed(*shared_, parts, location, sequence)
                         : named_->publish_placed(*exclusive_, parts, location, sequence));
}

bool PartitionProducer::commit_at(std::uint64_t ticket, const partition_log::RecordParts& parts, partition_log::Location location) noexcept {
    Memory::fence(std::memory_order_seq_cst);  // seq_cst: the caller has named the ticket; before the look at log_start
    const bool committed = shared_->commit_unless_passed(ticket, parts, location);
    return after({Status::ok, ticket}).status == Status::ok && committed;
}

void PartitionProducer::give_up(std::uint64_t ticket) noexcept {
    shared_->give_up(ticket);
    (void)after({Status::ok, ticket});  // who waits for the ticket goes on
}

partition_log::BatchPublished PartitionProducer::publish_batch(std::span<const partition_log::RecordParts> parts,
                                                               std::span<std::uint64_t> offsets) noexcept {
    partition_log::BatchPublished published =
        shared_ ? shared_->publish_batch(parts, offsets) : exclusive_->publish_batch(parts, offsets);
    if (full_fence_) [[unlikely]] Memory::fence(std::memory_order_seq_cst);  // as in after
    if (doorbell_.quiet()) [[likely]] return published;
    published.status = answer_doorbell(published.status);
    if (lost()) [[unlikely]] published.count = 0;
    return published;
}

Status PartitionProducer::answer_doorbell(Status status) noexcept {
    if (lost()) [[unlikely]] return Status::corrupt;
    doorbell_.answer(log_, [this] { platform::futex_wake_all(*doorbell_.futex_word()); });
    return status;
}

std::uint64_t PartitionProducer::reap_gates() noexcept {
    return recovery::reap_gates<Memory>(log_, death_oracle(*broker_));
}

std::optional<GateDescription> PartitionProducer::lowest_gate() const {
    const gate_table::GateTable<Memory> gates(log_.readers);
    const gate_table::LowestGate lowest = gates.lowest();
    const group_table::LowestGroup group = log_.groups.lowest();
    if (group.slot && (!lowest.index || group.offset < lowest.offset)) {
        const auto& slot = log_.groups.groups().group(*group.slot);
        // acquire GROUP_FIELD
        return GateDescription{group_table::read_text(slot.name, slot.name_length.load(std::memory_order_acquire)), group.offset, {}, true};
    }
    if (!lowest.index) return std::nullopt;
    GateDescription gate{gates.name(*lowest.index), lowest.offset, {}, false};
    if (const std::uint64_t owner = gates.owner(*lowest.index); owner != 0) {
        gate.holder = broker_->clients().describe(layout::ClientId::from_word(layout::client_of(owner)));
    }
    return gate;
}

}  // namespace ringmain
