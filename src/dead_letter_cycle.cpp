// Where dead letters go, and whether they would come back.
#include "dead_letter_cycle.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "file_stamp.hpp"
#include "group_table/listing.hpp"
#include "layout/work.hpp"
#include "platform/files.hpp"
#include "platform/mapping.hpp"
#include "ringmain/error.hpp"
#include "topic_name.hpp"
#include "topic_paths.hpp"
#include "work_settings.hpp"

namespace ringmain {

namespace {

struct Edge {
    std::string group;
    bool queue = false;
    std::string letters;  // the topic that the group's letters go to
    TopicId letters_id{};
};

// Of a group that is there, or is being made: the settings come before it. Others are leftovers.
bool belongs_to_group(const TopicFiles& topic, const layout::WorkSettings& settings) {
    const auto& groups = topic.groups();
    if (settings.group_slot >= groups.groups_max() || groups.born(settings.group_slot) != settings.group_born)
        return false;
    const group_table::GroupState state = groups.set(settings.group_slot).state;
    return state == group_table::GroupState::open || state == group_table::GroupState::claimed;
}

// Nothing: no letters go anywhere, or the file is none that can be believed.
std::optional<Edge> edge_of(const TopicFiles& topic, const std::filesystem::path& directory) {
    const std::filesystem::path path = workers_path(directory);
    const platform::Mapping file(path, platform::Access::read_only, layout::kWorkersFileBytes);
    if (check_stamp(file, path, layout::FileKind::workers) != topic.id())
        return std::nullopt;
    const auto& settings = *reinterpret_cast<const layout::WorkSettings*>(file.data() + layout::kWorkSettingsAt);
    const std::size_t length = settings.letters_name_length;
    if (length > settings.letters_name.size() || !belongs_to_group(topic, settings))
        return std::nullopt;
    std::string letters(settings.letters_name.data(), length);
    if (!is_topic_name(letters))
        return std::nullopt;
    return Edge{group_table::name_of(topic.groups(), settings.group_slot), settings.kind == kWorkOfQueue, std::move(letters),
                letters_id(settings)};
}

std::vector<Edge> edges_of(const TopicFiles& topic) {
    std::vector<Edge> edges;
    const std::filesystem::path queues = queues_path(topic.directory());
    for (const std::string& name : platform::names_in(queues)) {
        if (name.starts_with('.'))
            continue;  // not whole yet: whoever makes it looks for a cycle itself
        try {
            if (auto edge = edge_of(topic, queues / name))
                edges.push_back(std::move(*edge));
        } catch (const Error&) {
            // removed meanwhile, or damaged
        }
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.group < b.group; });
    return edges;
}

std::vector<Edge> edges_of(const Broker::Impl& broker, const std::string& topic) {
    try {
        return edges_of(*broker.open_topic(topic));
    } catch (const Error& error) {
        if (error.code() == ErrorCode::forked || error.code() == ErrorCode::io)
            throw;
        return {};
    }
}

}  // namespace

std::vector<std::string> topics_for_letters_of(const Broker::Impl& broker, const std::string& topic) {
    std::vector<std::string> names;
    for (Edge& edge : edges_of(broker, topic))
        names.push_back(std::move(edge.letters));
    return names;
}

std::vector<LetterSender> senders_of_letters_to(const Broker::Impl& broker, const TopicFiles& letters) {
    std::vector<LetterSender> senders;
    for (const std::string& topic : broker.list_topics()) {
        for (Edge& edge : edges_of(broker, topic)) {
            if (edge.letters == letters.name() && edge.letters_id == letters.id())
                senders.push_back({topic, std::move(edge.group), edge.queue});
        }
    }
    return senders;
}

std::optional<std::string> way_of_letters_back(const Broker::Impl& broker, std::string_view origin,
                                               std::string_view letters) {
    std::deque<std::string> todo{std::string(letters)};
    std::map<std::string, std::string> ways{{std::string(letters), "'" + std::string(letters) + "'"}};
    for (; !todo.empty(); todo.pop_front()) {
        const std::string topic = todo.front();
        for (const Edge& edge : edges_of(broker, topic)) {
            const std::string way = ways[topic] + " (group '" + edge.group + "') -> '" + edge.letters + "'";
            if (edge.letters == origin)
                return way;
            if (ways.emplace(edge.letters, way).second)
                todo.push_back(edge.letters);
        }
    }
    return std::nullopt;
}

}  // namespace ringmain
