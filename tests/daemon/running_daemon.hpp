// A daemon on a broker of a test's own, and plain ways to talk to its socket.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/descriptor.hpp"
#include "program.hpp"
#include "ringmain/broker.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::test {

/// Waits, within a wide bound.
[[nodiscard]] bool eventually(const std::function<bool()>& reached);

[[nodiscard]] TopicOptions small_topic();

struct ApiReply {
    int status = 0;  ///< 0: no whole answer came.
    std::string body;
    [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
    [[nodiscard]] std::string code() const { return json().value("code", ""); }
    [[nodiscard]] std::string message() const { return json().value("message", ""); }
};

/// One request over a Unix socket.
[[nodiscard]] ApiReply ask(const std::filesystem::path& socket, const std::string& method, const std::string& target,
                           const std::string& body = {});
[[nodiscard]] bool is_healthy(const std::filesystem::path& socket);

/// A connection without any manners.
[[nodiscard]] platform::Descriptor connect_raw(const std::filesystem::path& socket);
/// False if not all could be sent.
bool send_raw(const platform::Descriptor& connection, const std::string& bytes);
/// Everything until the other side ends it, or `timeout` has passed.
[[nodiscard]] std::string read_all(const platform::Descriptor& connection,
                                   std::chrono::milliseconds timeout = std::chrono::seconds(30));

/// `ringmaind` in a child; ended by its id.
class RunningDaemon {
public:
    /// Returns when its socket answers. `configuration`: lines of its file, but for the directory.
    explicit RunningDaemon(const std::filesystem::path& broker, const std::string& configuration = {}, uid_t uid = 0);

    [[nodiscard]] const std::filesystem::path& socket() const noexcept { return socket_; }
    [[nodiscard]] Child& process() noexcept { return *child_; }
    [[nodiscard]] std::string log() const { return text_in(output_); }
    [[nodiscard]] ApiReply ask(const std::string& method, const std::string& target,
                               const std::string& body = {}) const {
        return test::ask(socket_, method, target, body);
    }

private:
    ScratchDirectory scratch_;
    std::filesystem::path output_;
    std::filesystem::path socket_;
    std::optional<Child> child_;
};

/// Runs `body` as another user, in these groups; its exit code, 99 if it throws.
[[nodiscard]] int run_as(uid_t uid, const std::vector<gid_t>& groups, const std::function<int()>& body);

}  // namespace ringmain::test
