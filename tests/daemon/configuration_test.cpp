// What a configuration file may hold, and what is said about one that is wrong.
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include "daemon/configuration_source.hpp"
#include "daemon/quantities.hpp"
#include "daemon/table_reader.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace ringmain::daemon;
using namespace std::chrono_literals;
using test::contains;
using test::ScratchDirectory;

namespace {

struct Loaded {
    std::optional<Configuration> configuration;
    std::vector<std::string> problems;  // without the name of the file
};

Loaded load(const std::string& text, const Flags& flags = {}) {
    const ScratchDirectory scratch;
    const std::filesystem::path file = scratch.path() / "c.toml";
    std::ofstream(file) << text << std::flush;
    LoadedConfiguration loaded = ConfigurationSource(file, flags).load();
    Loaded result{loaded.configuration, {}};
    for (const ConfigurationProblem& problem : loaded.problems)
        result.problems.push_back(to_string(problem).substr(file.string().size()));
    return result;
}

constexpr const char* kEverything = R"(
directory = "/dev/shm/elsewhere"
interval = 20
umask = 0o027
[access]
owner = "root"
group = 0
mode = "2770"
[log]
format = "json"
level = "debug"
window = "1min"
[metrics]
listen = "[::1]:9464"
[quotas]
bytes = "64 GiB"
topics = 10
topic_bytes = 1073741824
[defaults]
payload = 0
retention_age = "7d"
[topics.orders]
partitions = 3
records = "64K"
cell = 128
payload = "64MiB"
producers = 8
groups = 4
members = 5
when_full = "block"
retention_age = "12 h"
retention_records = 1000
retention_bytes = "1 GiB"
owner = 1
group = "root"
mode = "0640"
value_type = {name = "acme.Trade", size = 40, alignment = 8}
first_offset = 7
[topics."with.dots"]
retention_age = 0
)";

struct Refusal {
    std::string text;
    std::string problem;  // the beginning, or the whole, of what is said
};

}  // namespace

