// A broker with a topic whose records are handled by runners, and the letters that come of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/dead_letter.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/retry.hpp"
#include "support/group_place.hpp"

namespace ringmain::test {

/// A letter, decoded.
struct ReadLetter {
    std::string value;
    std::string key;
    std::uint32_t partition = 0;
    std::uint64_t offset = 0;
    std::uint32_t attempts = 0;
    DeadLetterReason reason = DeadLetterReason::limit;
    std::string first_error;
    std::string last_error;
    std::string group;
    std::optional<std::int64_t> timestamp_ns;
    std::vector<std::pair<std::string, std::string>> headers;  // the record's own
};

/// For a child, whose broker is one of its own.
inline std::uint64_t committed_in(const Broker& broker, std::uint32_t partition = 0, const std::string& group = "g") {
    return GroupAdmin(broker).lag("t", group).at(partition).position;
}

struct RetryPlace : TestBroker {
    explicit RetryPlace(std::uint32_t partitions = 1, std::uint64_t records = 64,
                        WhenFull when_full = WhenFull::overwrite) {
        TopicOptions options;
        options.partitions = partitions;
        options.records = records;
        options.cell_bytes = 256;
        options.producer_slots = 4;
        options.payload_bytes = 0;
        options.groups = 4;
        options.members = 8;
        options.when_full = when_full;
        broker.create_topic("t", options);
    }

    /// A record; its offset.
    std::uint64_t publish(std::string_view value, std::optional<std::string_view> key = std::nullopt,
                          std::uint32_t partition = 0) {
        Producer producer(broker, "t");
        ProducerRecord record;
        record.value = as_bytes(value);
        if (key)
            record.key = as_bytes(*key);
        record.partition = partition;
        const auto published = producer.try_publish(record);
        REQUIRE(published.status == Status::ok);
        return published.offset;
    }
    void publish_many(std::size_t count, std::uint32_t partition = 0) {
        for (std::size_t i = 0; i < count; ++i)
            publish("x", std::nullopt, partition);
    }

    [[nodiscard]] std::vector<ReadLetter> letters(const std::string& topic = "t.dlq") const {
        Consumer reader(broker);
        reader.assign(topic);
        std::vector<ReadLetter> all;
        for (PollResult result = reader.poll(); !result.records.empty(); result = reader.poll()) {
            for (const ConsumerRecord& record : result.records)
                all.push_back(decoded(record));
        }
        return all;
    }
    [[nodiscard]] std::uint64_t committed(std::uint32_t partition = 0, const std::string& group = "g") const {
        return committed_in(broker, partition, group);
    }
    void reset(const ResetTarget& target, bool force = true, const std::string& group = "g") const {
        GroupAdmin admin(broker);
        (void)admin.execute(admin.plan("t", group, target), force);
    }

private:
    static ReadLetter decoded(const ConsumerRecord& record) {
        const DecodedLetter read = decode_dead_letter(record);
        REQUIRE(read.letter);
        const DeadLetter& letter = *read.letter;
        ReadLetter one{record.value ? std::string(as_text(*record.value)) : "",
                       record.key ? std::string(as_text(*record.key)) : "",
                       letter.partition,
                       letter.offset,
                       letter.attempts,
                       letter.reason,
                       std::string(letter.first_error),
                       std::string(letter.last_error),
                       std::string(letter.group),
                       letter.timestamp_ns,
                       {}};
        for (const Header& header : record.headers) {
            if (!header.name.starts_with(kDeadLetterHeaderPrefix))
                one.headers.emplace_back(header.name, header.value ? std::string(as_text(*header.value)) : "");
        }
        return one;
    }
};

/// Retries without waits between them, unless told.
inline RetryOptions at_once(std::uint32_t attempts = 3, RetryOrder order = RetryOrder::partition) {
    RetryOptions options;
    options.attempts = attempts;
    options.backoff = {std::chrono::milliseconds(0), std::chrono::milliseconds(0), 1, 0};
    options.order = order;
    return options;
}
inline RetryOptions after(std::chrono::milliseconds wait, std::uint32_t attempts = 3,
                          RetryOrder order = RetryOrder::partition) {
    RetryOptions options = at_once(attempts, order);
    options.backoff = {wait, wait, 1, 0};
    return options;
}

/// Runs until a call finds nothing to do within a moment, or `enough` says so.
inline RunCounts run_all(RetryRunner& runner, const RetryHandler& handler, const std::function<bool()>& enough = {}) {
    using namespace std::chrono_literals;
    RunCounts all;
    for (int quiet = 0; quiet < 3 && !(enough && enough());) {
        const RunResult result = runner.run_once(handler, 20ms);
        all += result.counts;
        quiet = result.counts.handled == 0 && result.counts.dead_lettered == 0 ? quiet + 1 : 0;
    }
    return all;
}
/// Runs until `enough`, for half a minute at the most.
inline RunCounts run_until(RetryRunner& runner, const RetryHandler& handler, const std::function<bool()>& enough) {
    using namespace std::chrono_literals;
    RunCounts all;
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (!enough() && std::chrono::steady_clock::now() < until)
        all += runner.run_once(handler, 10ms).counts;
    return all;
}

}  // namespace ringmain::test
