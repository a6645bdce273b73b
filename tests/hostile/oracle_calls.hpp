// Every call that the structures offer, in random order, on memory that lies.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "gate_table/gate_table.hpp"
#include "hostile/oracle_memory.hpp"
#include "partition_log/doorbell.hpp"
#include "partition_log/exclusive_publisher.hpp"
#include "partition_log/named_publisher.hpp"
#include "partition_log/publisher.hpp"
#include "partition_log/reader.hpp"
#include "recovery/attachment.hpp"
#include "recovery/recovery.hpp"
#include "support/plain_log.hpp"

namespace ringmain::test {

class OracleCalls {
public:
    using M = OracleMemory;

    OracleCalls(const PlainShape& shape, std::uint64_t seed)
        : memory_(shape), log_(memory_.log), value_(kValueMax), copy_(log_.payload_bytes) {
        for (std::size_t i = 0; i < value_.size(); ++i)
            value_[i] = static_cast<std::byte>(seed + i);
        begin_publishers();
    }

    /// One call, chosen at random.
    void call();

private:
    static constexpr std::size_t kValueMax = 4096;
    static constexpr std::uint64_t kMe = (std::uint64_t{7} << 32) | 3;

    // What a liveness oracle says is not in shared memory, but may be anything.
    struct IsDead {
        bool operator()(std::uint64_t) const noexcept { return (Oracle::random() & 3) == 0; }
    };

    void begin_publishers();
    partition_log::RecordParts parts();
    void read();
    void close();
    void advance_start();
    void publish();
    void publish_batch();
    void publish_loan();
    void use_tickets();
    void publish_exclusively();
    void attach_shared();
    void attach_exclusive();
    void use(recovery::Attachment<M, IsDead>& attachment, const recovery::Attached& got);
    void recover();
    void claim_name();
    void publish_named();
    void seek();
    void delete_before();
    void use_gates();
    void use_doorbell();

    [[nodiscard]] static std::uint64_t below(std::uint64_t limit) noexcept { return Oracle::random() % limit; }
    /// Near the log's end more often than not.
    [[nodiscard]] std::uint64_t some_offset() const noexcept {
        return below(4) == 0 ? Oracle::random() : memory_.end() - below(3 * log_.records);
    }

    PlainLog<M> memory_;
    partition_log::LogMemory<M> log_;
    std::vector<std::byte> value_;
    std::vector<std::byte> copy_;
    std::optional<partition_log::SharedPublisher<M>> shared_;
    std::optional<partition_log::ExclusivePublisher<M>> exclusive_;
    std::optional<partition_log::NamedPublisher<M>> named_;
    std::uint32_t name_ = 0;  // the entry of named_
};

}  // namespace ringmain::test
