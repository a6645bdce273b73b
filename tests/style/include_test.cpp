// The layers: who may include whom.
#include "support/catch.hpp"

#include <filesystem>

#include "style/rules.hpp"

namespace style = ringmain::style;

namespace {

bool exists_in_tree(const std::string& path) {
    return std::filesystem::is_regular_file(std::string(RINGMAIN_SOURCE_DIR) + "/" + path);
}

style::Findings check_planted(const std::string& path, const std::string& include) {
    const style::SourceFile file(path, "// A planted file.\n#include " + include + "\n");
    return style::check_includes(file, [](const std::string& asked) {
        return asked == "src/platform/memory.hpp" || asked == "src/platform/clock.hpp" ||
               asked == "src/layout/cell.hpp" || asked == "src/retention/retention.hpp" ||
               asked == "src/partition_log/log.hpp" || asked == "src/broker_impl.hpp" ||
               asked == "include/ringmain/broker.hpp" || asked == "include/ringmain/status.hpp" ||
               asked == "cli/output.hpp";
    });
}

}  // namespace

TEST_CASE("a layer includes only lower layers, and foreign headers stay in theirs") {
    const auto rule = [](const style::SourceFile& file) { return style::check_includes(file, exists_in_tree); };
    REQUIRE(style::report(style::load_cpp_files(), rule) == "");
}

TEST_CASE("the include rule finds an upward include in every layer") {
    CHECK(check_planted("src/platform/a.cpp", "\"layout/cell.hpp\"").size() == 1);
    CHECK(check_planted("src/layout/a.hpp", "\"partition_log/log.hpp\"").size() == 1);
    CHECK(check_planted("src/partition_log/a.hpp", "\"retention/retention.hpp\"").size() == 1);
    CHECK(check_planted("src/partition_log/a.hpp", "\"ringmain/broker.hpp\"").size() == 1);
    CHECK(check_planted("src/retention/a.cpp", "\"broker_impl.hpp\"").size() == 1);
    CHECK(check_planted("src/broker/a.cpp", "\"cli/output.hpp\"").size() == 1);
    CHECK(check_planted("include/ringmain/a.hpp", "\"platform/clock.hpp\"").size() == 1);
    CHECK(check_planted("examples/a.cpp", "\"broker_impl.hpp\"").size() == 1);
}

TEST_CASE("the include rule finds what structures must get handed in") {
    CHECK(check_planted("src/partition_log/a.hpp", "\"platform/clock.hpp\"").size() == 1);
    CHECK(check_planted("src/layout/a.hpp", "\"platform/clock.hpp\"").size() == 1);
    CHECK(check_planted("src/layout/a.hpp", "\"platform/memory.hpp\"").empty());
    CHECK(check_planted("src/client_table/a.hpp", "\"platform/clock.hpp\"").empty());
}

TEST_CASE("the include rule finds foreign headers and names of no file") {
    CHECK(check_planted("src/layout/a.hpp", "<boost/interprocess/mapped_region.hpp>").size() == 1);
    CHECK(check_planted("src/broker.cpp", "<unistd.h>").size() == 1);
    CHECK(check_planted("src/partition_log/a.hpp", "<sys/mman.h>").size() == 1);
    CHECK(check_planted("include/ringmain/a.hpp", "<fmt/core.h>").size() == 1);
    CHECK(check_planted("tests/unit/a.cpp", "<catch2/catch.hpp>").size() == 1);
    CHECK(check_planted("src/broker.cpp", "\"layout/gone.hpp\"").size() == 1);
}

TEST_CASE("the include rule accepts what goes down") {
    CHECK(check_planted("src/broker.cpp", "\"retention/retention.hpp\"").empty());
    CHECK(check_planted("src/partition_log/a.hpp", "\"ringmain/status.hpp\"").empty());
    CHECK(check_planted("src/platform/a.cpp", "<boost/interprocess/mapped_region.hpp>").empty());
    CHECK(check_planted("cli/a.cpp", "\"output.hpp\"").empty());
    CHECK(check_planted("examples/a.cpp", "<ringmain/broker.hpp>").empty());
    CHECK(check_planted("tests/unit/a.cpp", "\"layout/cell.hpp\"").empty());
    CHECK(check_planted("src/layout/a.hpp", "<atomic>").empty());
}
