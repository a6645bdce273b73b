// A broker in which something is wrong, the doctor's opinion of it, and the commands that the doctor gives.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "cli/doctor_examination.hpp"
#include "support/catch.hpp"
#include "support/group_topic.hpp"
#include "support/test_broker.hpp"

namespace ringmain::test {

struct Situation : TestBroker {
    [[nodiscard]] cli::Findings findings() const { return cli::examine(cli::look_at(broker, true)); }

    /// The findings of a kind.
    [[nodiscard]] cli::Findings findings(std::string_view id) const {
        cli::Findings all = findings();
        std::erase_if(all, [&](const cli::Finding& finding) { return finding.id != id; });
        return all;
    }
    /// The only finding of a kind; fails the test if there is another number of them.
    [[nodiscard]] cli::Finding finding(std::string_view id) const {
        const cli::Findings all = findings(id);
        INFO(id);
        REQUIRE(all.size() == 1);
        return all.front();
    }
    [[nodiscard]] bool has(std::string_view id) const { return !findings(id).empty(); }

    [[nodiscard]] std::string ringmain(const std::string& arguments) const {
        return "ringmain -d " + broker.directory().string() + " " + arguments;
    }
    [[nodiscard]] std::string topic_path(const std::string& topic) const {
        return broker.directory().string() + "/topics/" + topic;
    }

    static TopicOptions small(WhenFull when_full = WhenFull::overwrite, std::uint32_t partitions = 1) {
        TopicOptions options;
        options.partitions = partitions;
        options.records = 64;
        options.producer_slots = 4;
        options.payload_bytes = 0;
        options.groups = 4;
        options.members = 4;
        options.when_full = when_full;
        return options;
    }
};

/// Runs a command as the doctor gave it: in a shell, with the `ringmain` of this build.
inline int run_in_shell(const std::string& command) {
    const std::string program = RINGMAIN_CLI_PATH;
    const std::string line =
        "PATH=" + program.substr(0, program.rfind('/')) + ":$PATH; " + command + " > /dev/null 2>&1";
    const int status = std::system(line.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace ringmain::test
