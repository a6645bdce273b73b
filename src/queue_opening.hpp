// Finding queues, and making those that do not exist: what administrators and workers begin with.
#pragma once

#include <memory>
#include <string_view>

#include "broker_impl.hpp"
#include "platform/access.hpp"
#include "ringmain/queue.hpp"
#include "topic_files.hpp"
#include "work_files.hpp"

namespace ringmain {

/// Throws Error: not_found, mismatch (the name is a stream group's), topic_deleted.
[[nodiscard]] group_table::GroupRef require_queue(const TopicFiles& topic, std::string_view queue);

/// A queue that exists, with its files open. Throws Error: not_found, mismatch (the name is a stream group's), permission_denied,
/// version_mismatch, corrupt, topic_deleted.
[[nodiscard]] WorkFiles open_queue(std::shared_ptr<const TopicFiles> topic, std::string_view queue, platform::Access access);

/// Its options as they were stored. Throws Error as WorkFiles::part.
[[nodiscard]] QueueOptions options_of(WorkFiles& work);

/// Creates a queue, whole or not at all: its dead-letter topic, its files, then the group. If it exists, nothing is done. True:
/// created. Throws Error: invalid_argument, mismatch (a stream group's name), limit, no_space, permission_denied, corrupt,
/// topic_deleted, and whatever speaks against the dead-letter topic. If the caller dies in here, others find no queue or a whole one.
bool create_queue(const std::shared_ptr<Broker::Impl>& broker, const std::shared_ptr<const TopicFiles>& topic, std::string_view queue,
                  const QueueOptions& options);

/// The queue, created if it does not exist. Throws Error as both, and mismatch (the first option that differs).
[[nodiscard]] WorkFiles ensure_queue(const std::shared_ptr<Broker::Impl>& broker, const std::shared_ptr<const TopicFiles>& topic,
                                     std::string_view queue, const QueueOptions& options, platform::Access access, bool* created = nullptr);

/// Throws Error mismatch if the group is a queue: for those who would act on it as on a stream group. `command`: what to use.
void refuse_queue(const TopicFiles& topic, group_table::GroupRef group, std::string_view name, std::string_view command);

}  // namespace ringmain
