// What is done by the daemon if one listens, and here if none does. Whoever keeps the directory himself does it here.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "broker_impl.hpp"

namespace ringmain {

/// Nothing: the topic exists. Otherwise as Broker::create_topic; topic_deleted if somebody deleted it at once; not_ready if there is a daemon that does not answer,
/// and this process lacks the rights to do without it.
[[nodiscard]] std::optional<TopicDescription> create_topic_somehow(Broker::Impl& broker, std::string_view name,
                                                                   const TopicOptions& options,
                                                                   const std::function<bool()>& stop = {});
void delete_topic_somehow(Broker::Impl& broker, std::string_view name);

// For what the rights of files decide: `directly` does it, and the daemon is asked when this process may not.
void change_topic_somehow(Broker::Impl& broker, std::string_view name, const std::string& body,
                          const std::function<void()>& directly);
RecordsDeleted delete_records_somehow(Broker::Impl& broker, std::string_view name, std::uint32_t partition,
                                      std::uint64_t offset, const std::function<RecordsDeleted()>& directly);

}  // namespace ringmain
