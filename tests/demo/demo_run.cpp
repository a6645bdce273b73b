// Starting programs with their output in files, so that nothing blocks on a pipe that nobody reads.
#include "demo_run.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "support/catch.hpp"

namespace ringmain::test {

namespace {

constexpr std::chrono::seconds kWatchdog{100};
constexpr std::chrono::milliseconds kTick{10};

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::filesystem::path new_output_file(const char* stream) {
    static std::atomic<int> number{0};
    return std::filesystem::temp_directory_path() /
           ("ringmain-test-" + std::to_string(::getpid()) + "-" + std::to_string(number++) + "-" + stream);
}

void redirect(const std::filesystem::path& path, int descriptor) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ::dup2(file, descriptor) < 0)
        ::_exit(126);
}

}  // namespace

Program::Program(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment)
    : output_(new_output_file("out")), errors_(new_output_file("err")) {
    std::vector<char*> pointers;
    for (const std::string& argument : arguments)
        pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0)
        throw std::runtime_error("fork failed");
    if (pid_ != 0)
        return;
    ::unsetenv("RINGMAIN_DIR");
    for (const auto& [name, value] : environment)
        ::setenv(name.c_str(), value.c_str(), 1);
    redirect("/dev/null", STDIN_FILENO);
    redirect(output_, STDOUT_FILENO);
    redirect(errors_, STDERR_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
}

Program::~Program() {
    kill();
    std::error_code ignored;
    std::filesystem::remove(output_, ignored);
    std::filesystem::remove(errors_, ignored);
}

void Program::kill() noexcept {
    if (pid_ <= 0)
        return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

void Program::signal(int number) const {
    if (pid_ > 0)
        ::kill(pid_, number);
}

/// True while it runs.
bool Program::look() {
    if (pid_ <= 0)
        return false;
    const pid_t waited = ::waitpid(pid_, &status_, WNOHANG);
    if (waited == 0 || (waited < 0 && errno == EINTR))
        return true;
    pid_ = -1;
    return false;
}

bool Program::wait_for(const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
    for (;;) {
        const bool running = look();
        if ((read_file(output_) + read_file(errors_)).find(text) != std::string::npos)
            return true;
        if (!running || std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(kTick);
    }
}

ProgramResult Program::finish() {
    const auto deadline = std::chrono::steady_clock::now() + kWatchdog;
    while (look() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(kTick);
    kill();
    return {WIFEXITED(status_) ? WEXITSTATUS(status_) : -1, read_file(output_), read_file(errors_)};
}

ProgramResult run_program(const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& environment) {
    return Program(arguments, environment).finish();
}

ProgramResult run_demo(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), RINGMAIN_CLI_PATH);
    return run_program(arguments);
}

nlohmann::json report_of(const ProgramResult& result) {
    INFO(result.errors);
    INFO(result.output);
    REQUIRE(result.exit_code == 0);
    const nlohmann::json report = nlohmann::json::parse(result.output);
    for (const nlohmann::json& check : report.at("checks")) {
        INFO(check.dump());
        CHECK(check.at("ok").get<bool>());
    }
    CHECK(report.at("ok").get<bool>());
    return report;
}

bool eventually(const std::function<bool()>& reached) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!reached()) {
        if (std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(kTick);
    }
    return true;
}

std::vector<pid_t> children_of(pid_t parent) {
    const std::string pid = std::to_string(parent);
    std::ifstream file("/proc/" + pid + "/task/" + pid + "/children");
    return {std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
}

std::string TestDirectory::write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path file = path() / name;
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
}

SmallFileSystem::SmallFileSystem(const TestDirectory& parent, const std::string& size)
    : path_(parent.path() / "small") {
    std::filesystem::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
}

SmallFileSystem::~SmallFileSystem() {
    if (mounted_)
        ::umount2(path_.c_str(), MNT_DETACH);
}

}  // namespace ringmain::test
