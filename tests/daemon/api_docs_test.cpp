// docs/api.md tells the truth: its commands run in order, and print what is shown.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "demo/markdown.hpp"
#include "program.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using test::contains;
using test::FencedBlock;
using test::ScratchDirectory;

namespace {

namespace fs = std::filesystem;

bool has_program(const std::string& name) { return std::system(("command -v " + name + " > /dev/null").c_str()) == 0; }

std::string programs() {
    return fs::path(RINGMAIN_CLI_PATH).parent_path().string() + ":" +
           fs::path(RINGMAIN_DAEMON_PATH).parent_path().string();
}

/// All blocks in one shell, which ends the daemon that the first one starts; what each prints is in a file of its own.
std::string script_of(const std::vector<FencedBlock>& blocks, const fs::path& home, const fs::path& broker) {
    std::string script = "set -eu\ncd '" + home.string() + "'\nPATH='" + programs() + "':$PATH\nexport RINGMAIN_DIR='" +
                         broker.string() + "'\ntrap 'kill $!' EXIT\n";
    for (const FencedBlock& block : blocks) {
        if (block.language == "sh")
            script += "echo 'docs/api.md:" + std::to_string(block.line) + "' > last\nexec > 'said-" +
                      std::to_string(block.line) + "'\n" + block.text;
    }
    return script;
}

}  // namespace

TEST_CASE("Every shell block of docs/api.md runs, in order, and prints what is shown behind it") {
    if (!has_program("curl"))
        SKIP("curl is not installed");
    const ScratchDirectory scratch;
    const fs::path home = scratch.path() / "home";
    fs::create_directory(home);
    const std::vector<FencedBlock> blocks = test::fenced_blocks(test::read_source_file("docs/api.md"));
    const std::string script = script_of(blocks, home, scratch.broker());
    test::Child shell = test::start("/bin/sh", {"-c", script}, {scratch.path() / "output", 0, {}});
    const int code = shell.wait();
    INFO(test::text_in(home / "last") << test::text_in(scratch.path() / "output"));
    CHECK(code == 0);
    int run = 0;
    int shown = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        run += blocks[i].language == "sh" ? 1 : 0;
        if (blocks[i].language != "text")
            continue;
        REQUIRE(i > 0);
        CHECK(test::text_in(home / ("said-" + std::to_string(blocks[i - 1].line))) == blocks[i].text);
        ++shown;
    }
    CHECK(run >= 6);
    CHECK(shown == 1);
}
