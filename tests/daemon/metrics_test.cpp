// The metrics: what is served is what the documentation lists, promtool finds nothing wrong, and Prometheus scrapes it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "daemon/keeper_thread.hpp"
#include "daemon/metrics_collector.hpp"
#include "demo/markdown.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/queue_admin.hpp"
#include "running_daemon.hpp"
#include "support/catch.hpp"
#include "support/queue_place.hpp"

using namespace ringmain;
using platform::Descriptor;
using test::contains;
using test::eventually;
using test::RunningDaemon;
using test::ScratchDirectory;

namespace {

namespace fs = std::filesystem;

/// A topic of two partitions with records, a group that lags behind, and a gate of bytes that are no UTF-8.
struct Place {
    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
    std::optional<Producer> producer;
    std::optional<Consumer> consumer;

    Place() {
        TopicOptions options = test::small_topic();
        options.partitions = 2;
        options.payload_bytes = kPayloadMin;
        broker.create_topic("trades", options);
        producer.emplace(broker, "trades");
        consumer.emplace(broker, GroupOptions{.name = "billing \"\xff\\"});
        consumer->subscribe("trades");
        for (int i = 0; i < 10; ++i)
            REQUIRE(producer->publish({.value = as_bytes("0123456789")}).status == Status::ok);
        while (consumer->poll(5, std::chrono::seconds(1)).records.empty()) {
        }
        QueueOptions queue;
        queue.exhausted = queue.expired = Exhausted::skip;
        QueueAdmin(broker).create("trades", "mail", queue);
    }
};

double value_of(const std::string& text, const std::string& sample) {
    const std::size_t at = text.find("\n" + sample + " ");
    INFO(sample << "\n" << text);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + sample.size() + 2));
}

std::string row_of(const daemon::MetricInfo& info) {
    const std::string labels = *info.labels == '\0' ? "" : "`" + std::string(info.labels) + "`";
    return std::string("| `") + info.name + "` | " + (info.kind == daemon::MetricKind::counter ? "counter" : "gauge") +
           " | " + labels + " | " + info.help + " |";
}

bool has_program(const std::string& name) { return std::system(("command -v " + name + " > /dev/null").c_str()) == 0; }

/// A port of 127.0.0.1 that was free a moment ago.
std::uint16_t free_port() {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    return ntohs(address.sin_port);
}

/// The body of what a port answers to GET; empty: nobody listens, or it is not 200.
std::string get(std::uint16_t port, const std::string& target) {
    const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return {};
    test::send_raw(socket, "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    const std::string answer = test::read_all(socket);
    return answer.starts_with("HTTP/1.1 200") ? answer.substr(answer.find("\r\n\r\n") + 4) : std::string();
}

}  // namespace

TEST_CASE("The table in docs/metrics.md lists every metric that is served, and nothing else") {
    const Place place;
    const RunningDaemon daemon(place.scratch.broker());
    const std::string documentation = test::read_source_file("docs/metrics.md");
    const std::string served = daemon.ask("GET", "/metrics").body;
    std::set<std::string> names;
    for (const daemon::MetricInfo& info : daemon::all_metrics()) {
        INFO(row_of(info));
        CHECK_THAT(documentation, contains(row_of(info)));
        CHECK_THAT(served, contains(std::string("# HELP ") + info.name + " " + info.help + "\n"));
        CHECK(names.insert(info.name).second);
    }
    std::istringstream lines(documentation);
    std::size_t rows = 0;
    for (std::string line; std::getline(lines, line);)
        rows += line.starts_with("| `") ? 1 : 0;
    CHECK(rows == names.size());
    const std::regex type("(^|\n)# TYPE ([a-z_]+) ");
    std::size_t types = 0;
    for (std::sregex_iterator match(served.begin(), served.end(), type), end; match != end; ++match, ++types)
        CHECK(names.contains((*match)[2]));
    CHECK(types == names.size());
}

