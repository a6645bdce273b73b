// Runs the command `ringmain` in a broker directory of its own, feeds it, and collects what it says.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ringmain::test {

struct CliResult {
    int exit_code = -1;  ///< -1: killed by the watchdog, or by a signal.
    std::string output;
    std::string errors;
};

/// A running command. Killed and reaped when the object goes.
class CliProcess {
public:
    /// `environment` is added to the own one; RINGMAIN_DIR is taken away from it first.
    CliProcess(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment = {});
    CliProcess(const CliProcess&) = delete;
    CliProcess& operator=(const CliProcess&) = delete;
    ~CliProcess();

    /// Writes to its standard input while reading its output; gives up if the command does not read.
    void write_input(std::string_view input);
    void close_input();
    void close_output();

    /// Waits until `part` has appeared on the stream; false if it has not within the bound, or never can.
    [[nodiscard]] bool wait_for_output(std::string_view part);
    [[nodiscard]] bool wait_for_errors(std::string_view part);

    /// Whether `part` is in what has come on standard output so far; does not wait.
    [[nodiscard]] bool has_shown(std::string_view part);

    void send_signal(int number) const;

    /// Closes its input and waits for its end; ends it after the bound.
    [[nodiscard]] CliResult finish();

private:
    void pump(int timeout_ms, std::string_view* input = nullptr);
    [[nodiscard]] bool wait_for(const std::string& stream, std::string_view part);
    [[nodiscard]] bool has_open_streams() const noexcept { return output_ >= 0 || errors_ >= 0; }
    void reap(bool kill_first);

    pid_t pid_ = -1;
    int input_ = -1;
    int output_ = -1;
    int errors_ = -1;
    CliResult result_;
};

/// A broker directory under /dev/shm, removed when the object goes, and the commands run in it.
class CliBroker {
public:
    CliBroker();
    CliBroker(const CliBroker&) = delete;
    CliBroker& operator=(const CliBroker&) = delete;
    ~CliBroker();

    [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
    /// `arguments` with -d DIR in front.
    [[nodiscard]] std::vector<std::string> in_directory(std::vector<std::string> arguments) const;
    /// Runs a command to its end.
    [[nodiscard]] CliResult run(const std::vector<std::string>& arguments, std::string_view input = {}) const;
    /// Creates a small topic; `extra` are further options. Throws std::runtime_error with the command's words if it
    /// fails.
    void create_topic(const std::string& name, const std::vector<std::string>& extra = {}) const;
    /// `consume TOPIC -e` and `extra`: what it prints.
    [[nodiscard]] std::string consume(const std::string& topic, const std::vector<std::string>& extra = {}) const;

private:
    std::filesystem::path directory_;
};

/// Runs a command without a directory.
[[nodiscard]] CliResult run_cli(const std::vector<std::string>& arguments,
                                const std::map<std::string, std::string>& environment = {},
                                std::string_view input = {});

}  // namespace ringmain::test
