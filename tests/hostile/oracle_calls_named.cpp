// Calling everything about names, and about places in a log.
#include <cstdlib>
#include <string>

#include "hostile/oracle_calls.hpp"
#include "partition_log/log_start.hpp"
#include "recovery/named_attachment.hpp"
#include "seek.hpp"

namespace ringmain::test {

void OracleCalls::claim_name() {
    static constexpr std::array kNames = {"a", "b", "a name that is longer than a word"};
    const std::string_view name = kNames[below(kNames.size())];
    const IsDead is_dead;
    recovery::NamedAttachment<M, IsDead> attachment(log_, kMe, is_dead);
    if (named_ && below(2) == 0) {
        named_.reset();
        attachment.give_back(name_);
    }
    const recovery::ClaimedName claimed = attachment.claim(name, below(8) == 0 ? Oracle::random() | 1 : name.size());
    if (claimed.outcome != recovery::NameOutcome::claimed)
        return;
    if (claimed.entry >= layout::kProducerNamesMax)
        std::abort();
    name_ = claimed.entry;
    named_.emplace(log_, log_.named[claimed.entry]);
}

void OracleCalls::publish_named() {
    if (!named_)
        return;
    partition_log::RecordParts record = parts();
    const std::uint64_t sequence = below(8) == 0 ? Oracle::random() : named_->last() + below(3);
    record.flags |= layout::kHasStamp;
    (void)(below(3) == 0 ? named_->publish(*exclusive_, record, sequence)
                         : named_->publish(*shared_, record, sequence));
}

void OracleCalls::seek() {
    const partition_log::Reader<M> reader(log_);
    const Position positions[] = {Position::earliest(), Position::latest(), Position::at(some_offset()),
                                  Position::last(below(40)),
                                  Position::since(static_cast<std::int64_t>(Oracle::random() >> below(64)))};
    (void)resolve(reader, positions[below(std::size(positions))], log_.records + log_.slack);
    (void)reader.is_decided(some_offset());
    (void)partition_log::check_control(log_);
    (void)partition_log::end_is_taken(log_);
    (void)partition_log::no_room_status(log_);
}

void OracleCalls::delete_before() {
    (void)partition_log::delete_before(log_, below(2) == 0 ? memory_.end() : Oracle::random());
}

}  // namespace ringmain::test
