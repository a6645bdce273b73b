// The state of one random sequence: a broker with one topic, a producer, a consumer, and the reference beside them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "model/operations.hpp"
#include "model/reference_log.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::test {

class SequenceRun {
public:
    explicit SequenceRun(const TopicOptions& options);

    /// Throws std::runtime_error, saying how the two differ.
    void apply(const Operation& operation);
    /// Everything that is left is read, and nothing is damaged.
    void finish();

private:
    void create();
    void publish(const Operation& operation);
    void publish_batch(const Operation& operation);
    void publish_loan(const Operation& operation);
    void poll(const Operation& operation);
    void visit();
    void seek(const Operation& operation);
    void gate(const Operation& operation);
    void reopen_consumer(const Operation& operation);
    void reopen_producer(const Operation& operation);
    void recreate();
    void look();

    [[nodiscard]] ReferenceRecord make_record(std::uint32_t number, std::uint32_t size);
    void compare_result(const ReferenceRecord& record, const PublishResult& result);
    void compare_content(std::uint32_t partition, std::uint64_t offset, const ReferenceRecord& record);
    void compare_gap(const Gap& gap);
    /// Takes over where the real log starts, if that is possible.
    void observe_starts();
    [[nodiscard]] std::set<std::uint64_t> gates(std::uint32_t partition) const;
    [[nodiscard]] bool may_block(std::uint32_t partition, bool large) const;
    [[nodiscard]] bool is_large(const ReferenceRecord& record) const { return record.bytes() > inline_max_; }

    ScratchDirectory directory_;
    Broker broker_;
    TopicOptions options_;
    std::uint64_t record_max_ = 0;
    std::uint64_t inline_max_ = 0;
    std::uint64_t batch_max_ = 0;
    std::vector<ReferenceLog> logs_;
    std::vector<std::uint64_t> positions_;
    std::vector<std::optional<std::uint64_t>> gates_;
    bool exclusive_ = false;
    std::optional<Producer> producer_;
    std::optional<Consumer> consumer_;
    std::uint32_t next_record_ = 0;
};

}  // namespace ringmain::test
