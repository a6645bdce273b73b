// What is asked of the daemon, as JSON.
#include <charconv>

#include "api_json.hpp"
#include "json_fields.hpp"

namespace ringmain {

namespace {

constexpr std::uint32_t kModeMax = 0666;
constexpr std::uint32_t kUmaskMax = 0777;

std::string about(std::string_view topic) { return "topic '" + std::string(topic) + "': the request"; }

std::string octal(std::uint32_t mode) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), mode, 8).ptr;
    std::string text(digits.data(), end);
    constexpr std::size_t kWidth = 4;
    return text.size() < kWidth ? std::string(kWidth - text.size(), '0') + text : text;
}

std::optional<std::uint32_t> take_octal(JsonFields& fields, const char* name, std::uint32_t max) {
    const auto text = fields.take_text(name);
    if (!text)
        return std::nullopt;
    std::uint32_t mode = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), mode, 8);
    if (text->empty() || error != std::errc() || end != text->data() + text->size() || mode > max)
        fields.refuse(name, *text, "is not an octal number from \"0000\" to \"" + octal(max) + "\"");
    return mode;
}

void take_when_full(JsonFields& fields, WhenFull& policy) {
    const auto text = fields.take_text("when_full");
    if (!text)
        return;
    for (const WhenFull known : {WhenFull::overwrite, WhenFull::block}) {
        if (*text == to_string(known)) {
            policy = known;
            return;
        }
    }
    fields.refuse("when_full", *text, "is neither \"overwrite\" nor \"block\"");
}

void take_value_type(JsonFields& fields, ValueType& type) {
    auto members = fields.take_object("value_type");
    if (!members)
        return;
    type.name = members->take_text("name").value_or("");
    members->take_number("size", type.size);
    members->take_number("alignment", type.alignment);
    members->end();
}

void take_retention(JsonFields& fields, Retention& retention) {
    auto members = fields.take_object("retention");
    if (!members)
        return;
    std::int64_t age_ms = retention.age.count();
    members->take_number("age_ms", age_ms);
    retention.age = std::chrono::milliseconds(age_ms);
    members->take_number("records", retention.records);
    members->take_number("bytes", retention.bytes);
    members->end();
}

std::optional<std::uint32_t> take_id(JsonFields& fields, const char* name) {
    if (!fields.has(name)) {
        fields.pass(name);
        return std::nullopt;
    }
    std::uint32_t id = 0;
    fields.take_number(name, id);
    return id;
}

void take_access(JsonFields& fields, TopicAccess& access) {
    auto members = fields.take_object("access");
    if (!members)
        return;
    if (const auto owner = take_id(*members, "owner"))
        access.owner = owner;
    if (const auto group = take_id(*members, "group"))
        access.group = group;
    if (const auto mode = take_octal(*members, "mode", kModeMax))
        access.mode = mode;
    members->end();
}

Json retention_json(const Retention& retention) {
    return {{"age_ms", retention.age.count()}, {"records", retention.records}, {"bytes", retention.bytes}};
}

Json access_json(const TopicAccess& access) {
    Json json = Json::object();
    if (access.owner)
        json["owner"] = *access.owner;
    if (access.group)
        json["group"] = *access.group;
    if (access.mode)
        json["mode"] = octal(*access.mode);
    return json;
}

std::string line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::optional<TopicId> topic_id_from(std::string_view text) noexcept {
    TopicId id{};
    if (text.size() != 2 * id.size())
        return std::nullopt;
    for (std::size_t i = 0; i < id.size(); ++i) {
        const char* const digits = text.data() + 2 * i;
        const auto [end, error] = std::from_chars(digits, digits + 2, id[i], 16);
        if (error != std::errc() || end != digits + 2)
            return std::nullopt;
    }
    return id;
}

std::string to_json(const CreationRequest& request) {
    const TopicOptions& options = request.options;
    Json json = {{"partitions", options.partitions},
                 {"records", options.records},
                 {"cell_bytes", options.cell_bytes},
                 {"payload_bytes", options.payload_bytes},
                 {"producer_slots", options.producer_slots},
                 {"groups", options.groups},
                 {"members", options.members},
                 {"when_full", to_string(options.when_full)},
                 {"first_offset", options.first_offset},
                 {"retention", retention_json(options.retention)},
                 {"access", access_json(options.access)}};
    if (!options.value_type.name.empty()) {
        const ValueType& type = options.value_type;
        json["value_type"] = {{"name", type.name}, {"size", type.size}, {"alignment", type.alignment}};
    }
    if (request.id)
        json["id"] = to_string(*request.id);
    if (request.umask)
        json["umask"] = octal(*request.umask);
    return line(json);
}

CreationRequest creation_from_json(std::string_view topic, std::string_view text, const TopicOptions& defaults) {
    CreationRequest request{defaults, std::nullopt, std::nullopt};
    TopicOptions& options = request.options;
    JsonFields fields = JsonFields::parse(topic, about(topic), text);
    take_numbers(fields, options);
    take_when_full(fields, options.when_full);
    take_value_type(fields, options.value_type);
    take_retention(fields, options.retention);
    take_access(fields, options.access);
    if (const auto id = fields.take_text("id")) {
        request.id = topic_id_from(*id);
        if (!request.id)
            fields.refuse("id", *id, "is not 32 hexadecimal digits");
    }
    request.umask = take_octal(fields, "umask", kUmaskMax);
    fields.end();
    return request;
}

std::string to_json(const ChangeRequest& request) {
    Json json = Json::object();
    if (request.retention)
        json["retention"] = retention_json(*request.retention);
    if (request.access)
        json["access"] = access_json(*request.access);
    return line(json);
}

ChangeRequest change_from_json(std::string_view topic, std::string_view text, const Retention& current) {
    ChangeRequest request;
    JsonFields fields = JsonFields::parse(topic, about(topic), text);
    if (fields.has("retention")) {
        request.retention = current;
        take_retention(fields, *request.retention);
    }
    if (fields.has("access"))
        take_access(fields, request.access.emplace());
    fields.pass("retention");
    fields.pass("access");
    fields.end();
    if (!request.retention && !request.access)
        fields.refuse("changes nothing: it has neither 'retention' nor 'access'");
    return request;
}

std::string deletion_to_json(std::uint64_t offset) { return line({{"before", offset}}); }

std::uint64_t deletion_from_json(std::string_view topic, std::string_view text) {
    JsonFields fields = JsonFields::parse(topic, about(topic), text);
    if (!fields.has("before"))
        fields.refuse("has no member 'before', the first offset that is kept");
    std::uint64_t offset = 0;
    fields.take_number("before", offset);
    fields.end();
    return offset;
}

}  // namespace ringmain
