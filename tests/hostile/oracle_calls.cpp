// Calling everything. The calls' requirements towards their caller are kept; the memory keeps nothing.
#include "hostile/oracle_calls.hpp"

#include <cstdlib>

#include "hostile/oracle_run.hpp"
#include "partition_log/log_start.hpp"

namespace ringmain::test {

using partition_log::RecordParts;

void OracleCalls::begin_publishers() {
    const auto slot = static_cast<std::uint32_t>(below(log_.producer_slots));
    shared_.emplace(log_, slot, Oracle::random());
    exclusive_.emplace(log_, slot, Oracle::random());
}

void OracleCalls::call() {
    static constexpr OracleCall<OracleCalls> kCalls[] = {
        {"publish", &OracleCalls::publish},
        {"publish_batch", &OracleCalls::publish_batch},
        {"publish_loan", &OracleCalls::publish_loan},
        {"use_tickets", &OracleCalls::use_tickets},
        {"publish_exclusively", &OracleCalls::publish_exclusively},
        {"attach_shared", &OracleCalls::attach_shared},
        {"attach_exclusive", &OracleCalls::attach_exclusive},
        {"recover", &OracleCalls::recover},
        {"use_gates", &OracleCalls::use_gates},
        {"use_doorbell", &OracleCalls::use_doorbell},
        {"advance_start", &OracleCalls::advance_start},
        {"close", &OracleCalls::close},
        {"claim_name", &OracleCalls::claim_name},
        {"publish_named", &OracleCalls::publish_named},
        {"publish_named", &OracleCalls::publish_named},
        {"seek", &OracleCalls::seek},
        {"delete_before", &OracleCalls::delete_before},
        {"read", &OracleCalls::read},
        {"read", &OracleCalls::read},
        {"read", &OracleCalls::read},
    };
    run_some(*this, kCalls);
}

void OracleCalls::advance_start() {
    (void)partition_log::advance_start(log_, below(2) == 0 ? memory_.end() : Oracle::random());
}

void OracleCalls::close() { (void)partition_log::close_ticket(log_, some_offset()); }

RecordParts OracleCalls::parts() {
    RecordParts parts;
    parts.value = value_.data();
    parts.key = value_.data();
    parts.headers = value_.data();
    parts.value_bytes = static_cast<std::uint32_t>(below(3) == 0 ? below(kValueMax) : below(48));
    parts.flags = below(2) == 0 ? layout::kNullKey : 0;
    if (parts.flags == 0)
        parts.key_bytes = static_cast<std::uint16_t>(below(40));
    if (below(4) == 0) {
        parts.flags |= layout::kHasHeaders;
        parts.headers_bytes = static_cast<std::uint32_t>(below(100));
    }
    return parts;
}

void OracleCalls::read() {
    const std::uint64_t offset = some_offset();
    const partition_log::Reader<M> reader(log_);
    partition_log::RecordView view;
    if (reader.look(offset, view) == partition_log::Found::record) {
        // every byte that the view names is touched: inside the memory, or AddressSanitizer says so
        reader.copy_body(view, copy_.data());
        if (partition_log::split_body<M>(view)) {
            (void)partition_log::count_headers(view.headers(), view.headers_bytes);
            for (std::size_t i = 0; i < view.key_bytes; ++i)
                copy_[0] ^= view.key()[i];
        }
        (void)reader.valid(offset);
    }
    (void)reader.log_start();
    (void)reader.log_end();
}

void OracleCalls::publish() { (void)shared_->publish(parts()); }

void OracleCalls::publish_batch() {
    std::array<RecordParts, 9> batch;
    std::array<std::uint64_t, 9> offsets{};
    for (RecordParts& one : batch)
        one = parts();
    const auto published = shared_->publish_batch(std::span(batch).first(below(batch.size() + 1)), offsets);
    if (published.count > batch.size())
        std::abort();
}

void OracleCalls::publish_loan() {
    const RecordParts body = parts();
    const partition_log::Reserved reserved = shared_->bodies().reserve(body.length());
    if (reserved.status != Status::ok)
        return;
    shared_->bodies().pin();
    partition_log::write_body<M>(log_.payload + reserved.location, body);
    (void)shared_->publish(parts());
    const partition_log::Published published = shared_->publish_placed(body, reserved.location);
    shared_->bodies().unpin();
    if (published.status != Status::ok)
        shared_->bodies().give_back(reserved.location, body.length());
}

void OracleCalls::use_tickets() {
    const partition_log::Published ticket = shared_->take_ticket();
    if (ticket.status != Status::ok)
        return;
    if (below(2) == 0) {
        (void)shared_->commit_at(ticket.offset, parts());
    } else {
        shared_->give_up(ticket.offset);
    }
}

void OracleCalls::publish_exclusively() {
    if (below(2) == 0) {
        (void)exclusive_->publish(parts());
        return;
    }
    std::array<RecordParts, 9> batch;
    std::array<std::uint64_t, 9> offsets{};
    for (RecordParts& one : batch)
        one = parts();
    const auto published = exclusive_->publish_batch(batch, offsets);
    if (published.count > batch.size())
        std::abort();
}

void OracleCalls::attach_shared() {
    const IsDead is_dead;
    recovery::Attachment<M, IsDead> attachment(log_, kMe, is_dead);
    use(attachment, attachment.attach_shared());
}

void OracleCalls::attach_exclusive() {
    const IsDead is_dead;
    recovery::Attachment<M, IsDead> attachment(log_, kMe, is_dead);
    use(attachment, attachment.attach_exclusive());
}

void OracleCalls::use(recovery::Attachment<M, IsDead>& attachment, const recovery::Attached& got) {
    if (got.outcome != recovery::AttachOutcome::attached)
        return;
    if (got.slot >= log_.producer_slots)
        std::abort();
    shared_->bodies().seal();
    exclusive_->bodies().seal();
    shared_.emplace(log_, got.slot, got.generation);
    exclusive_.emplace(log_, got.slot, got.generation);
    if (below(2) == 0)
        return;
    attachment.give_back_lease();
    attachment.detach(got.slot);
}

void OracleCalls::recover() {
    const IsDead is_dead;
    std::uint64_t sealed = 0;
    bool waiting = false;
    (void)recovery::reap_producers(log_, is_dead, &sealed);
    (void)recovery::reap_gates(log_, is_dead);
    (void)recovery::recover_lease(log_, Oracle::random() >> below(64), is_dead);
    for (std::uint64_t i = 0; i < log_.records; ++i)
        (void)recovery::release_cell(log_, i, is_dead, waiting);
}

void OracleCalls::use_gates() {
    gate_table::GateTable<M> gates(log_.readers);
    (void)gates.lowest();
    if (const auto index =
            gates.claim(kMe, "a name that is longer than the sixty-three bytes that a gate has for its name")) {
        if (*index >= layout::kGatesMax)
            std::abort();
        (void)gates.hold(*index, some_offset(), log_.control->gate_floor);
        gates.move(*index, some_offset());
        if (gates.name(*index).size() > 64)
            std::abort();
        if (below(2) == 0)
            gates.drop(*index);
    }
    (void)gates.reap(static_cast<std::uint32_t>(below(layout::kGatesMax)), kMe);
}

void OracleCalls::use_doorbell() {
    partition_log::Doorbell<M> doorbell(*log_.readers);
    (void)doorbell.quiet();
    (void)doorbell.deleted();
    (void)doorbell.announce_sleeper();
    (void)doorbell.take_sleepers();
    doorbell.request_close(some_offset());
    doorbell.serve_close_request(log_);
}

}  // namespace ringmain::test
