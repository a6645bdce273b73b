// Targets and plans of resets, as they are written.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/errors.hpp"
#include "cli/group_report.hpp"
#include "cli/reset_plan_file.hpp"
#include "cli/reset_targets.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::test {

using namespace cli;

TEST_CASE("Reset targets are read strictly") {
    const auto parse = [](const char* text) { return parse_reset_target("--to", text); };
    CHECK(parse("earliest").kind == ResetTarget::Kind::earliest);
    CHECK(parse("latest").kind == ResetTarget::Kind::latest);
    CHECK((parse("17").kind == ResetTarget::Kind::offset && parse("17").offset == 17));
    CHECK(parse("4611686018427387903").offset == kOffsetMax);
    CHECK((parse("+3").kind == ResetTarget::Kind::shift && parse("+3").shift == 3));
    CHECK((parse("-3").kind == ResetTarget::Kind::shift && parse("-3").shift == -3));
    CHECK((parse("@1000").kind == ResetTarget::Kind::time && parse("@1000").time_ns == 1'000'000'000));
    using namespace std::chrono_literals;
    CHECK((parse("-500ms").kind == ResetTarget::Kind::back && parse("-500ms").duration == 500ms));
    CHECK(parse("-90s").duration == 90s);
    CHECK(parse("-10m").duration == 10min);
    CHECK(parse("-2h").duration == 2h);
    CHECK(parse("-1d").duration == 24h);
    for (const char* wrong : {"", "+", "-", "x", "1x", "+1h", "-1y", "-h", "--1", "+-1", "1.5", " 1", "-1 h", "-1.5h", "4611686018427387904",
                              "+4611686018427387904", "-9223372036854775807d", "@", "Earliest"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(parse(wrong), UsageError);
    }
}

TEST_CASE("O06 A plan comes back from its file exactly, with numbers beyond 2^53") {
    const ScratchDirectory directory;
    const std::string path = (directory.path() / "plan.json").string();
    ResetPlan plan{"t", {}, "g \"quoted\"", 3, UINT64_MAX, {}};
    plan.topic_id[0] = 0xab;
    plan.topic_id[15] = 1;
    plan.partitions.push_back({0, std::nullopt, 9007199254740993, 4294967295, 9007199254740992, kOffsetMax, kOffsetMax - 1, ResetClamp::log_end});
    plan.partitions.push_back({1, 5, 5, 1, 0, 7, 0, ResetClamp::log_start});
    save_plans(path, {plan});
    const ResetPlans read = read_plans(path);
    REQUIRE(read.size() == 1);
    CHECK((read[0].topic == "t" && read[0].topic_id == plan.topic_id && read[0].group == plan.group));
    CHECK((read[0].group_slot == 3 && read[0].group_born == UINT64_MAX));
    REQUIRE(read[0].partitions.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        const PartitionReset& a = read[0].partitions[i];
        const PartitionReset& b = plan.partitions[i];
        CHECK((a.partition == b.partition && a.committed == b.committed && a.position == b.position && a.generation == b.generation));
        CHECK((a.log_start == b.log_start && a.log_end == b.log_end && a.target == b.target && a.clamp == b.clamp));
    }
    CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);  // nothing beside it
}

TEST_CASE("A plan that is none is refused by what is wrong with it") {
    const ScratchDirectory directory;
    const std::string path = (directory.path() / "plan.json").string();
    ResetPlan plan{"t", {}, "g", 0, 1, {{0, 5, 5, 1, 0, 7, 3, ResetClamp::none}}};
    const std::string good = plans_to_json({plan}).dump();
    const auto refusal = [&](const std::string& from, const std::string& to) -> std::string {
        std::string text = good;
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
        std::ofstream(path) << text;
        try {
            (void)read_plans(path);
        } catch (const CommandError& error) {
            return error.what();
        }
        return "accepted";
    };
    CHECK(refusal("\"g\"", "\"h\"") == "accepted");
    CHECK_THAT(refusal("{", "["), contains("not JSON") && contains(path));
    CHECK_THAT(refusal("\"version\":1", "\"version\":2"), contains("version"));
    CHECK_THAT(refusal("\"target\":3", "\"target\":-3"), contains("'target' is -3"));
    CHECK_THAT(refusal("\"target\":3", "\"target\":3.5"), contains("'target' is 3.5"));
    CHECK_THAT(refusal("\"target\":3", "\"aim\":3"), contains("'target' is missing"));
    CHECK_THAT(refusal("\"target\":3", "\"target\":4611686018427387904"), contains("4611686018427387903"));
    CHECK_THAT(refusal("\"generation\":1", "\"generation\":4294967296"), contains("'generation'"));
    CHECK_THAT(refusal("\"clamp\":\"none\"", "\"clamp\":\"maybe\""), contains("'clamp'"));
    CHECK_THAT(refusal("\"topic_id\":\"00", "\"topic_id\":\"0x"), contains("'topic_id'"));
    CHECK_THAT(refusal("\"partitions\":[{", "\"partitions\":{\"a\":[{"), contains("not JSON"));
    std::filesystem::remove(path);
    CHECK_THROWS_AS(read_plans(path), CommandError);
    CHECK_THROWS_AS(save_plans((directory.path() / "no" / "plan.json").string(), {plan}), CommandError);
}

TEST_CASE("A name cannot act on a terminal") { CHECK(printable("a\x1b[2J\nb\x7f\xc3\xa9") == "a\\x1b[2J\\x0ab\\x7f\xc3\xa9"); }

}  // namespace ringmain::test