TEST_CASE("Every wrong value is refused with line, column, key, value and limit") {
    const std::vector<Refusal> refusals = {
        {"directry = \"/x\"", ":1:1: directry: unknown key; is 'directory' meant?"},
        {"directory = 3", ":1:13: directory: 3 is a whole number, not a string"},
        {"directory = \"\"", ":1:13: directory: an empty path is no directory"},
        {"interval = \"2s\"", ":1:12: interval: '2s' is outside 1 ms to 1 s"},
        {"interval = \"10 parsecs\"",
         ":1:12: interval: '10 parsecs' is not a duration (a whole number, then ms, s, min, h or d)"},
        {"interval = -1", ":1:12: interval: -1 is not a duration"},
        {"interval = true", ":1:12: interval: true is a boolean, not a duration"},
        {"umask = 22", ":1:9: umask: 22 is not a mode in octal digits, as \"0640\" or 0o640"},
        {"umask = \"0999\"", ":1:9: umask: '0999' is not a mode in octal digits"},
        {"umask = \"1777\"", ":1:9: umask: '1777' has other bits than those of 0777"},
        {"log = 1", ":1:7: log: 1 is a whole number, not a table"},
        {"log.format = \"xml\"", ":1:14: log.format: 'xml' is none of text, json"},
        {"log.level = \"loud\"", ":1:13: log.level: 'loud' is none of debug, info, warning, error"},
        {"[log]\nlevle = \"info\"", ":2:1: log.levle: unknown key; is 'level' meant?"},
        {"[access]\nowner = \"no-such-user\"", ":2:9: access.owner: this host has no user 'no-such-user'"},
        {"[access]\ngroup = \"no-such-group\"", ":2:9: access.group: this host has no group 'no-such-group'"},
        {"[access]\nowner = 4294967295", ":2:9: access.owner: 4294967295 is outside 0 to 4294967294"},
        {"[access]\nmode = 0o17777", ":2:8: access.mode: "},
        {"metrics.listen = \"9464\"", ":1:18: metrics.listen: '9464' is not HOST:PORT with a port of 0 to 65535"},
        {"metrics.listen = \"127.0.0.1:99999\"", ":1:18: metrics.listen: '127.0.0.1:99999' is not HOST:PORT"},
        {"metrics.listen = \"0.0.0.0:9464\"", ":1:18: metrics.listen: '0.0.0.0' is no loopback address"},
        {"quotas.bytes = \"10GB \"", ":1:16: quotas.bytes: '10GB ' is not a size"},
        {"quotas.topics = \"3\"", ":1:17: quotas.topics: '3' is a string, not a whole number"},
        {"[topics.a]\npartitions = 0", ":2:14: topics.a.partitions: 0 is outside 1 to 1024"},
        {"[topics.a]\npartitions = 1025", ":2:14: topics.a.partitions: 1025 is outside 1 to 1024"},
        {"[topics.a]\npartitions = -3", ":2:14: topics.a.partitions: -3 is less than 1"},
        {"[topics.a]\npartitions = 1.5",
         ":2:14: topics.a.partitions: 1.5 is a number with a fraction, not a whole number"},
        {"[topics.a]\nrecords = 1000",
         ":2:11: topics.a.records: 1000 is not a power of two; the nearest are 512 and 1024"},
        {"[topics.a]\nrecords = \"512M\"", ":2:11: topics.a.records: '512M' is outside 16 to 268435456"},
        {"[topics.a]\nrecords = 64\nproducers = 32",
         ":2:11: topics.a.records: records 64 is less than 4 x producers 32, 128"},
        {"[topics.a]\nproducers = 3", ":2:13: topics.a.producers: 3 is not a power of two; the nearest are 2 and 4"},
        {"[topics.a]\ncell = 96", ":2:8: topics.a.cell: 96 is none of 64, 128 and 256"},
        {"[topics.a]\ncell = 512", ":2:8: topics.a.cell: 512 is outside 64 B to 256 B"},
        {"[topics.a]\npayload = 1024", ":2:11: topics.a.payload: 1024 is neither 0 nor 65536 to 68719476736"},
        {"[topics.a]\npayload = \"64 KiB\"", ":2:11: topics.a.payload: payload 65536 is neither 0 nor 262144 to "},
        {"[topics.a]\ngroups = 65", ":2:10: topics.a.groups: 65 is outside 1 to 64"},
        {"[topics.a]\nmembers = 0", ":2:11: topics.a.members: 0 is outside 1 to 64"},
        {"[topics.a]\nwhen_full = \"drop\"", ":2:13: topics.a.when_full: 'drop' is none of overwrite, block"},
        {"[topics.a]\nretention_age = \"50ms\"",
         ":2:17: topics.a.retention_age: 50 ms is neither 0 nor 100 ms to 36500 d"},
        {"[topics.a]\nretention_bytes = \"2 TiB\"", ":2:19: topics.a.retention_bytes: '2 TiB' is outside 0 B to 1 TiB"},
        {"[topics.a]\nmode = \"0750\"", ":2:8: topics.a.mode: '0750' has other bits than those of 0666"},
        {"[topics.a]\nretentoin_age = \"7d\"", ":2:1: topics.a.retentoin_age: unknown key; is 'retention_age' meant?"},
        {"[topics.a]\ncolour = 1", ":2:1: topics.a.colour: unknown key; the keys here are partitions, records, cell"},
        {"[topics.a]\nvalue_type = {size = 8, alignment = 8}",
         ":2:14: topics.a.value_type: a name of 1 to 127 bytes is needed"},
        {"[topics.a.b]\nrecords = 64", ":1:11: topics.a.b: unknown key"},
        {"[topics.\"a b\"]", ":1:9: topics: topic name 'a b' (3 bytes) is not legal"},
        {"[topics.\"..\"]", ":1:9: topics: topic name '..' (2 bytes) is not legal"},
        {"topics.a = 7", ":1:12: topics.a: a topic is a table of its options: [topics.a]"},
        {"[topics.a]\n[topics.a]", ":2:"},
        {"[defaults]\nrecords = 1000", ":2:11: defaults.records: 1000 is not a power of two"},
        {"interval = \"10ms\"\ninterval = \"20ms\"", ":2:"},
        {"interval = ", ":1:"},
    };
    for (const Refusal& refusal : refusals) {
        INFO(refusal.text);
        const Loaded loaded = load(refusal.text);
        CHECK_FALSE(loaded.configuration);
        REQUIRE(loaded.problems.size() == 1);
        INFO(loaded.problems[0]);
        CHECK(loaded.problems[0].starts_with(refusal.problem));
    }
}

