// A daemon whose configuration a test changes, and whose log it reads.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"
#include "running_daemon.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::test {

/// `ringmaind` with JSON lines, ended by its id.
class LoggedDaemon {
public:
    /// Returns when it said that it keeps the directory. `configuration`: its file, without the directory.
    explicit LoggedDaemon(const std::string& configuration = {},
                          std::vector<std::pair<std::string, std::string>> environment = {}, bool waits = true);

    [[nodiscard]] std::filesystem::path broker() const { return scratch_.broker(); }
    [[nodiscard]] std::filesystem::path file() const { return scratch_.path() / "ringmaind.toml"; }
    void write(const std::string& configuration) const;
    /// Ends the one that runs, if it does, with that signal; its exit code.
    int end(int signal = SIGTERM);
    void start(bool waits = true);
    [[nodiscard]] Child& process() { return *child_; }

    /// All lines with that event so far.
    [[nodiscard]] std::vector<nlohmann::json> lines(const std::string& event) const;
    /// Waits for a further line with that event since the last call of this or of forget().
    [[nodiscard]] std::optional<nlohmann::json> next(const std::string& event);
    [[nodiscard]] std::string message_of_next(const std::string& event);
    void forget() { seen_ = whole_lines().size(); }
    /// SIGHUP, and waits until it was dealt with. The message of the line that says how.
    [[nodiscard]] std::string reload(const std::string& configuration);
    [[nodiscard]] std::string text() const { return text_in(output_); }

private:
    [[nodiscard]] std::vector<std::string> whole_lines() const;

    ScratchDirectory scratch_;
    std::filesystem::path output_ = scratch_.path() / "output";
    std::vector<std::pair<std::string, std::string>> environment_;
    std::size_t seen_ = 0;
    std::optional<Child> child_;
};

}  // namespace ringmain::test
