// The topics of the broker, over the socket.
#include "api_topics.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

#include "api_json.hpp"
#include "api_rights.hpp"
#include "broker_impl.hpp"
#include "cli/topic_report.hpp"
#include "log.hpp"
#include "platform/no_links.hpp"
#include "record_deletion.hpp"
#include "ringmain/error.hpp"
#include "ringmain/group_admin.hpp"
#include "topic_access.hpp"
#include "topic_paths.hpp"
#include "topic_quotas.hpp"
#include "topic_retention.hpp"

namespace ringmain::daemon {

namespace {

constexpr int kCreated = 201;

const Peer& peer_of(const HttpCall& call) {
    if (!call.peer)
        throw Error(ErrorCode::permission_denied, "request", "who asks is not known, and may change nothing");
    return *call.peer;
}

ApiRights rights_of(const ServiceContext& context) {
    return {context.broker.directory(), context.configuration.get()->socket.admin_group};
}

void check_no_query(const HttpCall& call, std::initializer_list<std::string_view> known) {
    for (const auto& [name, value] : call.query) {
        bool is_known = false;
        for (const std::string_view one : known)
            is_known = is_known || one == name;
        if (!is_known)
            throw Error(ErrorCode::invalid_argument, name, "the request has no parameter '" + name + "'");
    }
}

bool shares_with_group(const std::filesystem::path& directory) {
    const auto status = platform::status_without_links(directory);
    return status && (status->st_mode & S_ISGID) != 0 && (status->st_mode & S_IWGRP) != 0;
}

/// What the request says, then what the configuration says; for the rest the topic gets the rights that it would have
/// if the asker had made it himself, as far as the daemon may give them.
TopicAccess access_for(const Peer& peer, const CreationRequest& request, const TopicAccess& configured,
                       const ApiRights& rights, const std::filesystem::path& broker) {
    TopicAccess access = request.options.access;
    const bool is_his = ::geteuid() == 0 && peer.is_known && peer.uid != 0 && rights.may_create_himself(peer);
    const bool is_shared = shares_with_group(topics_path(broker));
    if (!access.owner)
        access.owner = configured.owner;
    if (!access.group)
        access.group = configured.group;
    if (!access.mode)
        access.mode = configured.mode;
    if (!access.owner && is_his)
        access.owner = peer.uid;
    if (!access.group && is_his && !is_shared)
        access.group = peer.gid;
    if (!access.mode && request.umask)
        access.mode = (0666U & ~*request.umask) | (is_shared ? 0060U : 0U);
    return access;
}

/// A daemon that is not root cannot give a topic to who asked for it. Who would be shut out of his own topic, and can
/// make it himself, is left to do so: the library then does.
void check_is_of_use(const Peer& peer, std::string_view topic, const TopicAccess& access, const ApiRights& rights,
                     const std::filesystem::path& broker) {
    if (::geteuid() == 0 || peer.uid == ::geteuid() || !access.mode || !rights.may_create_himself(peer))
        return;
    const auto status = platform::status_without_links(topics_path(broker));
    const bool inherits = status && shares_with_group(topics_path(broker));
    const gid_t group = access.group.value_or(inherits ? status->st_gid : ::getegid());
    unsigned granted = *access.mode & 07U;
    if (peer.is_known && access.owner == peer.uid)
        granted = (*access.mode >> 6U) & 07U;
    else if (peer.is_in(group))
        granted = (*access.mode >> 3U) & 07U;
    if ((granted & 02U) == 0) {
        throw Error(ErrorCode::permission_denied, std::string(topic),
                    "topic '" + std::string(topic) + "' would belong to the daemon's user " +
                        std::to_string(::geteuid()) + ", and user " + std::to_string(peer.uid) +
                        ", who may make it himself, could not write it");
    }
}

std::vector<GroupDescription> groups_of(const Broker& broker, const std::string& topic) {
    constexpr LagOptions kOffsetsOnly{.time = false, .bytes_records_max = 0};
    GroupAdmin admin(broker);
    std::vector<GroupDescription> groups;
    for (const GroupSummary& group : admin.list(topic))
        groups.push_back(admin.describe(topic, group.name, kOffsetsOnly));
    return groups;
}

std::uint32_t partition_number(const std::string& topic, const std::string& text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
        throw Error(ErrorCode::invalid_argument, topic,
                    "topic '" + topic + "': the partition in the target is not a number");
    return number;
}

/// Offsets from the first to the last one that went.
std::string deletion_text(const RecordsDeleted& deleted) {
    if (deleted.from == deleted.to)
        return "no record";
    return "records " + std::to_string(deleted.from) + " to " + std::to_string(deleted.to - 1);
}

}  // namespace

HttpAnswer ApiTopics::list() const { return {200, cli::topics_to_json(context_.broker) + "\n"}; }

HttpAnswer ApiTopics::describe(const std::string& topic) const {
    const TopicDescription description = context_.broker.describe_topic(topic);
    return {200, cli::topic_to_json(description, groups_of(context_.broker, topic)) + "\n"};
}

HttpAnswer ApiTopics::create(const HttpCall& call, const std::string& topic) const {
    const Peer& peer = peer_of(call);
    check_no_query(call, {});
    check_topic_name(topic);
    TopicOptions defaults = context_.configuration.get()->defaults;
    const TopicAccess configured = std::exchange(defaults.access, {});
    CreationRequest request = creation_from_json(topic, call.body, defaults);
    const ApiRights rights = rights_of(context_);
    rights.check_creation(peer, topic, request.options.access);
    request.options.access = access_for(peer, request, configured, rights, context_.broker.directory());
    if (request.umask)
        check_is_of_use(peer, topic, request.options.access, rights, context_.broker.directory());
    const TopicDescription made = context_.quotas.create_topic(
        topic, request.options, [&call] { return call.is_called_off(); }, request.id);
    context_.log.write({.event = "topic_created",
                        .topic = topic,
                        .message = "topic '" + topic + "' was created for user " + std::to_string(peer.uid),
                        .details = {{"uid", std::uint64_t{peer.uid}}}});
    return {kCreated, cli::topic_to_json(made) + "\n"};
}

HttpAnswer ApiTopics::remove(const HttpCall& call, const std::string& topic) const {
    const Peer& peer = peer_of(call);
    check_no_query(call, {"id"});
    std::optional<TopicId> id;
    if (const auto given = call.query.find("id"); given != call.query.end()) {
        id = topic_id_from(given->second);
        if (!id)
            throw Error(ErrorCode::invalid_argument, topic,
                        "topic '" + topic + "': the parameter id is not 32 hexadecimal digits");
    }
    const auto found = context_.broker.impl()->open_topic(topic);
    rights_of(context_).check_deletion(peer, *found);
    if (call.is_called_off())
        throw Error(ErrorCode::interrupted, topic, "the deletion of topic '" + topic + "' was called off");
    context_.broker.impl()->delete_topic(topic, id.value_or(found->id()));  // the one whose rights were looked at
    context_.log.write({.event = "topic_deleted",
                        .topic = topic,
                        .message = "topic '" + topic + "' was deleted for user " + std::to_string(peer.uid),
                        .details = {{"uid", std::uint64_t{peer.uid}}}});
    return {200, "{}\n"};
}

HttpAnswer ApiTopics::change(const HttpCall& call, const std::string& topic) const {
    const Peer& peer = peer_of(call);
    check_no_query(call, {});
    const ChangeRequest request = apply_change(peer, call, *context_.broker.impl()->open_topic(topic));
    context_.log.write(
        {.event = "topic_changed",
         .topic = topic,
         .message = "topic '" + topic + "' was changed for user " + std::to_string(peer.uid) + ": " + to_json(request),
         .details = {{"uid", std::uint64_t{peer.uid}}}});
    return describe(topic);
}

/// The limits that the request does not name stay: no other request changes them between the look and the change.
ChangeRequest ApiTopics::apply_change(const Peer& peer, const HttpCall& call, const TopicFiles& topic) const {
    const std::lock_guard one_at_a_time(*changing_);
    ChangeRequest request = change_from_json(topic.name(), call.body, topic.retention());
    const ApiRights rights = rights_of(context_);
    if (request.retention) {
        check_retention(topic.name(), *request.retention);
        rights.check_writing(peer, topic);
    }
    if (request.access) {
        check_topic_access(topic.name(), *request.access);
        rights.check_access(peer, topic, *request.access);
    }
    if (request.retention)
        set_retention(topic, *request.retention);
    if (request.access)
        set_access(topic, *request.access);
    return request;
}

HttpAnswer ApiTopics::delete_records(const HttpCall& call, const std::string& topic,
                                     const std::string& partition) const {
    const Peer& peer = peer_of(call);
    check_no_query(call, {});
    const std::uint32_t number = partition_number(topic, partition);
    const std::uint64_t offset = deletion_from_json(topic, call.body);
    const auto found = context_.broker.impl()->open_topic(topic);
    rights_of(context_).check_writing(peer, *found);
    const RecordsDeleted deleted = ringmain::delete_records(*found, context_.broker.impl()->clients(), number, offset);
    context_.log.write({.event = "records_deleted",
                        .topic = topic,
                        .partition = number,
                        .message = deletion_text(deleted) + " of topic '" + topic + "' partition " + partition +
                                   (deleted.from == deleted.to ? " was deleted" : " were deleted") + " for user " +
                                   std::to_string(peer.uid) + (deleted.holder.empty() ? "" : ": " + deleted.holder + " holds what follows"),
                        .details = {{"uid", std::uint64_t{peer.uid}}}});
    return {200, to_json(deleted) + "\n"};
}

}  // namespace ringmain::daemon
