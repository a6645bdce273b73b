// Reading and writing plans of resets.
#include "reset_plan_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "errors.hpp"
#include "whole_input.hpp"

namespace ringmain::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "ringmain-reset-plan";
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kPlanBytesMax = std::uint64_t{1} << 26;

constexpr std::array kClamps = {ResetClamp::none, ResetClamp::log_start, ResetClamp::log_end};

/// What is wrong with a plan; read_plans adds where.
struct BadPlan {
    std::string what;
};

Json partition_to_json(const PartitionReset& reset) {
    return {{"partition", reset.partition},
            {"committed", reset.committed ? Json(*reset.committed) : Json(nullptr)},
            {"position", reset.position},
            {"generation", reset.generation},
            {"log_start", reset.log_start},
            {"log_end", reset.log_end},
            {"target", reset.target},
            {"clamp", to_string(reset.clamp)}};
}

Json plan_to_json(const ResetPlan& plan) {
    Json partitions = Json::array();
    for (const PartitionReset& reset : plan.partitions)
        partitions.push_back(partition_to_json(reset));
    return {{"topic", plan.topic},           {"topic_id", to_string(plan.topic_id)},
            {"group", plan.group},           {"group_slot", plan.group_slot},
            {"group_born", plan.group_born}, {"partitions", std::move(partitions)}};
}

const Json& member(const Json& object, const char* name) {
    if (!object.is_object() || !object.contains(name))
        throw BadPlan{fmt::format("'{}' is missing", name)};
    return object.at(name);
}

std::uint64_t number(const Json& object, const char* name, std::uint64_t max = UINT64_MAX) {
    const Json& value = member(object, name);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > max)
        throw BadPlan{fmt::format("'{}' is {}, not a whole number from 0 to {}", name, value.dump(), max)};
    return value.get<std::uint64_t>();
}

std::uint32_t number32(const Json& object, const char* name) {
    return static_cast<std::uint32_t>(number(object, name, UINT32_MAX));
}

std::string text(const Json& object, const char* name) {
    const Json& value = member(object, name);
    if (!value.is_string())
        throw BadPlan{fmt::format("'{}' is {}, not a string", name, value.dump())};
    return value.get<std::string>();
}

const Json& array(const Json& object, const char* name) {
    const Json& value = member(object, name);
    if (!value.is_array())
        throw BadPlan{fmt::format("'{}' is no array", name)};
    return value;
}

TopicId topic_id(const Json& object) {
    const std::string digits = text(object, "topic_id");
    TopicId id{};
    for (std::size_t i = 0; i < id.size() && digits.size() == 2 * id.size(); ++i) {
        unsigned byte = 0;
        if (std::sscanf(digits.c_str() + 2 * i, "%2x", &byte) == 1)
            id[i] = static_cast<std::uint8_t>(byte);
    }
    if (to_string(id) != digits)
        throw BadPlan{fmt::format("'topic_id' is '{}', not {} hexadecimal digits", digits, 2 * id.size())};
    return id;
}

ResetClamp clamp_of(const Json& object) {
    const std::string name = text(object, "clamp");
    for (const ResetClamp clamp : kClamps) {
        if (to_string(clamp) == name)
            return clamp;
    }
    throw BadPlan{fmt::format("'clamp' is '{}'", name)};
}

PartitionReset partition_of(const Json& object) {
    PartitionReset reset;
    reset.partition = number32(object, "partition");
    if (!member(object, "committed").is_null())
        reset.committed = number(object, "committed", kOffsetMax);
    reset.position = number(object, "position", kOffsetMax);
    reset.generation = number32(object, "generation");
    reset.log_start = number(object, "log_start", kOffsetMax);
    reset.log_end = number(object, "log_end", kOffsetMax);
    reset.target = number(object, "target", kOffsetMax);
    reset.clamp = clamp_of(object);
    return reset;
}

ResetPlan plan_of(const Json& object) {
    ResetPlan plan{text(object, "topic"), topic_id(object),         text(object, "group"), number32(object, "group_slot"),
                   number(object, "group_born"), {}};
    for (const Json& partition : array(object, "partitions"))
        plan.partitions.push_back(partition_of(partition));
    return plan;
}

ResetPlans plans_of(const std::string& content) {
    const Json whole = Json::parse(content, nullptr, false);
    if (whole.is_discarded())
        throw BadPlan{"it is not JSON"};
    if (text(whole, "format") != kFormat || number(whole, "version") != kVersion)
        throw BadPlan{fmt::format("it is none of format {}, version {}", kFormat, kVersion)};
    ResetPlans plans;
    for (const Json& plan : array(whole, "plans"))
        plans.push_back(plan_of(plan));
    return plans;
}

[[noreturn]] void fail_save(const std::string& path, std::string_view what, int error) {
    throw CommandError(fmt::format("{}: cannot {}: {}", path, what, std::generic_category().message(error)));
}

bool write_file(int descriptor, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(descriptor, content.data(), content.size());
        if (written < 0 && errno != EINTR)
            return false;
        content.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return ::fsync(descriptor) == 0 || errno == EINVAL;
}

}  // namespace

Json plans_to_json(const ResetPlans& plans) {
    Json array = Json::array();
    for (const ResetPlan& plan : plans)
        array.push_back(plan_to_json(plan));
    return {{"format", kFormat}, {"version", kVersion}, {"plans", std::move(array)}};
}

void save_plans(const std::string& path, const ResetPlans& plans) {
    const std::string content = plans_to_json(plans).dump(2) + "\n";
    std::string made = path + ".XXXXXX";
    const int descriptor = ::mkstemp(made.data());
    if (descriptor < 0)
        fail_save(path, "create", errno);
    const bool written = write_file(descriptor, content);
    const int error = errno;
    ::close(descriptor);
    if (written && ::rename(made.c_str(), path.c_str()) == 0)
        return;
    const int failure = written ? errno : error;
    ::unlink(made.c_str());
    fail_save(path, "write", failure);
}

ResetPlans read_plans(const std::string& path) {
    const WholeInput input = read_whole(path, kPlanBytesMax);
    try {
        if (input.bytes > input.content.size())
            throw BadPlan{fmt::format("it is longer than {} bytes", kPlanBytesMax)};
        return plans_of(input.content);
    } catch (const BadPlan& bad) {
        throw CommandError(fmt::format("{} is no plan of a reset: {}", path, bad.what));
    }
}

}  // namespace ringmain::cli
