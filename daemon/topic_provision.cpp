// Brings the topics of a broker to what the configuration wants, without touching their records.
#include "topic_provision.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/rights_text.hpp"
#include "ringmain/error.hpp"
#include "topic_comparison.hpp"

namespace ringmain::daemon {

void TopicProvision::apply(const std::vector<TopicPlan>& plans) {
    for (const TopicPlan& plan : plans) {
        if (stop_())
            return;
        try {
            apply(plan);
        } catch (const Error& error) {
            log_.write({.level = LogLevel::error,
                        .event = "topic_not_applied",
                        .topic = plan.name,
                        .message = error.what(),
                        .details = {{"code", std::string(to_string(error.code()))}},
                        .limited = false});
        }
    }
}

void TopicProvision::apply(const TopicPlan& plan) {
    const TopicComparison found = compare(broker_, plan);
    if (!found.exists)
        return create(plan);
    if (!found.fixed.empty()) {
        log_.write({.level = LogLevel::error,
                    .event = "topic_mismatch",
                    .topic = plan.name,
                    .message = fmt::format(
                        "topic '{0}' exists with {1}; it is left as it is, since these are fixed at its creation. "
                        "Either change the configuration to what is there, or delete the topic with its records "
                        "(ringmain topic delete {0}) and let the daemon make it anew (SIGHUP)",
                        plan.name, fmt::join(found.fixed, "; ")),
                    .limited = false});
    }
    if (found.retention)
        set_retention(plan, *found.retention);
    if (found.access)
        set_access(plan, *found.access);
}

void TopicProvision::create(const TopicPlan& plan) {
    try {
        const TopicDescription topic = quotas_.create_topic(plan.name, plan.options, stop_);
        log_.write({.event = "topic_created",
                    .topic = plan.name,
                    .message = fmt::format("topic '{}' created: {} partition{} of {} records, {} bytes", plan.name,
                                           topic.options.partitions, topic.options.partitions == 1 ? "" : "s",
                                           topic.options.records, topic.bytes),
                    .details = {{"bytes", topic.bytes}},
                    .limited = false});
    } catch (const Error& error) {
        if (error.code() == ErrorCode::already_exists)
            return apply(plan);  // somebody was faster; only who creates and deletes it all the time keeps us here
        throw;
    }
}

void TopicProvision::set_retention(const TopicPlan& plan, const Retention& found) {
    broker_.set_retention(plan.name, plan.options.retention);
    log_.write({.event = "retention_changed",
                .topic = plan.name,
                .message = fmt::format("topic '{}' has the retention {} now, it was {}", plan.name,
                                       to_text(plan.options.retention), to_text(found)),
                .limited = false});
}

void TopicProvision::set_access(const TopicPlan& plan, const TopicAccess& found) {
    broker_.set_access(plan.name, plan.options.access);
    log_.write({.event = "access_changed",
                .topic = plan.name,
                .message = fmt::format("topic '{}' has {} now, it was {}; who has it open keeps it open", plan.name,
                                       cli::rights_to_text(plan.options.access), cli::rights_to_text(found)),
                .limited = false});
}

void TopicProvision::note_vanished(const std::vector<TopicPlan>& before, const std::vector<TopicPlan>& now) {
    const std::vector<std::string> existing = broker_.list_topics();
    for (const TopicPlan& plan : before) {
        const bool stays =
            std::any_of(now.begin(), now.end(), [&](const TopicPlan& one) { return one.name == plan.name; });
        if (stays || !std::binary_search(existing.begin(), existing.end(), plan.name))
            continue;
        log_.write({.level = LogLevel::warning,
                    .event = "topic_left_alone",
                    .topic = plan.name,
                    .message = fmt::format("topic '{0}' is not in the configuration any more; it is left as it is "
                                           "(ringmain topic delete {0} deletes it)",
                                           plan.name),
                    .limited = false});
    }
}

}  // namespace ringmain::daemon
