// Counts the instructions of one call with callgrind and compares them with the recorded figure, or records it.
//
//   ringmain_instruction_gate --probe PROGRAM --file instructions.json [--record] VARIANT...
//
// Exit: 0 within 2 %, 1 not, 4 skipped (no valgrind, or nothing recorded for this compiler, its flags and this
// machine).
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/common/machine.hpp"

namespace {

using nlohmann::json;

constexpr std::uint64_t kFewCalls = 8'000;
constexpr std::uint64_t kManyCalls = 40'000;
constexpr double kTolerance = 0.02;
constexpr int kSkipped = 4;

struct Skip {
    std::string reason;
};

struct Output {
    std::string text;
    int status = 0;
};

[[noreturn]] void exec_child(const std::vector<std::string>& command, int out) {
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    std::vector<char*> arguments;
    for (const std::string& word : command)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
}

/// Runs a command and collects what it writes.
Output run(const std::vector<std::string>& command) {
    int ends[2];
    if (::pipe(ends) != 0)
        throw std::runtime_error("pipe failed");
    const pid_t child = ::fork();
    if (child < 0)
        throw std::runtime_error("fork failed");
    if (child == 0) {
        ::close(ends[0]);
        exec_child(command, ends[1]);
    }
    ::close(ends[1]);
    Output output;
    char buffer[4096];
    for (ssize_t bytes = 0; (bytes = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
        output.text.append(buffer, static_cast<std::size_t>(bytes));
    }
    ::close(ends[0]);
    ::waitpid(child, &output.status, 0);
    return output;
}

std::uint64_t instructions(const std::string& probe, const std::string& variant, std::uint64_t calls) {
    const Output output =
        run({"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", probe, variant, std::to_string(calls)});
    if (WIFEXITED(output.status) && WEXITSTATUS(output.status) == 127)
        throw Skip{"valgrind is not installed"};
    const std::string label = "Collected : ";
    const std::size_t at = output.text.find(label);
    if (output.status != 0 || at == std::string::npos)
        throw std::runtime_error("counting failed:\n" + output.text);
    return std::stoull(output.text.substr(at + label.size()));
}

double per_call(const std::string& probe, const std::string& variant) {
    const std::uint64_t few = instructions(probe, variant, kFewCalls);
    const std::uint64_t many = instructions(probe, variant, kManyCalls);
    return static_cast<double>(many - few) / static_cast<double>(kManyCalls - kFewCalls);
}

/// Everything that the count depends on besides the sources.
json environment() {
    utsname name{};
    ::uname(&name);
    json environment{{"arch", name.machine},
                     {"compiler", ringmain::bench::compiler_name()},
                     {"flags", ringmain::bench::describe_machine()["flags"]},
                     {"libc", ::gnu_get_libc_version()}};
#if defined(__x86_64__)
    environment["avx2"] = __builtin_cpu_supports("avx2") != 0;  // the C library chooses its memcpy by it
#endif
    return environment;
}

json read_records(const std::string& path) {
    std::ifstream file(path);
    return file ? json::parse(file) : json::array();
}

json* find_record(json& records, const json& environment) {
    for (json& record : records) {
        if (record["environment"] == environment)
            return &record;
    }
    return nullptr;
}

void record(const std::string& path, const std::string& probe, const std::vector<std::string>& variants) {
    json records = read_records(path);
    json* mine = find_record(records, environment());
    if (mine == nullptr)
        mine = &records.emplace_back(json{{"environment", environment()}, {"instructions_per_record", json::object()}});
    for (const std::string& variant : variants) {
        const double figure = std::round(per_call(probe, variant) * 100) / 100;
        (*mine)["instructions_per_record"][variant] = figure;
        fmt::print("{:<22} {:8.2f} instructions per record\n", variant, figure);
    }
    std::ofstream file(path);
    file << records.dump(2) << '\n';
    file.close();
    if (!file)
        throw std::runtime_error("cannot write " + path);
}

bool check(const std::string& path, const std::string& probe, const std::string& variant) {
    json records = read_records(path);
    const json* mine = find_record(records, environment());
    if (mine == nullptr || !(*mine)["instructions_per_record"].contains(variant)) {
        throw Skip{"nothing is recorded for " + environment().dump()};
    }
    const double recorded = (*mine)["instructions_per_record"][variant];
    const double counted = per_call(probe, variant);
    const double change = counted / recorded - 1;
    fmt::print("{}: {:.2f} instructions per record, recorded {:.2f}, change {:+.1f} %\n", variant, counted, recorded,
               100 * change);
    if (std::abs(change) <= kTolerance)
        return true;
    fmt::print(
        "More than {:g} % away. If that is meant, run bench/record_instructions and commit the file with the reason.\n",
        100 * kTolerance);
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    std::string probe;
    std::string path;
    bool recording = false;
    std::vector<std::string> variants;
    CLI::App app{"Counts the instructions of a call with callgrind and compares them with the recorded figure."};
    app.add_option("--probe", probe, "the program to count")->required();
    app.add_option("--file", path, "the recorded figures")->required();
    app.add_flag("--record", recording, "write the figures instead of comparing");
    app.add_option("variants", variants, "which calls")->required();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    try {
        if (recording) {
            record(path, probe, variants);
            return 0;
        }
        bool good = true;
        for (const std::string& variant : variants)
            good = check(path, probe, variant) && good;
        return good ? 0 : 1;
    } catch (const Skip& skip) {
        fmt::print("skipped: {}\n", skip.reason);
        return kSkipped;
    } catch (const std::exception& error) {
        fmt::print(stderr, "ringmain_instruction_gate: {}\n", error.what());
        return 1;
    }
}
