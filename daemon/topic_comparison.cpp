// What is to be done about a topic that the configuration wants.
#include "topic_comparison.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "quantities.hpp"
#include "ringmain/error.hpp"

namespace ringmain::daemon {

namespace {

std::string type_to_text(const ValueType& type) {
    if (type.name.empty())
        return "bytes";
    return fmt::format("{} ({} bytes, alignment {})", type.name, type.size, type.alignment);
}

class Differences {
public:
    template <class Value>
    void compare(const char* option, const Value& found, const Value& wanted) {
        if (found != wanted)
            all_.push_back(fmt::format("{} {}, wanted {}", option, found, wanted));
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(all_); }

private:
    std::vector<std::string> all_;
};

std::vector<std::string> fixed_differences(const TopicOptions& found, const TopicOptions& wanted) {
    Differences differences;
    differences.compare("partitions", found.partitions, wanted.partitions);
    differences.compare("records", found.records, wanted.records);
    differences.compare("cell", found.cell_bytes, wanted.cell_bytes);
    differences.compare("payload", found.payload_bytes, wanted.payload_bytes);
    differences.compare("producers", found.producer_slots, wanted.producer_slots);
    differences.compare("groups", found.groups, wanted.groups);
    differences.compare("members", found.members, wanted.members);
    differences.compare("when_full", to_string(found.when_full), to_string(wanted.when_full));
    differences.compare("first_offset", found.first_offset, wanted.first_offset);
    differences.compare("value_type", type_to_text(found.value_type), type_to_text(wanted.value_type));
    return differences.take();
}

template <class Id>
bool is_other(const std::optional<Id>& found, const std::optional<Id>& wanted) noexcept {
    return wanted && found != wanted;
}

}  // namespace

TopicComparison compare(const Broker& broker, const TopicPlan& plan) {
    TopicComparison comparison;
    TopicOptions found;
    try {
        found = broker.describe_topic(plan.name).options;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::not_found)
            throw;
        return comparison;
    }
    comparison.exists = true;
    comparison.fixed = fixed_differences(found, plan.options);
    if (found.retention != plan.options.retention)
        comparison.retention = found.retention;
    const TopicAccess& wanted = plan.options.access;
    if (is_other(found.access.owner, wanted.owner) || is_other(found.access.group, wanted.group) ||
        is_other(found.access.mode, wanted.mode)) {
        comparison.access = found.access;
    }
    return comparison;
}

std::string to_text(const Retention& retention) {
    std::vector<std::string> limits;
    if (retention.age.count() != 0)
        limits.push_back("age " + duration_to_text(retention.age));
    if (retention.records != 0)
        limits.push_back(fmt::format("records {}", retention.records));
    if (retention.bytes != 0)
        limits.push_back("bytes " + size_to_text(retention.bytes));
    return limits.empty() ? "no limit" : fmt::format("{}", fmt::join(limits, ", "));
}

}  // namespace ringmain::daemon
