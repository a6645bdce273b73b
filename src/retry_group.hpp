// The stream group whose failures are retried: found, or made with what its retries need.
#pragma once

#include <memory>

#include "broker_impl.hpp"
#include "ringmain/group.hpp"
#include "ringmain/retry.hpp"
#include "topic_files.hpp"
#include "work_files.hpp"

namespace ringmain {

/// The files of the group's retries. The first runner makes them, of a group that is there or is made here; later ones
/// must want the same. Requires checked options. Throws Error as RetryRunner. If the caller dies in here, the next one
/// finds all of it or none, and perhaps a dead-letter topic that nobody uses yet.
[[nodiscard]] WorkFiles provide_retries(const std::shared_ptr<Broker::Impl>& broker,
                                        const std::shared_ptr<const TopicFiles>& topic, const GroupOptions& group,
                                        const RetryOptions& options);

}  // namespace ringmain
