// JSON of consumed records.
#include "record_json.hpp"

#include <nlohmann/json.hpp>

#include <string_view>

#include "times.hpp"
#include "utf8.hpp"

namespace ringmain::cli {

namespace {

using Json = nlohmann::ordered_json;

void add_bytes(Json& object, std::string_view name, const OptionalBytes& bytes) {
    if (!bytes) {
        object[std::string(name)] = nullptr;
    } else if (const std::string_view text = as_text(*bytes); is_utf8(text)) {
        object[std::string(name)] = text;
    } else {
        object[std::string(name).append("_base64")] = to_base64(text);
    }
}

Json headers_to_json(const Headers& headers) {
    Json array = Json::array();
    for (const Header& header : headers) {
        Json object;
        add_bytes(object, "name", as_bytes(header.name));
        add_bytes(object, "value", header.value);
        array.push_back(std::move(object));
    }
    return array;
}

}  // namespace

void append_json(std::string& output, const ConsumerRecord& record) {
    Json object;
    object["topic"] = record.topic;
    object["partition"] = record.partition;
    object["offset"] = record.offset;
    object["ts"] = floor_milliseconds(record.timestamp_ns);
    object["ts_ns"] = record.timestamp_ns;
    add_bytes(object, "key", record.key);
    add_bytes(object, "payload", record.value);
    object["headers"] = headers_to_json(record.headers);
    output.append(object.dump());
}

}  // namespace ringmain::cli
