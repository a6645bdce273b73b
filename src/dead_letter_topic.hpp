// The topic that a group's dead letters go to: found or created, and checked before anything is sent there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "broker_impl.hpp"
#include "layout/work.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// What a group remembers of it.
struct DeadLetterTopic {
    TopicId id{};
    std::string name;
    std::uint32_t partitions = 0;
};

/// What was stored of it; without a name: there is none. Requires settings without a fault.
[[nodiscard]] DeadLetterTopic dead_letter_topic_of(const layout::WorkSettings& settings);

/// `wanted`, or if that is empty the origin's name + ".dlq".
[[nodiscard]] std::string dead_letter_topic_name(std::string_view origin, std::string_view wanted);

/// What a dead-letter topic is created with, but for who may use it: letters of the largest records fit, and it blocks
/// when it is full. Throws Error invalid_argument: no topic can hold letters of the origin's largest records.
[[nodiscard]] TopicOptions dead_letter_topic_options(std::string_view origin, const TopicOptions& options);

/// Finds the topic, or creates it with the rights of the origin (as far as this process may give them), and sees to it
/// that a `block` topic keeps its letters from its start on. `group`: whose letters go there, for messages. Throws
/// Error: invalid_argument (the origin itself, a topic whose own letters come back to it, too small for the origin's
/// largest record, offsets beyond what a ticket holds, no legal name), busy (an exclusive producer is attached),
/// permission_denied, limit (no group left to keep the letters), no_space, corrupt, version_mismatch, forked, io.
/// If the caller dies here there may be a dead-letter topic that nobody uses yet; whoever comes next takes it.
[[nodiscard]] DeadLetterTopic provide_dead_letter_topic(const std::shared_ptr<Broker::Impl>& broker,
                                                        const TopicFiles& origin, std::string_view group,
                                                        std::string_view wanted);

/// The group that keeps the letters, found or begun at the start of the log; gating where the topic blocks. Throws
/// Error as GroupMember, and mismatch if a work queue has the name.
void keep_letters(const std::shared_ptr<Broker::Impl>& broker, const std::shared_ptr<const TopicFiles>& letters);

}  // namespace ringmain
