// Spawning and feeding the command.
#include "cli_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>

extern char** environ;

namespace ringmain::test {

namespace {

using Clock = std::chrono::steady_clock;

/// Wide: a command that takes so long hangs.
constexpr std::chrono::seconds kWatchdog{60};
constexpr int kPumpMs = 50;

void close_descriptor(int& descriptor) {
    if (descriptor >= 0)
        ::close(descriptor);
    descriptor = -1;
}

struct Pipe {
    int read_end = -1;
    int write_end = -1;

    Pipe() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw std::runtime_error("pipe2 failed");
        read_end = ends[0];
        write_end = ends[1];
    }
};

std::vector<std::string> make_environment(const std::map<std::string, std::string>& added) {
    std::vector<std::string> variables;
    for (char** variable = environ; *variable != nullptr; ++variable) {
        const std::string text = *variable;
        const std::string name = text.substr(0, text.find('='));
        if (name != "RINGMAIN_DIR" && !added.contains(name))
            variables.push_back(text);
    }
    for (const auto& [name, value] : added)
        variables.push_back(name + "=" + value);
    return variables;
}

std::vector<char*> as_pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

pid_t spawn(std::vector<std::string> arguments, std::vector<std::string> environment, int input, int output,
            int errors) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    pid_t pid = -1;
    arguments.insert(arguments.begin(), RINGMAIN_CLI_PATH);
    const int error = ::posix_spawn(&pid, RINGMAIN_CLI_PATH, &actions, nullptr, as_pointers(arguments).data(),
                                    as_pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        throw std::runtime_error("cannot run " RINGMAIN_CLI_PATH);
    return pid;
}

/// Appends what is there; false at the end of the stream.
bool read_available(int descriptor, std::string& text) {
    std::array<char, 1 << 16> chunk;
    const ssize_t bytes = ::read(descriptor, chunk.data(), chunk.size());
    if (bytes > 0)
        text.append(chunk.data(), static_cast<std::size_t>(bytes));
    return bytes > 0 || (bytes < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

CliProcess::CliProcess(const std::vector<std::string>& arguments,
                       const std::map<std::string, std::string>& environment) {
    Pipe input;
    Pipe output;
    Pipe errors;
    pid_ = spawn(arguments, make_environment(environment), input.read_end, output.write_end, errors.write_end);
    close_descriptor(input.read_end);
    close_descriptor(output.write_end);
    close_descriptor(errors.write_end);
    input_ = input.write_end;
    output_ = output.read_end;
    errors_ = errors.read_end;
    ::fcntl(input_, F_SETFL, O_NONBLOCK);
    ::signal(SIGPIPE, SIG_IGN);  // a command that ends early closes its input
}

CliProcess::~CliProcess() {
    reap(true);
    close_descriptor(input_);
    close_descriptor(output_);
    close_descriptor(errors_);
}

void CliProcess::pump(int timeout_ms, std::string_view* input) {
    const bool writes = input != nullptr && !input->empty() && input_ >= 0;
    std::array<pollfd, 3> streams{pollfd{output_, POLLIN, 0}, pollfd{errors_, POLLIN, 0},
                                  pollfd{writes ? input_ : -1, POLLOUT, 0}};
    ::poll(streams.data(), streams.size(), timeout_ms);
    if (streams[0].revents != 0 && !read_available(output_, result_.output))
        close_descriptor(output_);
    if (streams[1].revents != 0 && !read_available(errors_, result_.errors))
        close_descriptor(errors_);
    if (streams[2].revents == 0)
        return;
    const ssize_t bytes = ::write(input_, input->data(), input->size());
    if (bytes > 0)
        input->remove_prefix(static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno == EPIPE)
        *input = {};
}

void CliProcess::write_input(std::string_view input) {
    const auto deadline = Clock::now() + kWatchdog;
    while (!input.empty() && has_open_streams() && Clock::now() < deadline)
        pump(kPumpMs, &input);
}

void CliProcess::close_input() { close_descriptor(input_); }

void CliProcess::close_output() { close_descriptor(output_); }

bool CliProcess::wait_for(const std::string& stream, std::string_view part) {
    const auto deadline = Clock::now() + kWatchdog;
    while (stream.find(part) == std::string::npos) {
        if (!has_open_streams() || Clock::now() > deadline)
            return false;
        pump(kPumpMs);
    }
    return true;
}

bool CliProcess::wait_for_output(std::string_view part) { return wait_for(result_.output, part); }

bool CliProcess::wait_for_errors(std::string_view part) { return wait_for(result_.errors, part); }

bool CliProcess::has_shown(std::string_view part) {
    pump(0);
    return result_.output.find(part) != std::string::npos;
}

void CliProcess::send_signal(int number) const {
    if (pid_ > 0)
        ::kill(pid_, number);
}

CliResult CliProcess::finish() {
    close_input();
    const auto deadline = Clock::now() + kWatchdog;
    while (has_open_streams() && Clock::now() < deadline)
        pump(kPumpMs);
    reap(has_open_streams());
    return result_;
}

void CliProcess::reap(bool kill_first) {
    if (pid_ <= 0)
        return;
    if (kill_first)
        ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status))
        result_.exit_code = WEXITSTATUS(status);
    pid_ = -1;
}

CliBroker::CliBroker() {
    std::string name = "/dev/shm/ringmain-test-cli-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
        throw std::runtime_error("cannot make a directory in /dev/shm");
    directory_ = name;
}

CliBroker::~CliBroker() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
}

std::vector<std::string> CliBroker::in_directory(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"-d", directory_.string()});
    return arguments;
}

CliResult CliBroker::run(const std::vector<std::string>& arguments, std::string_view input) const {
    return run_cli(in_directory(arguments), {}, input);
}

void CliBroker::create_topic(const std::string& name, const std::vector<std::string>& extra) const {
    std::vector<std::string> arguments = {"topic", "create", name};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    const std::map<std::string, std::string> defaults = {
        {"--records", "1K"}, {"--payload", "1M"}, {"--producers", "4"}};
    for (const auto& [option, value] : defaults) {
        if (std::find(extra.begin(), extra.end(), option) == extra.end())
            arguments.insert(arguments.end(), {option, value});
    }
    const CliResult result = run(arguments);
    if (result.exit_code != 0)
        throw std::runtime_error("topic create failed: " + result.errors);
}

std::string CliBroker::consume(const std::string& topic, const std::vector<std::string>& extra) const {
    std::vector<std::string> arguments = {"consume", topic, "-e"};
    arguments.insert(arguments.end(), extra.begin(), extra.end());
    const CliResult result = run(arguments);
    if (result.exit_code != 0)
        throw std::runtime_error("consume failed: " + result.errors);
    return result.output;
}

CliResult run_cli(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment,
                  std::string_view input) {
    CliProcess process(arguments, environment);
    process.write_input(input);
    return process.finish();
}

}  // namespace ringmain::test
