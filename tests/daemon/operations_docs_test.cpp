// docs/operations.md tells the truth: its commands run, its messages are those that are printed, and no event is left
// out.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "demo/markdown.hpp"
#include "program.hpp"
#include "ringmain/keeper.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using test::contains;
using test::FencedBlock;
using test::ScratchDirectory;

namespace {

namespace fs = std::filesystem;

std::string programs() {
    return fs::path(RINGMAIN_CLI_PATH).parent_path().string() + ":" +
           fs::path(RINGMAIN_DAEMON_PATH).parent_path().string();
}

struct Ran {
    int code;
    std::string text;
};

Ran run(const ScratchDirectory& scratch, const std::string& script) {
    const fs::path output = scratch.path() / "output";
    fs::remove(output);
    const std::string all = "set -eu\ncd '" + scratch.path().string() + "'\nPATH='" + programs() +
                            "':$PATH\nexport RINGMAIN_DIR='" + scratch.broker().string() + "'\n" + script;
    const int code = test::start("/bin/sh", {"-c", all}, {.output = output}).wait();
    return {code, test::text_in(output)};
}

std::string shell_blocks(const std::vector<FencedBlock>& blocks) {
    std::string script;
    for (const FencedBlock& block : blocks)
        script += block.language == "sh" ? block.text : "";
    return script;
}

}  // namespace

TEST_CASE("Every shell block of docs/operations.md runs, and the mistakes it shows are refused as it says") {
    const ScratchDirectory scratch;
    const std::vector<FencedBlock> blocks = test::fenced_blocks(test::read_source_file("docs/operations.md"));
    const Ran good = run(scratch, shell_blocks(blocks));
    INFO(good.text);
    CHECK(good.code == 0);
    CHECK_THAT(good.text, contains("topic orders: would be created, "));
    const Ran wrong = run(scratch,
                          "sed -i -e 's/\"4K\"/5000/' -e 's/retention_age/retention_aeg/' ringmaind.toml\nringmaind "
                          "--check ringmaind.toml\n");
    CHECK(wrong.code == 1);
    const auto shown = std::find_if(blocks.begin(), blocks.end(),
                                    [](const FencedBlock& block) { return block.text.starts_with("ringmaind.toml:"); });
    REQUIRE(shown != blocks.end());
    CHECK(wrong.text == shown->text);
}

TEST_CASE("docs/operations.md names every event of a keeper and of the daemon") {
    const std::string text = test::read_source_file("docs/operations.md");
    for (int kind = 0; kind <= static_cast<int>(KeeperEventKind::keeping_resumed); ++kind)
        CHECK_THAT(text, contains("`" + std::string(to_string(static_cast<KeeperEventKind>(kind))) + "`"));
    static const std::regex kEvent("\\.event = \"(\\w+)\"");
    int events = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(RINGMAIN_SOURCE_DIR) / "daemon")) {
        const std::string source = test::text_in(entry.path());
        for (std::sregex_iterator match(source.begin(), source.end(), kEvent), end; match != end; ++match, ++events)
            CHECK_THAT(text, contains("`" + (*match)[1].str() + "`"));
    }
    CHECK(events > 20);
}
