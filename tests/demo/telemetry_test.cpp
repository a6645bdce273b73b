// The demo's reading of /proc: names and values of counters, on texts as kernels print them and on this machine.
#include "cli/demo_telemetry.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "support/catch.hpp"

using namespace ringmain::cli::demo;

namespace {

using Samples = std::map<std::string, std::string>;

Samples samples_of(TelemetryParser parse, const char* file, const std::string& text) {
    Sweep sweep;
    parse(file, text, sweep);
    Samples samples;
    for (std::size_t index = 0; index < sweep.size(); ++index) {
        const Sample sample = sweep[index];
        const bool fresh = samples.emplace(sample.key, sample.value).second;
        CHECK(fresh);
    }
    return samples;
}

}  // namespace

TEST_CASE("Counters of meminfo and vmstat are named after file and line") {
    CHECK(samples_of(parse_name_value, "meminfo", "MemTotal:       16303428 kB\nHugePages_Total:       0\n") ==
          Samples{{"meminfo/MemTotal", "16303428"}, {"meminfo/HugePages_Total", "0"}});
    CHECK(samples_of(parse_name_value, "vmstat", "nr_free_pages 12\npgfault 7\n") ==
          Samples{{"vmstat/nr_free_pages", "12"}, {"vmstat/pgfault", "7"}});
}

TEST_CASE("Counters per processor are named after the header, also in rows that have fewer") {
    const std::string text =
        "            CPU0       CPU3       \n"
        "   0:          9          8   IO-APIC   2-edge      timer\n"
        " LOC:       1000       2000   Local timer interrupts\n"
        " ERR:          4\n";
    CHECK(samples_of(parse_per_cpu, "interrupts", text) == Samples{{"interrupts/0/CPU0", "9"},
                                                                   {"interrupts/0/CPU3", "8"},
                                                                   {"interrupts/LOC/CPU0", "1000"},
                                                                   {"interrupts/LOC/CPU3", "2000"},
                                                                   {"interrupts/ERR/CPU0", "4"}});
}

TEST_CASE("Counters of stat are the processors' times and the totals") {
    const Samples samples =
        samples_of(parse_stat, "stat", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4\nintr 99 1 0 5\nctxt 77\n");
    CHECK(samples.size() == 16);
    CHECK(samples.at("stat/cpu/user") == "1");
    CHECK(samples.at("stat/cpu/guest_nice") == "10");
    CHECK(samples.at("stat/cpu0/idle") == "4");
    CHECK(samples.at("stat/intr") == "99");
    CHECK(samples.at("stat/ctxt") == "77");
}

TEST_CASE("Counters of disks are named also where an old kernel prints fewer of them") {
    const Samples samples = samples_of(parse_diskstats, "diskstats", "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n");
    CHECK(samples.size() == 11);
    CHECK(samples.at("diskstats/sda/reads") == "1");
    CHECK(samples.at("diskstats/sda/weighted_io_ms") == "11");
}

TEST_CASE("Counters of interfaces are found also without a space after the colon, and for aliases") {
    const std::string text =
        "Inter-|   Receive  |  Transmit\n face |bytes    packets|bytes    packets\n"
        "  eth0:123 1 2 3 4 5 6 7 456 1 2 3 4 5 6 7\n"
        "eth0:1: 9 1 2 3 4 5 6 7 8 1 2 3 4 5 6 7\n";
    const Samples samples = samples_of(parse_net_dev, "net/dev", text);
    CHECK(samples.size() == 32);
    CHECK(samples.at("net/dev/eth0/rx_bytes") == "123");
    CHECK(samples.at("net/dev/eth0/tx_bytes") == "456");
    CHECK(samples.at("net/dev/eth0:1/rx_bytes") == "9");
}

TEST_CASE("Counters in pairs of lines are named by the first line of each pair") {
    CHECK(samples_of(parse_line_pairs, "net/snmp", "Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: MaxConn\nTcp: -1\n") ==
          Samples{{"net/snmp/Ip/Forwarding", "1"}, {"net/snmp/Ip/DefaultTTL", "64"}, {"net/snmp/Tcp/MaxConn", "-1"}});
    CHECK(samples_of(parse_line_pairs, "net/snmp", "Ip: A\nTcp: 1\n").empty());
}

TEST_CASE("Pressure and single lines are named by position") {
    CHECK(samples_of(parse_pressure, "pressure/io", "some avg10=0.10 avg60=1.00 total=5\n") ==
          Samples{
              {"pressure/io/some/avg10", "0.10"}, {"pressure/io/some/avg60", "1.00"}, {"pressure/io/some/total", "5"}});
    CHECK(samples_of(parse_single_line, "loadavg", "0.16 0.17 0.09 1/89 5708\n") == Samples{{"loadavg/1", "0.16"},
                                                                                            {"loadavg/2", "0.17"},
                                                                                            {"loadavg/3", "0.09"},
                                                                                            {"loadavg/4", "1"},
                                                                                            {"loadavg/tasks", "89"},
                                                                                            {"loadavg/5", "5708"}});
}

TEST_CASE("Text that is no counter is left out by every parser") {
    for (const TelemetryParser parse : {parse_name_value, parse_per_cpu, parse_stat, parse_diskstats, parse_net_dev,
                                        parse_line_pairs, parse_pressure, parse_single_line}) {
        for (const char* text : {"", "\n", "\n\n\n", ":", "a: b c d\n", " \t \n: :\n", "no newline", "x\ny\nz\n",
                                 "a=b = c=\n", "1/ /2 /\n"}) {
            Sweep sweep;
            parse("f", text, sweep);
            for (std::size_t index = 0; index < sweep.size(); ++index)
                CHECK(sweep[index].value.find_first_of("0123456789") == 0);
        }
    }
}

TEST_CASE("A sweep over this machine's files gives the same keys each time, each key once, each with a number") {
    const std::vector<TelemetryFile> files = readable_telemetry_files();
    REQUIRE(files.size() >= 4);
    TelemetryReader reader(files);
    Sweep sweep;
    std::set<std::string> first;
    for (int round = 0; round < 3; ++round) {
        sweep.clear();
        reader.sample(sweep);
        std::set<std::string> keys;
        for (std::size_t index = 0; index < sweep.size(); ++index)
            keys.emplace(sweep[index].key);
        CHECK(keys.size() == sweep.size());
        CHECK(keys.contains("meminfo/MemTotal"));
        if (round == 0)
            first = keys;
        CHECK(keys == first);
    }
}
