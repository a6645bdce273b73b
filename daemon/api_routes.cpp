// Which request is answered by what.
#include "api_routes.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "api_topics.hpp"
#include "cli/group_report.hpp"
#include "cli/queue_report.hpp"
#include "keeper_report.hpp"
#include "keeper_thread.hpp"
#include "ringmain/error.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/queue_admin.hpp"

namespace ringmain::daemon {

namespace {

constexpr std::string_view kHealthTarget = "/v1/health";

using Path = std::vector<std::string>;

[[noreturn]] void no_such_target(const HttpCall& call) {
    std::string path;
    for (const std::string& segment : call.path)
        path.append("/").append(segment);
    throw Error(ErrorCode::not_found, path, "nothing answers " + call.method + " here; docs/api.md says what does");
}

HttpAnswer health(const ServiceContext& context) {
    const KeeperStatistics keeper = context.keeper.keeper().statistics();
    const nlohmann::ordered_json json = {{"status", "ok"},
                                         {"keeping", keeper.keeping},
                                         {"unreadable_topics", keeper.unreadable_topics},
                                         {"unreadable_partitions", keeper.unreadable_partitions},
                                         {"pid", ::getpid()},
                                         {"version", RINGMAIN_VERSION},
                                         {"directory", context.broker.directory().string()}};
    return {200, json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"};
}

HttpAnswer groups(const Broker& broker) {
    GroupAdmin admin(broker);
    return {200, cli::groups_to_json(admin.list()) + "\n"};
}

/// The topic that is asked for, if one is.
std::optional<std::string> topic_in(const HttpCall& call) {
    const auto topic = call.query.find("topic");
    return topic == call.query.end() ? std::nullopt : std::optional(topic->second);
}

HttpAnswer group(const Broker& broker, const HttpCall& call, const std::string& name) {
    GroupAdmin admin(broker);
    const auto topic = topic_in(call);
    const std::vector<std::string> topics = topic ? std::vector{*topic} : admin.topics_of(name);
    if (topics.empty())
        throw Error(ErrorCode::not_found, name, "no topic has a group '" + name + "'");
    std::vector<GroupDescription> descriptions;
    for (const std::string& one : topics)
        descriptions.push_back(admin.describe(one, name));
    return {200, cli::groups_to_json(descriptions) + "\n"};
}

HttpAnswer queues(const Broker& broker) {
    QueueAdmin admin(broker);
    return {200, cli::queues_to_json(admin.list()) + "\n"};
}

HttpAnswer queue(const Broker& broker, const HttpCall& call, const std::string& name) {
    std::vector<std::string> topics;
    if (const auto topic = topic_in(call)) {
        topics.push_back(*topic);
    } else {
        GroupAdmin groups(broker);
        for (const GroupSummary& group : groups.list()) {
            if (group.name == name && group.state == GroupState::queue)
                topics.push_back(group.topic);
        }
    }
    if (topics.empty())
        throw Error(ErrorCode::not_found, name, "no topic has a queue '" + name + "'");
    QueueAdmin admin(broker);
    std::vector<QueueDescription> descriptions;
    for (const std::string& one : topics)
        descriptions.push_back(admin.describe(one, name));
    return {200, cli::queues_to_json(descriptions) + "\n"};
}

class Api {
public:
    Api(const ServiceContext& context, MetricsText metrics)
        : context_(context), topics_(context), metrics_(std::move(metrics)) {}

    HttpAnswer operator()(const HttpCall& call) const {
        const Path& path = call.path;
        if (call.method == "GET" && path == Path{"metrics"})
            return {200, metrics_(call.arrived), "text/plain; version=0.0.4; charset=utf-8"};
        if (path.size() < 2 || path[0] != "v1")
            no_such_target(call);
        if (path[1] == "topics")
            return topics(call);
        if (call.method == "GET" && path == Path{"v1", "health"})
            return health(context_);
        if (call.method == "GET" && path == Path{"v1", "keeper"})
            return {200, keeper_to_json(context_.keeper) + "\n"};
        if (call.method == "GET" && path == Path{"v1", "groups"})
            return groups(context_.broker);
        if (call.method == "GET" && path.size() == 3 && path[1] == "groups")
            return group(context_.broker, call, path[2]);
        if (call.method == "GET" && path == Path{"v1", "queues"})
            return queues(context_.broker);
        if (call.method == "GET" && path.size() == 3 && path[1] == "queues")
            return queue(context_.broker, call, path[2]);
        no_such_target(call);
    }

private:
    HttpAnswer topics(const HttpCall& call) const {
        const Path& path = call.path;
        constexpr std::size_t kTopic = 3;          // v1 topics NAME
        constexpr std::size_t kDeleteRecords = 6;  // v1 topics NAME partitions NUMBER delete-records
        if (path.size() == 2 && call.method == "GET")
            return topics_.list();
        if (path.size() == kDeleteRecords && call.method == "POST" && path[3] == "partitions" &&
            path[5] == "delete-records")
            return topics_.delete_records(call, path[2], path[4]);
        if (path.size() != kTopic)
            no_such_target(call);
        if (call.method == "GET")
            return topics_.describe(path[2]);
        if (call.method == "PUT")
            return topics_.create(call, path[2]);
        if (call.method == "PATCH")
            return topics_.change(call, path[2]);
        if (call.method == "DELETE")
            return topics_.remove(call, path[2]);
        no_such_target(call);
    }

    ServiceContext context_;
    ApiTopics topics_;
    MetricsText metrics_;
};

}  // namespace

HttpRouter::Handler api_handler(const ServiceContext& context, MetricsText metrics) {
    return Api(context, std::move(metrics));
}

HttpRouter::Handler metrics_handler(const ServiceContext& context, MetricsText metrics) {
    return [api = Api(context, std::move(metrics))](const HttpCall& call) {
        if (call.path != Path{"metrics"} && call.path != Path{"v1", "health"})
            no_such_target(call);
        return api(call);
    };
}

HttpWork work_of(std::string_view method, std::string_view target) noexcept {
    if (method == "GET" && target == kHealthTarget)
        return HttpWork::at_once;
    return method == "GET" || method == "HEAD" ? HttpWork::look : HttpWork::change;
}

}  // namespace ringmain::daemon