TEST_CASE("All who asked before a look at the broker began get the figures of that look") {
    const Place place;
    daemon::KeeperThread keeper(place.broker, [](const KeeperEvent&) {});
    const daemon::MetricsCollector collector(place.broker, keeper);
    const auto asked = daemon::MetricsCollector::Clock::now();
    const std::string first = collector.text(asked);
    CHECK(collector.text(asked) == first);  // with the time that it took
    REQUIRE(place.broker.list_topics().size() == 1);
    Broker(place.broker).create_topic("later", test::small_topic());
    CHECK(collector.text(asked) == first);
    CHECK_THAT(collector.text(daemon::MetricsCollector::Clock::now()), contains("topic=\"later\""));
}

TEST_CASE("The metrics have the figures of the broker") {
    Place place;
    test::TestWorker worker(place.broker, "trades", "mail");
    std::size_t acquired = 0;
    for (std::uint32_t partition = 0; partition < 2; ++partition)
        acquired += worker.acquire(3 - acquired, partition).size();
    REQUIRE(acquired == 3);
    const RunningDaemon daemon(place.scratch.broker());
    const auto reply = daemon.ask("GET", "/metrics");
    REQUIRE(reply.status == 200);
    const auto of_both = [&](const std::string& name, const std::string& labels, const std::string& rest = {}) {
        return value_of(reply.body, name + "{" + labels + "partition=\"0\"" + rest + "}") +
               value_of(reply.body, name + "{" + labels + "partition=\"1\"" + rest + "}");
    };
    const std::string topic = "topic=\"trades\",";
    const std::string group = topic + "group=\"billing \\\"\xEF\xBF\xBD\\\\\",";
    CHECK(of_both("ringmain_partition_log_end_offset", topic) == 10);
    CHECK(of_both("ringmain_partition_appended_records_total", topic) == 10);
    CHECK(of_both("ringmain_partition_records", topic) == 10);
    CHECK(of_both("ringmain_partition_record_bytes", topic) == 100);
    CHECK(of_both("ringmain_partition_producers", topic) == 2);
    CHECK(of_both("ringmain_partition_extents", topic, ",state=\"free\"") > 0);
    CHECK(of_both("ringmain_group_lag_records", group) == 10);
    CHECK(of_both("ringmain_group_lag_bytes", group) == 100);
    CHECK(value_of(reply.body, "ringmain_group_members{topic=\"trades\",group=\"billing \\\"\xEF\xBF\xBD\\\\\"}") == 1);
    const std::string queue = topic + "queue=\"mail\",";
    for (const auto& [name, value] : {std::pair<const char*, double>{"lag_records", 10},
                                      {"available_records", 7},
                                      {"acquired_records", 3},
                                      {"delayed_records", 0},
                                      {"lost_records_total", 0},
                                      {"expired_locks_total", 0},
                                      {"dead_letters_total", 0}})
        CHECK(of_both(std::string("ringmain_queue_") + name, queue) == value);
    CHECK(value_of(reply.body, "ringmain_queue_workers{topic=\"trades\",queue=\"mail\"}") == 1);
    CHECK(value_of(reply.body, "ringmain_queue_damaged{topic=\"trades\",queue=\"mail\"}") == 0);
    CHECK_THAT(reply.body, contains("ringmain_client_acquired_records{client=\"") && contains("\"} 3\n"));
    CHECK(value_of(reply.body, "ringmain_topics") == 1);
    CHECK(value_of(reply.body, "ringmain_clients{state=\"running\"}") >= 1);
    CHECK(value_of(reply.body, "process_open_fds") > 3);
    CHECK(value_of(reply.body, "process_start_time_seconds") > 1e9);
    CHECK_THAT(reply.body,
               contains("ringmain_client_info{client=\"") && contains("pid=\"" + std::to_string(::getpid()) + "\""));
    CHECK_THAT(reply.body, contains("ringmain_build_info{version=\"0.1.0\"} 1"));
    CHECK(eventually([&] { return value_of(daemon.ask("GET", "/metrics").body, "ringmain_keeper_steps_total") > 0; }));
}

