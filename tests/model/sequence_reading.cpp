// The operations of a random sequence on what consumers do: polling, visiting, seeking, gates.
#include <algorithm>
#include <optional>
#include <stdexcept>

#include "model/real_record.hpp"
#include "model/sequence_run.hpp"

namespace ringmain::test {

namespace {

constexpr const char* kTopic = "model";

}  // namespace

void SequenceRun::observe_starts() {
    for (std::uint32_t i = 0; i < logs_.size(); ++i) {
        const std::uint64_t real = consumer_->log_start(kTopic, i);
        const std::uint64_t modelled = logs_[i].start;
        require(logs_[i].agrees_on_start(real), "partition " + std::to_string(i) + " starts at " +
                                                    std::to_string(real) + " of " + std::to_string(logs_[i].end) +
                                                    ", not at " + std::to_string(modelled));
        require(!gates_[i] || real <= std::max(*gates_[i], modelled), "the log start passed a gate");
    }
}

void SequenceRun::compare_gap(const Gap& gap) {
    const ReferenceLog& log = logs_.at(gap.partition);
    std::uint64_t& position = positions_.at(gap.partition);
    require(gap.reason == GapReason::overwritten, "a gap for another reason");
    require(gap.from == position && gap.to == log.start && gap.from < gap.to,
            "gap " + std::to_string(gap.from) + ".." + std::to_string(gap.to) + " at position " +
                std::to_string(position) + " of a log that starts at " + std::to_string(log.start));
    position = gap.to;
}

void SequenceRun::compare_content(std::uint32_t partition, std::uint64_t offset, const ReferenceRecord& record) {
    const ReferenceLog& log = logs_.at(partition);
    std::uint64_t& position = positions_.at(partition);
    require(offset == position, "read offset " + std::to_string(offset) + " at position " + std::to_string(position));
    const auto published = log.kept.find(offset);
    require(published != log.kept.end(), "read offset " + std::to_string(offset) + ", which is not in the log");
    require(record == published->second, "offset " + std::to_string(offset) + " has other bytes");
    ++position;
}

void SequenceRun::poll(const Operation& operation) {
    const std::size_t most = 1 + operation.a % 64;
    const PollResult result = consumer_->poll(most);
    require(result.status == Status::ok, "poll: " + std::string(to_string(result.status)));
    require(result.records.size() <= most, "poll gave more than asked for");
    for (const Gap& gap : result.gaps)
        compare_gap(gap);
    for (const ConsumerRecord& record : result.records)
        compare_content(record.partition, record.offset, read_record(record));
    if (!result.records.empty() || !result.gaps.empty())
        return;
    for (std::uint32_t i = 0; i < logs_.size(); ++i) {
        require(positions_[i] >= logs_[i].end,
                "poll found nothing at " + std::to_string(positions_[i]) + " of " + std::to_string(logs_[i].end));
    }
}

void SequenceRun::visit() {
    std::optional<ReferenceRecord> seen;
    std::uint64_t offset = 0;
    std::uint32_t partition = 0;
    const VisitStatus status = consumer_->visit([&](const ConsumerRecord& record) {
        seen = read_record(record);
        offset = record.offset;
        partition = record.partition;
    });
    switch (status) {
        case VisitStatus::valid: {
            require(seen.has_value(), "visit: valid without a record");
            compare_content(partition, offset, *seen);
            return;
        }
        case VisitStatus::gap:
            return compare_gap(consumer_->last_gap());
        case VisitStatus::empty:
            for (std::uint32_t i = 0; i < logs_.size(); ++i) {
                require(positions_[i] >= logs_[i].end, "visit found nothing, but there is something");
            }
            return;
        default:
            require(false,
                    "visit answers " + std::to_string(static_cast<int>(status)) + ", but nobody is there to overwrite");
    }
}

void SequenceRun::seek(const Operation& operation) {
    const std::uint32_t partition = operation.c % options_.partitions;
    const ReferenceLog& log = logs_[partition];
    Position to;
    std::uint64_t right = 0;
    switch (operation.a % 5) {
        case 0:
            to = Position::earliest(), right = log.start;
            break;
        case 1:
            to = Position::latest(), right = log.end;
            break;
        case 2:
            right = log.first + operation.b % (log.end - log.first + 3);
            to = Position::at(right);
            break;
        case 3:
            to = Position::last(operation.b % 100);
            right = log.end - std::min<std::uint64_t>(operation.b % 100, log.end - log.start);
            break;
        default: {
            const auto time_ns = static_cast<std::int64_t>(operation.b % (next_record_ * 10 + 20));
            to = Position::since(time_ns);
            right = log.since(time_ns);
        }
    }
    const SeekResult result = consumer_->seek(kTopic, partition, to);
    require(result.offset == right, "seek " + std::to_string(operation.a % 5) + " went to " +
                                        std::to_string(result.offset) + ", not " + std::to_string(right));
    require(result.at_end == (right == log.end), "seek is wrong about the end");
    require(result.beyond_end == (right > log.end), "seek is wrong about what is beyond the end");
    require(consumer_->position(kTopic, partition) == right, "the position is not where the seek went");
    positions_[partition] = right;
}

void SequenceRun::gate(const Operation& operation) {
    if (options_.when_full != WhenFull::block)
        return;
    const bool held = gates_[0].has_value();
    switch (operation.a % 3) {
        case 0:
            if (held)
                return;
            // a gate holds what is still there
            for (std::uint32_t i = 0; i < logs_.size(); ++i) {
                positions_[i] =
                    consumer_->seek(kTopic, i, Position::at(std::clamp(positions_[i], logs_[i].start, logs_[i].end)))
                        .offset;
            }
            consumer_->hold_gates("model");
            gates_.assign(positions_.begin(), positions_.end());
            break;
        case 1:
            if (!held)
                return;
            for (std::uint32_t i = 0; i < logs_.size(); ++i) {
                if (positions_[i] < *gates_[i])
                    return;  // gates are moved forward
            }
            consumer_->move_gates();
            gates_.assign(positions_.begin(), positions_.end());
            break;
        default:
            consumer_->drop_gates();
            gates_.assign(gates_.size(), std::nullopt);
    }
    observe_starts();
}

void SequenceRun::reopen_consumer(const Operation& operation) {
    consumer_.emplace(broker_, ConsumerOptions{.wait = operation.a % 2 == 0 ? WaitStrategy::spin : WaitStrategy::yield,
                                               .buffer_bytes = 1 + operation.b % 4096});
    gates_.assign(gates_.size(), std::nullopt);
    consumer_->assign(kTopic, Position::earliest());
    for (std::uint32_t i = 0; i < logs_.size(); ++i)
        positions_[i] = logs_[i].start;
}

void SequenceRun::look() {
    TopicDescription topic = broker_.describe_topic(kTopic);
    topic.options.access = options_.access;
    require(topic.options == options_, "describe shows other options");
    for (std::uint32_t i = 0; i < logs_.size(); ++i) {
        require(topic.partitions[i].log_end == logs_[i].end, "describe shows another log end");
        require(topic.partitions[i].log_start == logs_[i].start, "describe shows another log start");
        require(topic.partitions[i].quarantined_cells == 0, "a cell is quarantined, but nobody died");
        require(topic.partitions[i].gates.size() == (gates_[i] ? 1U : 0U), "describe shows other gates");
    }
    const VerifyReport report = broker_.verify();
    require(report.damage.empty(), report.damage.empty() ? "" : "verify: " + report.damage.front().what);
}

void SequenceRun::finish() {
    for (;;) {
        const std::vector<std::uint64_t> before = positions_;
        poll({.action = Action::poll, .a = 63});
        if (positions_ == before)
            break;
    }
    look();
}

}  // namespace ringmain::test