TEST_CASE("All errors of a file are told at once, in its order") {
    const Loaded loaded = load(
        "intervall = 3\n"
        "[quotas]\n"
        "topics = -1\n"
        "[topics.a]\n"
        "records = 1000\n"
        "producers = 3\n"
        "mode = \"rw\"\n"
        "[topics.b]\n"
        "records = 16\n"
        "payload = \"64K\"\n"
        "producers = 16\n");
    REQUIRE(loaded.problems.size() == 7);
    const std::vector<std::string> beginnings = {
        ":1:1: intervall: ",           ":3:10: quotas.topics: ", ":5:11: topics.a.records: ",
        ":6:13: topics.a.producers: ", ":7:8: topics.a.mode: ",  ":9:11: topics.b.records: ",
        ":10:11: topics.b.payload: "};
    for (std::size_t i = 0; i < beginnings.size(); ++i) {
        INFO(loaded.problems[i]);
        CHECK(loaded.problems[i].starts_with(beginnings[i]));
    }
}

TEST_CASE("An error in the defaults is told once, not for every topic") {
    const Loaded loaded = load("[defaults]\nrecords = 16\n[topics.a]\n[topics.b]\n");
    REQUIRE(loaded.problems.size() == 1);
    CHECK(loaded.problems[0].starts_with(":2:11: defaults.records: records 16 is less than 4 x producers 32, 128"));
}

TEST_CASE("Topics that can never be together are refused with what they take and the quota") {
    const std::string topic = "[topics.a]\nrecords = 64\nproducers = 2\npayload = 0\n[topics.b]\n";
    CHECK(load("[quotas]\ntopics = 1\n" + topic).problems[0].find("there are 2 topics, and quotas.topics is 1") !=
          std::string::npos);
    CHECK(load("[quotas]\ntopics = 2\n" + topic).configuration);
    const Loaded bytes = load("[quotas]\nbytes = \"1 MiB\"\n" + topic);
    REQUIRE(bytes.problems.size() == 1);
    CHECK_THAT(bytes.problems[0], contains("the topics take ") && contains("quotas.bytes is 1048576"));
    const Loaded one = load("[quotas]\ntopic_bytes = \"1 MiB\"\n" + topic);
    REQUIRE(one.problems.size() == 1);
    CHECK_THAT(one.problems[0], contains("topics.b: the topic takes ") && contains("quotas.topic_bytes is 1048576"));
}

TEST_CASE("A file that is not there or not readable is one error that names it") {
    for (const char* const path : {"/dev/shm/no/such/file.toml", "/dev/shm"}) {
        const LoadedConfiguration loaded = ConfigurationSource(path, Flags{}).load();
        CHECK_FALSE(loaded.configuration);
        REQUIRE(loaded.problems.size() == 1);
        CHECK_THAT(to_string(loaded.problems[0]), contains(std::string(path) + ": cannot be read: "));
    }
}

