// The API's JSON: what one side writes the other reads, and errors stay what they are.
#include "api_json.hpp"

#include <string>

#include "cli/topic_report.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/test_broker.hpp"

using namespace ringmain;
using test::contains;
using test::thrown_by;

namespace {

TopicOptions unusual_options() {
    TopicOptions options;
    options.partitions = 3;
    options.records = 1 << 12;
    options.cell_bytes = 128;
    options.payload_bytes = 1 << 20;
    options.producer_slots = 4;
    options.groups = 5;
    options.members = 6;
    options.when_full = WhenFull::block;
    options.value_type = {"Tick \"\\", 16, 8};
    options.first_offset = kFirstOffsetMax;
    options.retention = {std::chrono::milliseconds(1), UINT64_MAX, 3};
    options.access = {1, UINT32_MAX - 1, 0640};
    return options;
}

}  // namespace

TEST_CASE("A creation is read as it was written") {
    const CreationRequest request{unusual_options(), topic_id_from("00112233445566778899aabbccddeeff"), 0027};
    const CreationRequest read = creation_from_json("t", to_json(request), {});
    CHECK(read.options == request.options);
    CHECK(read.id == request.id);
    CHECK(read.umask == request.umask);
    const CreationRequest plain = creation_from_json("t", "{}", unusual_options());
    CHECK(plain.options == unusual_options());
    CHECK_FALSE(plain.id.has_value());
}

TEST_CASE("A change is read as it was written, and says of a retention only what changes") {
    const ChangeRequest read = change_from_json(
        "t", to_json(ChangeRequest{Retention{std::chrono::seconds(1), 2, 3}, TopicAccess{1, 2, 0600}}), {});
    CHECK(read.retention == Retention{std::chrono::seconds(1), 2, 3});
    CHECK(read.access == TopicAccess{1, 2, 0600});
    const ChangeRequest part = change_from_json("t", R"({"retention":{"bytes":9}})", {std::chrono::seconds(1), 2, 3});
    CHECK(part.retention == Retention{std::chrono::seconds(1), 2, 9});
    CHECK_FALSE(part.access.has_value());
    CHECK_THAT(thrown_by([] { return change_from_json("t", "{}", {}); }).text, contains("changes nothing"));
    CHECK_THAT(thrown_by([] { return change_from_json("t", R"({"retention":{"records":-1}})", {}); }).text,
               contains("records -1"));
}

TEST_CASE("A deletion of records is read as it was written") {
    CHECK(deletion_from_json("t", deletion_to_json(UINT64_MAX)) == UINT64_MAX);
    CHECK_THAT(thrown_by([] { return deletion_from_json("t", "{}"); }).text, contains("no member 'before'"));
    const RecordsDeleted deleted = records_deleted_from_json(to_json(RecordsDeleted{1, 2, "group 'g'"}));
    CHECK(deleted.from == 1);
    CHECK(deleted.to == 2);
    CHECK(deleted.holder == "group 'g'");
}

TEST_CASE("Every error is the same at the other side") {
    int known = 0;
    for (int number = 0; to_string(static_cast<ErrorCode>(number)) != "unknown"; ++number, ++known) {
        const auto code = static_cast<ErrorCode>(number);
        for (const int system_error : {0, 13}) {
            const Error error(code, "an object", "a \"message\"", system_error);
            const Error read = error_from_json(500, to_json(error));
            INFO(to_json(error));
            CHECK(read.code() == code);
            CHECK(read.object() == error.object());
            CHECK(read.system_error() == system_error);
            CHECK(std::string(read.what()) == error.what());
        }
    }
    CHECK(known == static_cast<int>(ErrorCode::io) + 1);
}

TEST_CASE("What is no error of ours becomes one that shows it") {
    for (const char* const text : {"", "x", "[]", "{}", R"({"code":"io"})", R"({"code":1,"object":"","message":""})",
                                   R"({"code":"none","object":"","message":""})",
                                   R"({"code":"io","object":"","message":"","system_error":-1})"}) {
        INFO(text);
        const Error error = error_from_json(502, text);
        CHECK(error.code() == ErrorCode::io);
        CHECK_THAT(error.what(), contains("HTTP status 502"));
    }
}

TEST_CASE("A topic's description is read as the command writes it") {
    test::TestBroker place;
    TopicOptions options = unusual_options();
    options.access = {};
    options.retention = {std::chrono::seconds(1), 2, 3};
    const TopicDescription topic = place.broker.create_topic("t", options);
    const TopicDescription read = description_from_json(cli::topic_to_json(topic));
    CHECK(read.name == topic.name);
    CHECK(read.id == topic.id);
    CHECK(read.options.value_type == topic.options.value_type);
    CHECK(read.options.retention == options.retention);
    CHECK(read.options.when_full == topic.options.when_full);
    CHECK(read.options.first_offset == topic.options.first_offset);
    CHECK(read.options.records == topic.options.records);
    CHECK(read.bytes == topic.bytes);
    CHECK(read.retained_records == topic.retained_records);
    for (const char* const text : {"", "{}", R"({"name":"t"})", R"({"name":"t","id":"0","options":{}})", "no"}) {
        INFO(text);
        CHECK(thrown_by([&] { return description_from_json(text); }).code == ErrorCode::io);
    }
}

TEST_CASE("JSON of great depth, and of doubtful bytes, is refused and not followed") {
    for (const std::string& text :
         {std::string(1'000'000, '['), "{\"a\":" + std::string(500'000, '['), std::string("{\"\xff\":1}"),
          std::string("{\"partitions\":1e400}"), std::string("\0{}", 3)}) {
        CHECK(thrown_by([&] { return creation_from_json("t", text, {}); }).code == ErrorCode::invalid_argument);
    }
    const test::Thrown named =
        thrown_by([] { return creation_from_json("t", "{\"" + std::string(1000, 'n') + "\\u0007\":1}", {}); });
    CHECK_THAT(named.text, contains("has no member 'nnnn") && contains("..."));
    CHECK(named.text.size() < 200);
}
