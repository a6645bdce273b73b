// Readers by themselves: one that seeks at random, and the auditors, who read everything once.
#include <algorithm>
#include <cstring>
#include <vector>

#include "reading_life.hpp"
#include "ringmain/dead_letter.hpp"

namespace ringmain::nemesis {

namespace {

class ReaderLife : ReadingLife {
public:
    explicit ReaderLife(const Job& job) : ReadingLife(job), consumer_(broker_) {}

    int live() {
        for (std::uint8_t topic = 0; topic < kPublished; ++topic) {
            if (!one_of(2) && job_.canary != Canary::reader_drops)  // that one must have something to drop
                continue;
            consumer_.assign(kTopicNames[topic], one_of(2) ? Position::earliest() : Position::latest());
            for (std::uint8_t p = 0; p < Arena::rules()[topic].partitions; ++p)
                begin(topic, p);
        }
        while (!is_set(control().stop_reading) && !is_over()) {
            if (one_of(10) && !consumer_.assignment().empty())
                seek();
            read();
        }
        return 0;
    }

private:
    void begin(std::uint8_t topic, std::uint8_t partition) {
        note(at(kTopicNames[topic], partition, Kind::began, consumer_.position(kTopicNames[topic], partition)));
    }

    void seek() {
        const auto all = consumer_.assignment();
        const TopicPartition one = all[below(static_cast<std::uint32_t>(all.size()))];
        const std::uint64_t first = Arena::first_offset(topic_number(one.topic));
        const std::uint64_t end = consumer_.log_end(one.topic, one.partition);
        switch (below(5)) {
            case 0:
                consumer_.seek(one.topic, one.partition, Position::earliest());
                break;
            case 1:
                consumer_.seek(one.topic, one.partition, Position::latest());
                break;
            case 2:
                consumer_.seek(one.topic, one.partition, Position::last(below(2'000)));
                break;
            case 3:
                consumer_.seek(one.topic, one.partition,
                               Position::at(first + below(static_cast<std::uint32_t>(end - first) + 100)));
                break;
            default:
                consumer_.seek(one.topic, one.partition, Position::since(0));
                break;
        }
        begin(topic_number(one.topic), static_cast<std::uint8_t>(one.partition));
    }

    void read() {
        const PollResult result = poll(consumer_, 1 + below(128), std::chrono::milliseconds(10));
        if (result.status != Status::ok)
            fail(300 + static_cast<std::uint32_t>(result.status));
        if (job_.canary == Canary::reader_drops && result.gaps.empty() && result.records.size() > 1) {
            for (const ConsumerRecord& record : result.records) {
                if (&record != &result.records[1])
                    note_delivered(record);
            }
            return;
        }
        note_poll(result);
        pause(std::chrono::microseconds(below(10'000)));
    }

    Consumer consumer_;
};

/// Auditor 0 has the topics that block, and holds gates there; auditor 1 those that overwrite.
class AuditorLife : ReadingLife {
public:
    explicit AuditorLife(const Job& job) : ReadingLife(job, std::size_t{1} << 25), consumer_(broker_, patient()) {}

    int live() {
        const auto rules = Arena::rules();
        for (std::uint8_t topic = 0; topic < kTopicNames.size(); ++topic) {
            if (rules[topic].gated != (job_.index == 0))
                continue;
            consumer_.assign(kTopicNames[topic], Position::earliest());
            for (std::uint8_t p = 0; p < rules[topic].partitions; ++p)
                note(at(kTopicNames[topic], p, Kind::began, Arena::first_offset(topic)));
        }
        if (job_.index == 0)
            consumer_.hold_gates("auditor");
        while (!is_set(control().stop_auditing) || !is_at_end()) {
            const PollResult result = consumer_.poll(512, std::chrono::milliseconds(20));
            if (result.status != Status::ok)
                fail(400 + static_cast<std::uint32_t>(result.status));
            note_all(result);
            if (job_.index == 0)
                consumer_.move_gates();
        }
        return 0;
    }

private:
    static ConsumerOptions patient() {
        ConsumerOptions options;
        options.buffer_bytes = 1 << 20;
        return options;
    }

    void note_all(const PollResult& result) {
        if (result.gaps.empty()) {
            for (const ConsumerRecord& record : result.records)
                is_letter(record) ? note_letter(record) : note_delivered(record);
            return;
        }
        for (const ConsumerRecord& record : result.records) {
            if (is_letter(record))
                note_letter(record);
        }
        std::vector<ConsumerRecord> others;
        std::copy_if(result.records.begin(), result.records.end(), std::back_inserter(others),
                     [](const ConsumerRecord& record) { return !is_letter(record); });
        note_poll({.status = result.status, .records = others, .gaps = result.gaps});
    }

    static bool is_letter(const ConsumerRecord& record) { return topic_number(record.topic) >= kPublished; }

    void note_letter(const ConsumerRecord& record) {
        const DecodedLetter decoded = decode_dead_letter(record);
        if (!decoded.letter)
            return note(at(record.topic, record.partition, Kind::torn, record.offset));
        const DeadLetter& letter = *decoded.letter;
        Event event = at(letter.topic, letter.partition, Kind::letter, letter.offset);
        event.extra = static_cast<std::uint8_t>(letter.attempts);
        if (!letter.value_lost) {
            const auto id = check(record);
            if (!id)
                return;
            event.id = *id;
        }
        note(event);
    }

    bool is_at_end() {
        const auto all = consumer_.assignment();
        return std::all_of(all.begin(), all.end(), [this](const TopicPartition& one) {
            return consumer_.position(one.topic, one.partition) >= consumer_.log_end(one.topic, one.partition);
        });
    }

    Consumer consumer_;
};

}  // namespace

int live_as_reader(const Job& job) { return ReaderLife(job).live(); }
int live_as_auditor(const Job& job) { return AuditorLife(job).live(); }

}  // namespace ringmain::nemesis
