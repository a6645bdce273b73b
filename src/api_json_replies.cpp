// What the daemon answers, as JSON.
#include <array>
#include <cstdlib>

#include "api_json.hpp"
#include "json_fields.hpp"

namespace ringmain {

namespace {

constexpr std::array kCodes = {ErrorCode::not_found,         ErrorCode::already_exists, ErrorCode::not_ready,
                               ErrorCode::version_mismatch,  ErrorCode::corrupt,        ErrorCode::no_space,
                               ErrorCode::permission_denied, ErrorCode::limit,          ErrorCode::invalid_argument,
                               ErrorCode::mismatch,          ErrorCode::busy,           ErrorCode::forked,
                               ErrorCode::topic_deleted,     ErrorCode::interrupted,    ErrorCode::io};

constexpr const char* kAnswer = "the daemon's answer";

std::optional<ErrorCode> code_named(std::string_view name) noexcept {
    for (const ErrorCode code : kCodes) {
        if (to_string(code) == name)
            return code;
    }
    return std::nullopt;
}

std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The constructor of Error adds what errno means to the message; it must not stand there twice.
std::string without_system_text(std::string message, int system_error) {
    const std::string suffix = Error(ErrorCode::io, "", "", system_error).what();
    if (system_error != 0 && message.ends_with(suffix))
        message.resize(message.size() - suffix.size());
    return message;
}

[[noreturn]] void strange(std::string_view text) {
    constexpr std::size_t kShown = 200;
    throw Error(ErrorCode::io, kAnswer,
                std::string(kAnswer) + " is not understood: " + std::string(text.substr(0, kShown)));
}

// An answer may have more members than are asked for here: those of a later version.
JsonFields answer_fields(std::string_view text) {
    try {
        return JsonFields::parse(kAnswer, kAnswer, text);
    } catch (const Error&) {
        strange(text);
    }
}

void take_options(JsonFields& fields, TopicOptions& options) {
    take_numbers(fields, options);
    if (fields.take_text("when_full") == to_string(WhenFull::block))
        options.when_full = WhenFull::block;
    if (auto type = fields.take_object("value_type")) {
        options.value_type.name = type->take_text("name").value_or("");
        type->take_number("size", options.value_type.size);
        type->take_number("alignment", options.value_type.alignment);
    }
    if (auto retention = fields.take_object("retention")) {
        std::int64_t age_ms = 0;
        retention->take_number("age_ms", age_ms);
        options.retention.age = std::chrono::milliseconds(age_ms);
        retention->take_number("records", options.retention.records);
        retention->take_number("bytes", options.retention.bytes);
    }
}

}  // namespace

std::string to_json(const RecordsDeleted& deleted) {
    return line({{"from", deleted.from}, {"to", deleted.to}, {"holder", deleted.holder}});
}

RecordsDeleted records_deleted_from_json(std::string_view text) {
    JsonFields fields = answer_fields(text);
    RecordsDeleted deleted;
    fields.take_number("from", deleted.from);
    fields.take_number("to", deleted.to);
    deleted.holder = fields.take_text("holder").value_or("");
    return deleted;
}

std::string to_json(const Error& error) {
    Json json = {{"code", to_string(error.code())}, {"object", error.object()}, {"message", error.what()}};
    if (error.system_error() != 0)
        json["system_error"] = error.system_error();
    return line(json);
}

Error error_from_json(int status, std::string_view text) {
    try {
        JsonFields fields = answer_fields(text);
        const auto code = code_named(fields.take_text("code").value_or(""));
        const auto object = fields.take_text("object");
        const auto message = fields.take_text("message");
        std::int32_t system_error = 0;
        fields.take_number("system_error", system_error);
        if (code && object && message)
            return Error(*code, *object, without_system_text(*message, system_error), system_error);
        strange(text);
    } catch (const Error& error) {
        return Error(ErrorCode::io, error.object(),
                     std::string(error.what()) + " (HTTP status " + std::to_string(status) + ")");
    }
}

TopicDescription description_from_json(std::string_view text) {
    JsonFields fields = answer_fields(text);
    TopicDescription topic;
    topic.name = fields.take_text("name").value_or("");
    const auto id = topic_id_from(fields.take_text("id").value_or(""));
    auto options = fields.take_object("options");
    if (topic.name.empty() || !id || !options)
        strange(text);
    topic.id = *id;
    take_options(*options, topic.options);
    fields.take_number("record_bytes_max", topic.record_bytes_max);
    fields.take_number("inline_bytes_max", topic.inline_bytes_max);
    fields.take_number("batch_records_max", topic.batch_records_max);
    fields.take_number("retained_records", topic.retained_records);
    fields.take_number("retained_payload_bytes", topic.retained_payload_bytes);
    fields.take_number("bytes", topic.bytes);
    return topic;
}

}  // namespace ringmain
