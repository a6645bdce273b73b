// Commands over several topics: one that fails must not hide or spare the others.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "errors.hpp"
#include "group_commands.hpp"
#include "group_report.hpp"
#include "output.hpp"
#include "ringmain/error.hpp"
#include "signals.hpp"

namespace ringmain::cli {

/// Calls `use(topic)` for each. A failure is told and the next one follows, unless the user `named` the topic: then it goes
/// through. Topics that were deleted since they were listed are passed over. False: some failed.
template <class Use>
[[nodiscard]] bool use_each(const std::vector<std::string>& topics, bool named, const Use& use) {
    bool good = true;
    for (const std::string& topic : topics) {
        try {
            use(topic);
        } catch (const Error& error) {
            if (named)
                throw;
            if (error.code() == ErrorCode::not_found || error.code() == ErrorCode::topic_deleted)
                continue;
            note("{}", printable(error.what()));
            good = false;
        }
    }
    return good;
}

/// Deletes what can be, `what` is "group" or "queue". Throws Exit if something is left.
template <class Admin>
void delete_in_each(Admin& admin, const std::vector<std::string>& topics, std::string_view what, const std::string& name, bool force) {
    bool failed = false;
    for (const std::string& topic : topics) {
        try {
            admin.remove(topic, name, force);
            print(fmt::format("deleted {} {} of topic {}\n", what, printable(name), topic));
        } catch (const Error& error) {
            const bool damaged_queue = error.code() == ErrorCode::corrupt && what == "queue" && !force;
            note("{}{}", printable(in_force_words(error)), damaged_queue ? "; --force deletes the queue all the same" : "");
            failed = true;
        }
    }
    if (failed)
        throw Exit{kExitFailed};
}

}  // namespace ringmain::cli
