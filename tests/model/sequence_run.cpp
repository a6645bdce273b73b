// The operations of a random sequence on what producers share: publishing, reopening, deleting.
#include "model/sequence_run.hpp"

#include <stdexcept>

#include "model/real_record.hpp"
#include "ringmain/partitioner.hpp"

namespace ringmain::test {

namespace {

constexpr const char* kTopic = "model";
constexpr std::uint32_t kBatchMax = 48;

}  // namespace

void require(bool holds, const std::string& what) {
    if (!holds)
        throw std::runtime_error(what);
}

SequenceRun::SequenceRun(const TopicOptions& options)
    : broker_(directory_.broker(), Broker::Mode::open_or_create), options_(options) {
    create();
}

void SequenceRun::create() {
    const TopicDescription topic = broker_.create_topic(kTopic, options_);
    record_max_ = topic.record_bytes_max;
    inline_max_ = topic.inline_bytes_max;
    batch_max_ = topic.batch_records_max;
    ReferenceLog log;
    log.records = options_.records;
    log.slack = batch_max_ * options_.producer_slots;
    log.chunk = std::max<std::uint64_t>(1, options_.records / 64);
    log.block = options_.when_full == WhenFull::block;
    log.first = log.start = log.start_min = log.start_max = log.end = options_.first_offset;
    logs_.assign(options_.partitions, log);
    positions_.assign(options_.partitions, options_.first_offset);
    gates_.assign(options_.partitions, std::nullopt);
    consumer_.emplace(broker_);
    consumer_->assign(kTopic);
    producer_.emplace(broker_, kTopic, ProducerOptions{.exclusive = exclusive_});
}

void SequenceRun::apply(const Operation& operation) {
    switch (operation.action) {
        case Action::publish:
            return publish(operation);
        case Action::batch:
            return publish_batch(operation);
        case Action::loan:
            return publish_loan(operation);
        case Action::poll:
            return poll(operation);
        case Action::visit:
            return visit();
        case Action::seek:
            return seek(operation);
        case Action::gate:
            return gate(operation);
        case Action::reopen_consumer:
            return reopen_consumer(operation);
        case Action::reopen_producer:
            return reopen_producer(operation);
        case Action::recreate:
            return recreate();
        case Action::keep: {
            Keeper keeper(broker_);
            require(keeper.do_work(std::chrono::seconds(operation.a)).reaped_producers == 0,
                    "the keeper reaped a living producer");
            return;
        }
        case Action::look:
            return look();
        case Action::count:
            return;
    }
}

std::set<std::uint64_t> SequenceRun::gates(std::uint32_t partition) const {
    return gates_[partition] ? std::set<std::uint64_t>{*gates_[partition]} : std::set<std::uint64_t>{};
}

/// Extents of a gated block log may be full before its cells are.
bool SequenceRun::may_block(std::uint32_t partition, bool large) const {
    return large && logs_[partition].block && gates_[partition];
}

/// Small, large and too large ones; null, empty and filled; timestamps that grow.
ReferenceRecord SequenceRun::make_record(std::uint32_t number, std::uint32_t size) {
    ReferenceRecord record;
    const auto text = [this](std::uint64_t bytes) {
        std::string filled(bytes, '\0');
        for (std::size_t i = 0; i < filled.size(); ++i)
            filled[i] = static_cast<char>(next_record_ + i * 7);
        return filled;
    };
    if (number % 3 != 0)
        record.key = text(number / 3 % 4 == 0 ? 0 : number / 3 % 40);
    switch (size % 16) {
        case 0:
            break;  // null
        case 1:
            record.value = "";
            break;
        case 2:
            record.value = text(record_max_ + size / 16 % 3);
            break;  // just fits without key, or too large
        case 3:
        case 4:
        case 5:
            record.value = text(size / 16 % (record_max_ + 1));
            break;
        default:
            record.value = text(size / 16 % (inline_max_ + 1));
            break;
    }
    for (std::uint32_t i = 0; i < number / 7 % 4; ++i) {
        record.headers.emplace_back("h" + std::to_string(number % 10), i % 3 == 0 ? Text() : Text(text(i * 3)));
    }
    record.timestamp_ns = ++next_record_ * 10;
    return record;
}

/// The record is published already: where, and is that right?
void SequenceRun::compare_result(const ReferenceRecord& record, const PublishResult& result) {
    require(result.partition < logs_.size(), "published to partition " + std::to_string(result.partition));
    if (record.key) {
        const std::uint32_t right = partition_for_key(as_bytes(*record.key), options_.partitions);
        require(result.partition == right,
                "key went to partition " + std::to_string(result.partition) + ", not " + std::to_string(right));
    }
    ReferenceLog& log = logs_[result.partition];
    const std::uint64_t right = log.publish(record);
    require(result.offset == right, "published at " + std::to_string(result.offset) + ", not " + std::to_string(right));
}

void SequenceRun::publish(const Operation& operation) {
    const ReferenceRecord record = make_record(operation.a, operation.b);
    const RealRecord real(record);
    const PublishResult result = producer_->try_publish(real.get());
    if (record.bytes() > record_max_) {
        require(result.status == Status::too_large, "a record too large: " + std::string(to_string(result.status)));
        return;
    }
    ReferenceLog& log = logs_[result.partition];
    const bool room = log.make_room(gates(result.partition));
    log.extents_used |= is_large(record);
    if (result.status == Status::would_block && (!room || may_block(result.partition, is_large(record))))
        return observe_starts();
    require(room, "published into a full block log");
    require(result.status == Status::ok, "publish: " + std::string(to_string(result.status)));
    compare_result(record, result);
    observe_starts();
}

void SequenceRun::publish_batch(const Operation& operation) {
    const std::uint32_t partition = operation.c % options_.partitions;
    std::vector<ReferenceRecord> records;
    for (std::uint32_t i = 0; i < operation.a % kBatchMax; ++i) {
        ReferenceRecord record = make_record(3 * (operation.b + i), operation.b + i * 5);  // null keys: one partition
        if (record.bytes() <= record_max_)
            records.push_back(std::move(record));
    }
    std::vector<RealRecord> real(records.begin(), records.end());
    std::vector<ProducerRecord> batch;
    for (const RealRecord& one : real) {
        batch.push_back(one.get());
        batch.back().partition = partition;
    }
    std::vector<PublishResult> results(batch.size());
    const BatchResult result = producer_->try_publish_batch(batch, results);
    bool large = false;
    for (const ReferenceRecord& record : records)
        large |= is_large(record);
    logs_[partition].extents_used |= large;
    require((result.published == batch.size()) == (result.status == Status::ok),
            "batch: status and count contradict each other");
    for (std::size_t i = 0; i < result.published; ++i) {
        require(results[i].status == Status::ok, "batch: record " + std::to_string(i) + " is counted but not ok");
        (void)logs_[partition].make_room(gates(partition), true);
        compare_result({Text(), records[i].value, records[i].headers, records[i].timestamp_ns}, results[i]);
    }
    if (result.status != Status::ok) {
        const bool full = !logs_[partition].make_room(gates(partition));
        require(result.status == Status::would_block && (full || may_block(partition, large)),
                "batch of " + std::to_string(batch.size()) + ": " + std::string(to_string(result.status)) + " after " +
                    std::to_string(result.published));
    }
    observe_starts();
}

void SequenceRun::publish_loan(const Operation& operation) {
    ReferenceRecord record = make_record(operation.a, operation.b);
    if (!record.value)
        record.value = "";  // a loan lends a value
    const RealRecord real(record);
    Loan loan = producer_->loan(record.value->size(), real.get());
    if (record.bytes() > record_max_) {
        require(loan.status() == Status::too_large, "a loan too large: " + std::string(to_string(loan.status())));
        return;
    }
    if (loan.status() == Status::would_block && may_block(loan.partition(), is_large(record)))
        return observe_starts();
    require(loan.status() == Status::ok, "loan: " + std::string(to_string(loan.status())));
    std::copy_n(as_bytes(*record.value).data(), record.value->size(), loan.value().data());
    logs_[loan.partition()].extents_used |= is_large(record);
    observe_starts();
    if (operation.c % 4 == 0)
        return;  // dropped
    const std::uint32_t partition = loan.partition();
    const PublishResult result = producer_->try_publish(loan);
    const bool room = logs_[partition].make_room(gates(partition));
    if (!room) {
        require(result.status == Status::would_block, "a loan was published into a full block log");
    } else {
        require(result.status == Status::ok, "publish of a loan: " + std::string(to_string(result.status)));
        compare_result(record, result);
    }
    observe_starts();
}

void SequenceRun::reopen_producer(const Operation& operation) {
    if (operation.b % 3 == 0) {
        // another one while this one is attached everywhere: shared ones share, exclusive ones do not
        for (std::uint32_t i = 0; i < options_.partitions; ++i)
            producer_->attach(i);
        const bool wants_lease = operation.a % 2 == 0;
        bool refused = false;
        try {
            Producer other(broker_, kTopic, ProducerOptions{.exclusive = wants_lease});
            other.attach(0);
        } catch (const Error& error) {
            refused = error.code() == ErrorCode::busy || error.code() == ErrorCode::limit;
        }
        require(refused == (wants_lease || exclusive_ || options_.producer_slots == 1),
                "a second producer was treated wrongly");
        return;
    }
    producer_.reset();
    exclusive_ = operation.a % 2 == 0;
    producer_.emplace(broker_, kTopic, ProducerOptions{.exclusive = exclusive_});
}

void SequenceRun::recreate() {
    broker_.delete_topic(kTopic);
    const RealRecord real({});
    const PublishResult result = producer_->try_publish(real.get());
    require(result.status == Status::topic_deleted,
            "publish to a deleted topic: " + std::string(to_string(result.status)));
    require(consumer_->poll().status == Status::topic_deleted, "poll of a deleted topic");
    producer_.reset();
    create();
}

}  // namespace ringmain::test
