// A letter's own headers: written, cut, and decoded from whatever bytes there are.
#include <random>
#include <string>
#include <vector>

#include "dead_letter_headers.hpp"
#include "record_encoding.hpp"
#include "ringmain/dead_letter.hpp"
#include "support/catch.hpp"

using namespace ringmain;
using test::contains;

namespace {

DeadLetter sample() {
    DeadLetter letter;
    letter.topic = "orders";
    for (std::size_t i = 0; i < letter.topic_id.size(); ++i)
        letter.topic_id[i] = static_cast<std::uint8_t>(i * 17);
    letter.partition = 1023;
    letter.offset = kOffsetMax;
    letter.timestamp_ns = -1;
    letter.attempts = 5;
    letter.group = "billing";
    letter.reason = DeadLetterReason::worker_died;
    letter.first_error = "no such account";
    letter.last_error = "still none";
    return letter;
}

struct Encoded {
    std::vector<std::byte> bytes;
    std::uint32_t count = 0;

    [[nodiscard]] ConsumerRecord record() const {
        ConsumerRecord record;
        record.headers = Headers(bytes, count);
        return record;
    }
};

Encoded encode(const std::vector<Header>& headers) {
    Encoded encoded;
    encoded.bytes.resize(encoded_headers_bytes(headers).value());
    encode_headers(headers, encoded.bytes.data());
    encoded.count = static_cast<std::uint32_t>(headers.size());
    return encoded;
}

Encoded encode(const DeadLetter& letter, std::string_view lost = {}) {
    Encoded encoded;
    append_letter_headers(encoded.bytes, letter, lost);
    encoded.count = 1;  // only tells that there are some
    return encoded;
}

/// The headers of a sound letter, one of them changed or left out.
std::string problem_with(std::string_view name, std::optional<Header> instead) {
    const Encoded sound = encode(sample());
    std::vector<Header> headers;
    for (const Header& header : sound.record().headers) {
        if (header.name != name)
            headers.push_back(header);
        else if (instead)
            headers.push_back(*instead);
    }
    const Encoded changed = encode(headers);
    return decode_dead_letter(changed.record()).problem;
}

}  // namespace

TEST_CASE("A letter's headers come back as they were written") {
    const Encoded encoded = encode(sample());
    const DecodedLetter decoded = decode_dead_letter(encoded.record());
    REQUIRE(decoded.problem.empty());
    const DeadLetter& letter = decoded.letter.value();
    CHECK(letter.topic == "orders");
    CHECK(letter.topic_id == sample().topic_id);
    CHECK(letter.partition == 1023);
    CHECK(letter.offset == kOffsetMax);
    CHECK(letter.timestamp_ns == -1);
    CHECK(letter.attempts == 5);
    CHECK(letter.group == "billing");
    CHECK(letter.reason == DeadLetterReason::worker_died);
    CHECK(letter.first_error == "no such account");
    CHECK(letter.last_error == "still none");
    CHECK_FALSE(letter.value_lost);
}

TEST_CASE("A letter without its record and without texts says so") {
    DeadLetter written = sample();
    written.timestamp_ns.reset();
    written.first_error = written.last_error = {};
    const Encoded encoded = encode(written, "overwritten");
    const DeadLetter letter = decode_dead_letter(encoded.record()).letter.value();
    CHECK_FALSE(letter.timestamp_ns);
    CHECK(letter.first_error.empty());
    CHECK(letter.last_error.empty());
    CHECK(letter.value_lost);
}