TEST_CASE("promtool finds nothing wrong with the metrics") {
    if (!has_program("promtool"))
        SKIP("promtool (Debian's prometheus) is not installed");
    const Place place;
    const RunningDaemon daemon(place.scratch.broker());
    const fs::path file = place.scratch.path() / "metrics.txt";
    std::ofstream(file) << daemon.ask("GET", "/metrics").body;
    const fs::path said = place.scratch.path() / "said.txt";
    const std::string command = "promtool check metrics < '" + file.string() + "' > '" + said.string() + "' 2>&1";
    const int code = std::system(command.c_str());
    CHECK(test::text_in(said) == "");
    CHECK(code == 0);
}

TEST_CASE("The loopback port serves metrics and health, and nothing else") {
    const Place place;
    const std::uint16_t port = free_port();
    const RunningDaemon daemon(place.scratch.broker(),
                               "[metrics]\nlisten = \"127.0.0.1:" + std::to_string(port) + "\"\n");
    CHECK_THAT(get(port, "/metrics"), contains("ringmain_topics 1"));
    CHECK_THAT(get(port, "/v1/health"), contains("\"status\":\"ok\""));
    for (const char* const target : {"/v1/topics", "/v1/topics/trades", "/v1/groups", "/v1/queues", "/v1/keeper", "/"})
        CHECK(get(port, target).empty());
    CHECK_THAT(daemon.log(), contains("metrics are served on http://127.0.0.1:" + std::to_string(port) + "/metrics"));
}

TEST_CASE("A daemon whose port is taken does not start, and says which") {
    const Place place;
    const std::uint16_t port = free_port();
    const std::string configuration = "[metrics]\nlisten = \"127.0.0.1:" + std::to_string(port) + "\"\n";
    const RunningDaemon daemon(place.scratch.broker(), configuration);
    const ScratchDirectory other;
    const fs::path file = other.path() / "ringmaind.toml";
    std::ofstream(file) << configuration;
    const fs::path output = other.path() / "output";
    test::Child second =
        test::start(RINGMAIN_DAEMON_PATH, {"-c", file.string(), "-d", other.broker().string()}, {output, 0, {}});
    CHECK(second.wait() == 1);
    CHECK_THAT(test::text_in(output), contains("another process listens on 127.0.0.1:" + std::to_string(port)));
    CHECK_FALSE(fs::exists(other.broker() / "keeper.sock"));
}

TEST_CASE("A Prometheus server scrapes the daemon") {
    if (!has_program("prometheus"))
        SKIP("prometheus is not installed");
    const Place place;
    const std::uint16_t port = free_port();
    const RunningDaemon daemon(place.scratch.broker(),
                               "[metrics]\nlisten = \"127.0.0.1:" + std::to_string(port) + "\"\n");
    const fs::path home = place.scratch.path() / "prometheus";
    fs::create_directory(home);
    std::ofstream(home / "prometheus.yml") << "global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: ringmain\n"
                                           << "  static_configs: [{targets: ['127.0.0.1:" << port << "']}]\n";
    const std::uint16_t web = free_port();
    const std::string command = "exec prometheus --config.file='" + (home / "prometheus.yml").string() +
                                "' --storage.tsdb.path='" + (home / "data").string() +
                                "' --web.listen-address=127.0.0.1:" + std::to_string(web);
    const test::Child server = test::start("/bin/sh", {"-c", command}, {home / "output", 0, {}});
    const std::string query = "/api/v1/query?query=";
    const auto answers = [&](const std::string& expression, const std::string& part) {
        return eventually([&] { return get(web, query + expression).find(part) != std::string::npos; });
    };
    CHECK(answers("up", "\"1\""));
    CHECK(answers("sum(ringmain_partition_log_end_offset)", "\"10\""));
    CHECK(answers("sum(ringmain_group_lag_records)", "\"20\""));  // of the group and of the queue
    CHECK(answers("scrape_samples_scraped", "\"result\":[{"));
    INFO(test::text_in(home / "output"));
    CHECK(get(port, "/metrics").find("ringmain_topics 1") != std::string::npos);
}
