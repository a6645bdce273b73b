// The members of a JSON object, taken one by one; what nobody took is refused.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringmain/error.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

using Json = nlohmann::ordered_json;

class JsonFields {
public:
    /// `about` begins the text of every error: the topic, and the path of the member in it.
    JsonFields(std::string_view object, std::string about, Json json)
        : object_(object), about_(std::move(about)), json_(std::move(json)) {
        if (!json_.is_object())
            refuse("is not an object of JSON");
    }

    /// Parses the text; an empty one is an empty object.
    [[nodiscard]] static JsonFields parse(std::string_view object, std::string about, std::string_view text) {
        Json json = text.find_first_not_of(" \t\r\n") == std::string_view::npos ? Json::object()
                                                                                : Json::parse(text, nullptr, false);
        if (json.is_discarded())
            throw Error(ErrorCode::invalid_argument, std::string(object), about + " is not JSON");
        return {object, std::move(about), std::move(json)};
    }

    /// Leaves `value` as it is if there is no such member.
    template <class Number>
    void take_number(const char* name, Number& value) {
        const Json* const member = find(name);
        if (member == nullptr)
            return;
        if (!member->is_number_unsigned())
            refuse(name, *member, "is not a whole number from 0 on");
        const auto number = member->get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(std::numeric_limits<Number>::max()))
            refuse(name, *member, "is above " + std::to_string(std::numeric_limits<Number>::max()));
        value = static_cast<Number>(number);
    }

    /// Nothing: no such member.
    [[nodiscard]] std::optional<std::string> take_text(const char* name) {
        const Json* const member = find(name);
        if (member == nullptr)
            return std::nullopt;
        if (!member->is_string())
            refuse(name, *member, "is not a string");
        return member->get<std::string>();
    }

    /// Nothing: no such member, or it is null.
    [[nodiscard]] std::optional<JsonFields> take_object(const char* name) {
        const Json* const member = find(name);
        if (member == nullptr || member->is_null())
            return std::nullopt;
        return JsonFields(object_, about_ + " " + name, *member);
    }

    [[nodiscard]] bool has(const char* name) const { return json_.contains(name); }
    /// A member that needs no look.
    void pass(const char* name) { (void)find(name); }

    /// Refuses what was not taken.
    void end() const {
        for (const auto& [name, value] : json_.items()) {
            bool known = false;
            for (const std::string& taken : taken_)
                known = known || taken == name;
            if (!known)
                refuse("has no member '" + shown(name) + "'");
        }
    }

    [[noreturn]] void refuse(const char* name, const Json& value, const std::string& why) const {
        refuse(std::string(name) + " " + shown(value.dump(-1, ' ', true, Json::error_handler_t::replace)) + " " + why);
    }
    [[noreturn]] void refuse(const std::string& why) const {
        throw Error(ErrorCode::invalid_argument, object_, about_ + " " + why);
    }

private:
    [[nodiscard]] const Json* find(const char* name) {
        taken_.emplace_back(name);
        const auto found = json_.find(name);
        return found == json_.end() ? nullptr : &*found;
    }

    /// Not all of something that may be long.
    [[nodiscard]] static std::string shown(const std::string& text) {
        constexpr std::size_t kShown = 64;
        std::string result;
        for (const char c : text.substr(0, kShown))
            result += c >= ' ' && c <= '~' ? c : '?';
        return text.size() > kShown ? result + "..." : result;
    }

    std::string object_;
    std::string about_;
    Json json_;
    std::vector<std::string> taken_;
};

/// Those options of a topic that are plain numbers, in requests and in answers.
inline void take_numbers(JsonFields& fields, TopicOptions& options) {
    fields.take_number("partitions", options.partitions);
    fields.take_number("records", options.records);
    fields.take_number("cell_bytes", options.cell_bytes);
    fields.take_number("payload_bytes", options.payload_bytes);
    fields.take_number("producer_slots", options.producer_slots);
    fields.take_number("groups", options.groups);
    fields.take_number("members", options.members);
    fields.take_number("first_offset", options.first_offset);
}

}  // namespace ringmain