TEST_CASE("No letter's headers are longer than what is reserved for them") {
    DeadLetter longest = sample();
    const std::string name(kTopicNameMax, 'a');
    const std::string group(kGroupNameBytesMax, 'g');
    const std::string text(5'000, 'x');
    longest.topic = name;
    longest.group = group;
    longest.timestamp_ns = std::numeric_limits<std::int64_t>::min();
    longest.attempts = std::numeric_limits<std::uint32_t>::max();
    longest.first_error = longest.last_error = text;
    const Encoded encoded = encode(longest, "overwritten");
    CHECK(encoded.bytes.size() + sizeof(std::uint32_t) <= kLetterHeadersBytesMax);
    CHECK(encoded.bytes.size() + 64 > kLetterHeadersBytesMax);  // and little more is reserved
    const DeadLetter letter = decode_dead_letter(encoded.record()).letter.value();
    CHECK(letter.first_error == text.substr(0, kDeadLetterErrorBytesMax));
}

TEST_CASE("The text of an error is cut at the end of a character") {
    const std::string full(kDeadLetterErrorBytesMax, 'x');
    CHECK(cut_error_text(full) == full);
    CHECK(cut_error_text(full + "y") == full);
    for (const std::string character : {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
        for (std::size_t before = kDeadLetterErrorBytesMax - character.size(); before <= kDeadLetterErrorBytesMax;
             ++before) {
            const std::string text = std::string(before, 'x') + character + "tail";
            const bool fits = before + character.size() <= kDeadLetterErrorBytesMax;
            const std::string kept = fits ? text.substr(0, kDeadLetterErrorBytesMax) : std::string(before, 'x');
            CHECK(cut_error_text(text) == kept);
        }
    }
    const std::string no_text(2'000, '\x80');  // no UTF-8 at all
    CHECK(cut_error_text(no_text).size() == kDeadLetterErrorBytesMax);
}

TEST_CASE("Headers that are a letter's by name do not get into a letter, and all others do") {
    const std::vector<Header> own = {{"trace", as_bytes("1")},
                                     {"ringmain-dlq-attempts", as_bytes("999")},
                                     {"empty", Bytes{}},
                                     {"null", std::nullopt},
                                     {"ringmain-dlq-", as_bytes("x")},
                                     {"trace", as_bytes("2")},
                                     {"ringmain-delay-ms", as_bytes("5")}};
    const Encoded from = encode(own);
    Encoded to;
    append_other_headers(to.bytes, from.bytes);
    to.count = 5;
    std::vector<std::string> seen;
    for (const Header& header : to.record().headers)
        seen.push_back(std::string(header.name) + "=" + (header.value ? std::string(as_text(*header.value)) : "null"));
    CHECK(seen == std::vector<std::string>{"trace=1", "empty=", "null=null", "trace=2", "ringmain-delay-ms=5"});
}

TEST_CASE("A record that is no letter is told from one, header by header") {
    CHECK(decode_dead_letter(ConsumerRecord{}).problem == "has no header 'ringmain-dlq-topic'");
    for (const std::string_view name : {kDeadLetterTopic, kDeadLetterTopicId, kDeadLetterPartition, kDeadLetterOffset,
                                        kDeadLetterAttempts, kDeadLetterGroup, kDeadLetterReason}) {
        CHECK(problem_with(name, std::nullopt) == "has no header '" + std::string(name) + "'");
        CHECK(problem_with(name, Header{name, std::nullopt}) ==
              "has a header '" + std::string(name) + "' without a value");
    }
    CHECK_THAT(problem_with(kDeadLetterTopic, Header{kDeadLetterTopic, as_bytes("../x")}),
               contains("is '../x', not a topic's name"));
    CHECK_THAT(problem_with(kDeadLetterTopicId, Header{kDeadLetterTopicId, as_bytes("0g")}),
               contains("32 hexadecimal digits"));
    CHECK_THAT(problem_with(kDeadLetterPartition, Header{kDeadLetterPartition, as_bytes("1024")}),
               contains("a number up to 1023"));
    CHECK_THAT(problem_with(kDeadLetterOffset, Header{kDeadLetterOffset, as_bytes("-1")}), contains("is '-1'"));
    CHECK_THAT(problem_with(kDeadLetterOffset, Header{kDeadLetterOffset, as_bytes("12 ")}), contains("is '12 '"));
    CHECK_THAT(problem_with(kDeadLetterAttempts, Header{kDeadLetterAttempts, as_bytes("")}), contains("is ''"));
    CHECK_THAT(problem_with(kDeadLetterAttempts, Header{kDeadLetterAttempts, as_bytes("4294967296")}),
               contains("4294967295"));
    CHECK_THAT(problem_with(kDeadLetterTimestamp, Header{kDeadLetterTimestamp, as_bytes("soon")}),
               contains("is 'soon'"));
    CHECK_THAT(problem_with(kDeadLetterReason, Header{kDeadLetterReason, as_bytes("bad\x1bluck")}),
               contains("is 'bad?luck'"));
    const std::string long_text(kDeadLetterErrorBytesMax + 1, 'x');
    CHECK_THAT(problem_with(kDeadLetterLastError, Header{kDeadLetterLastError, as_bytes(long_text)}),
               contains("of 1025 bytes"));
}

TEST_CASE("Any bytes in the place of a letter's headers are good input") {
    std::mt19937_64 random(20'261'130);
    const Encoded sound = encode(sample());
    std::size_t letters = 0;
    for (int round = 0; round < 20'000; ++round) {
        Encoded changed = sound;
        for (int i = 0; i < 3; ++i)
            changed.bytes[random() % changed.bytes.size()] = static_cast<std::byte>(random());
        changed.bytes.resize(changed.bytes.size() - (round % 4 == 0 ? random() % changed.bytes.size() : 0));
        const DecodedLetter decoded = decode_dead_letter(changed.record());
        REQUIRE(decoded.letter.has_value() == decoded.problem.empty());
        letters += decoded.letter ? 1 : 0;
    }
    CHECK(letters > 0);
    CHECK(letters < 20'000);
}
