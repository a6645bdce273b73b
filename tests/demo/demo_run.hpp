// Runs `ringmain demo` and the examples as programs, with all that they print.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/scratch_directory.hpp"

namespace ringmain::test {

struct ProgramResult {
    int exit_code = -1;  ///< -1: ended by a signal or by the watchdog.
    std::string output;  ///< Standard output.
    std::string errors;  ///< Standard error.
};

/// A program that runs; killed by its id when the object goes.
class Program {
public:
    /// `arguments[0]` is the path. RINGMAIN_DIR is taken out of the environment, then `environment` is added.
    explicit Program(const std::vector<std::string>& arguments,
                     const std::map<std::string, std::string>& environment = {});
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    void signal(int number) const;
    /// Waits until `text` has been printed on either stream; false if the program ended, or the watchdog's time passed,
    /// without it.
    [[nodiscard]] bool wait_for(const std::string& text);
    [[nodiscard]] ProgramResult finish();

private:
    [[nodiscard]] bool look();
    void kill() noexcept;

    pid_t pid_ = -1;
    std::filesystem::path output_;
    std::filesystem::path errors_;
    int status_ = 0;
};

[[nodiscard]] ProgramResult run_program(const std::vector<std::string>& arguments,
                                        const std::map<std::string, std::string>& environment = {});

/// Runs the command under test.
[[nodiscard]] ProgramResult run_demo(std::vector<std::string> arguments);
/// The JSON report of a demo that must be right in every count.
nlohmann::json report_of(const ProgramResult& result);
/// Waits, within a wide bound.
[[nodiscard]] bool eventually(const std::function<bool()>& reached);
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

/// A scratch directory to put input files into.
class TestDirectory : public ScratchDirectory {
public:
    /// Writes a file into the directory and returns its path.
    [[nodiscard]] std::string write(const std::string& name, const std::string& bytes) const;
    [[nodiscard]] bool empty() const { return std::filesystem::is_empty(path()); }
};

[[nodiscard]] inline bool becomes_empty(const TestDirectory& directory) {
    return eventually([&] { return directory.empty(); });
}

/// A tmpfs of a given size mounted on a directory; `mounted()` says whether this process may do that.
class SmallFileSystem {
public:
    SmallFileSystem(const TestDirectory& parent, const std::string& size);
    ~SmallFileSystem();
    SmallFileSystem(const SmallFileSystem&) = delete;
    SmallFileSystem& operator=(const SmallFileSystem&) = delete;
    [[nodiscard]] bool mounted() const noexcept { return mounted_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
    bool mounted_ = false;
};

}  // namespace ringmain::test