TEST_CASE("All values of a file arrive, sizes and durations in units or plain") {
    const Loaded loaded = load(kEverything);
    REQUIRE(loaded.configuration);
    const Configuration& c = *loaded.configuration;
    CHECK(c.directory == "/dev/shm/elsewhere");
    CHECK(c.interval == 20ms);
    CHECK(c.umask == 0027);
    CHECK(c.directory_access == TopicAccess{0, 0, 02770});
    CHECK(c.log_format == LogFormat::json);
    CHECK(c.log_level == LogLevel::debug);
    CHECK(c.log_window == 1min);
    CHECK(c.metrics_listen == ListenAddress{"::1", 9464});
    CHECK(c.quotas == Quotas{std::uint64_t{64} << 30, 10, std::uint64_t{1} << 30});
    REQUIRE(c.topics.size() == 2);
    const TopicOptions& orders = c.topics[0].options;
    CHECK(c.topics[0].name == "orders");
    CHECK(orders.partitions == 3);
    CHECK(orders.records == 65'536);
    CHECK(orders.cell_bytes == 128);
    CHECK(orders.payload_bytes == std::uint64_t{64} << 20);
    CHECK(orders.producer_slots == 8);
    CHECK(orders.groups == 4);
    CHECK(orders.members == 5);
    CHECK(orders.when_full == WhenFull::block);
    CHECK(orders.retention == Retention{12h, 1000, std::uint64_t{1} << 30});
    CHECK(orders.access == TopicAccess{1, 0, 0640});
    CHECK(orders.value_type == ValueType{"acme.Trade", 40, 8});
    CHECK(orders.first_offset == 7);
    CHECK(c.topics[1].name == "with.dots");
    CHECK(c.topics[1].options.payload_bytes == 0);
    CHECK(c.topics[1].options.retention.age == 0ms);
    CHECK(c.defaults.retention.age == 168h);
}

TEST_CASE("Flags override the file, and an empty file is a good one") {
    const Flags flags{
        .directory = "/dev/shm/d", .interval = 30ms, .log_format = LogFormat::text, .log_level = LogLevel::error};
    const Loaded loaded = load("directory = \"/x\"\ninterval = 5\n[log]\nformat = \"json\"\nlevel = \"debug\"", flags);
    REQUIRE(loaded.configuration);
    CHECK(loaded.configuration->directory == "/dev/shm/d");
    CHECK(loaded.configuration->interval == 30ms);
    CHECK(loaded.configuration->log_format == LogFormat::text);
    CHECK(loaded.configuration->log_level == LogLevel::error);
    CHECK(load("").configuration);
}

TEST_CASE("D08 Sizes that do not fit, and slips, are no sizes") {
    for (const char* const text : {"", "-1", "1e99", "10GB ", "10GB", "1.5 GiB", "18446744073709551616", "16777216 TiB",
                                   " 1", "1  KiB", "1kib", "KiB", "0x10"}) {
        INFO(text);
        CHECK_FALSE(parse_size(text));
    }
    CHECK(parse_size("16777215 TiB") == std::uint64_t{16777215} << 40);
    CHECK(parse_size("18446744073709551615") == std::nullopt);  // in a string a unit is needed
    CHECK(parse_size("0 B") == 0U);
    for (const char* const text : {"", "1", "1 year", "-5s", "1h30m", "1m", "18446744073709551615 d"}) {
        INFO(text);
        CHECK_FALSE(parse_duration(text));
    }
    CHECK(parse_duration("500ms") == 500ms);
    CHECK(parse_duration("7 d") == 168h);
}

TEST_CASE("Every number of bytes and milliseconds is printed in a form that is read back as itself") {
    for (const std::uint64_t number :
         {0ULL, 1ULL, 999ULL, 1000ULL, 1024ULL, 60'000ULL, 65'536ULL, 86'400'000ULL, 1ULL << 40, (1ULL << 40) + 1}) {
        CHECK(parse_size(size_to_text(number)) == number);
        const std::chrono::milliseconds duration(static_cast<std::int64_t>(number));
        CHECK(parse_duration(duration_to_text(duration)) == duration);
    }
}

TEST_CASE("The closest key is proposed only if it is close") {
    CHECK(closest("recrods", {"partitions", "records"}) == "records");
    CHECK(closest("levl", {"level", "format"}) == "level");
    CHECK_FALSE(closest("colour", {"partitions", "records", "cell"}));
    CHECK_FALSE(closest("x", {"yy"}));
}
