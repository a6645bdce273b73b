// Drawing for `ringmain top`: rates, lags, stalls, on any screen; tables and figures; keys.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "cli/figures.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/top_frame.hpp"
#include "cli/top_rates.hpp"
#include "ringmain/dead_letters.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using namespace std::chrono_literals;
using cli::Key;
using cli::ScreenSize;
using cli::TopLine;
using cli::TopSort;
using cli::TopState;
using cli::TopView;

TopicStats topic(const std::string& name, std::uint64_t log_end, std::uint64_t committed) {
    TopicStats stats;
    stats.name = name;
    PartitionStats partition;
    partition.log_end = log_end;
    partition.records = log_end;
    partition.newest_record_bytes = 1024;
    stats.partitions.push_back(partition);
    GroupDescription group;
    group.topic = name;
    group.name = "readers of " + name;
    GroupPartitionDescription part;
    part.lag.position = committed;
    part.lag.records = log_end - committed;
    part.lag.time = 90s;
    part.commits = committed;
    group.partitions.push_back(part);
    stats.groups.push_back(group);
    return stats;
}

BrokerStats look(std::int64_t seconds, std::vector<TopicStats> topics) {
    BrokerStats stats;
    stats.taken_ns = 1'000'000'000'000 + seconds * 1'000'000'000;
    stats.taken_monotonic_ns = seconds * 1'000'000'000;
    stats.directory = "/dev/shm/ringmain";
    stats.file_system.type = "tmpfs";
    stats.file_system.free_bytes = std::uint64_t{1} << 30;
    stats.keeper.running = true;
    stats.keeper.pid = 4711;
    stats.topics = std::move(topics);
    return stats;
}

std::string text_of(const std::vector<TopLine>& lines) {
    std::string text;
    for (const TopLine& line : lines)
        text.append(line.text).append("\n");
    return text;
}

std::size_t row_of(const std::vector<TopLine>& lines, const std::string& part) {
    const auto found =
        std::find_if(lines.begin(), lines.end(), [&](const TopLine& line) { return line.text.starts_with(part); });
    return static_cast<std::size_t>(found - lines.begin());
}

}  // namespace

TEST_CASE("A frame shows rates over the interval, lags with their trend, and the keeper") {
    const BrokerStats before = look(0, {topic("a", 100, 100), topic("b", 0, 0)});
    const BrokerStats now = look(2, {topic("a", 120, 100), topic("b", 4000, 4000)});
    const auto lines = cli::draw(before, now, {}, {});
    REQUIRE(lines.size() == 24);
    const std::string text = text_of(lines);
    CHECK_THAT(lines[0].text, contains("/dev/shm/ringmain  tmpfs, 1.00 GiB free  keeper runs, pid 4711"));
    CHECK_THAT(lines[1].text, contains("topics 2 (0 B)  clients 0  2.01k/s records, 1.96 MiB/s"));
    CHECK(lines[3].heading);
    CHECK_THAT(lines[row_of(lines, "b ")].text, contains("2.00k/s") && contains("1.95 MiB/s") && contains("="));
    CHECK_THAT(lines[row_of(lines, "a ")].text,
               contains("10.0/s") && contains("10.0 KiB/s") && contains("20  +10.0/s"));
    CHECK(row_of(lines, "b ") < row_of(lines, "a "));  // by rate
    CHECK_THAT(lines[23].text, contains("q quit"));
}

TEST_CASE("Topics and groups are sorted by rate, lag or name") {
    const BrokerStats before = look(0, {topic("a", 0, 0), topic("b", 0, 0)});
    const BrokerStats now = look(1, {topic("a", 10, 0), topic("b", 20, 20)});
    TopState state;
    for (const TopView view : {TopView::topics, TopView::partitions, TopView::groups}) {
        state.view = view;
        const std::string a = view == TopView::groups ? "readers of a" : "a ";
        const std::string b = view == TopView::groups ? "readers of b" : "b ";
        state.sort = TopSort::rate;
        CHECK(row_of(cli::draw(before, now, {}, state), b) < row_of(cli::draw(before, now, {}, state), a));
        state.sort = TopSort::lag;
        CHECK(row_of(cli::draw(before, now, {}, state), a) < row_of(cli::draw(before, now, {}, state), b));
        state.sort = TopSort::name;
        CHECK(row_of(cli::draw(before, now, {}, state), a) < row_of(cli::draw(before, now, {}, state), b));
    }
}

TEST_CASE("One look alone has no rates, and neither has a topic that was made anew") {
    BrokerStats now = look(1, {topic("a", 50, 10)});
    CHECK(cli::topic_rates(now, now).at(0).records_per_s == 0);
    CHECK(cli::group_rates(now, now).at(0).lag_per_s == 0);
    BrokerStats before = look(0, {topic("a", 10, 10)});
    before.topics[0].description.id[0] = 1;
    CHECK(cli::topic_rates(before, now).at(0).records_per_s == 0);
    // a clock that does not move, and offsets that go back, are no reason for figures that cannot be
    before = look(5, {topic("a", 90, 10)});
    CHECK(cli::topic_rates(before, now).at(0).records_per_s == 0);
    before.taken_monotonic_ns = 0;
    CHECK(cli::topic_rates(before, now).at(0).records_per_s == 0);
    CHECK(cli::topic_rates(before, now).at(0).lag_per_s == -40);
}

TEST_CASE("A damaged partition has no rate") {
    const BrokerStats before = look(0, {topic("a", 0, 0)});
    BrokerStats now = look(1, {topic("a", 10, 0)});
    now.topics[0].partitions[0].damage = "x";
    CHECK(cli::topic_rates(before, now).at(0).records_per_s == 0);
    CHECK_THAT(text_of(cli::draw(before, now, {}, {TopView::partitions, TopSort::name, 0})), contains("damaged"));
}

TEST_CASE("Queues have their records by state, what their workers finished, and what was handed out again") {
    const auto with_queue = [](std::uint64_t committed, std::uint64_t redelivered) {
        TopicStats stats = topic("jobs", 100, committed);
        QueueStats queue;
        queue.topic = "jobs";
        queue.name = "thumbnails";
        queue.workers.resize(3);
        QueuePartitionDescription partition;
        partition.lag.position = committed;
        partition.lag.records = 100 - committed;
        partition.delayed = 7;
        partition.acquired = 11;
        partition.ending = 2;
        partition.redelivered = redelivered;
        queue.partitions.push_back(partition);
        stats.queues.push_back(queue);
        queue.name = "broken";
        queue.error = "no";
        stats.queues.push_back(queue);
        return stats;
    };
    const BrokerStats before = look(0, {with_queue(20, 0)});
    const BrokerStats now = look(2, {with_queue(60, 8)});
    const auto lines = cli::draw(before, now, {24, 100}, {TopView::queues, TopSort::lag, 0});
    std::istringstream row(lines.at(row_of(lines, "thumbnails")).text);
    const std::vector<std::string> figures{std::istream_iterator<std::string>(row), {}};
    CHECK(figures ==
          std::vector<std::string>{"thumbnails", "jobs", "3", "40", "-20.0/s", "7", "11", "2", "20.0/s", "4.0/s"});
    CHECK_THAT(lines.at(row_of(lines, "broken")).text, contains("unreadable"));
    CHECK_THAT(cli::frame_to_text(before, now, TopSort::name), contains("thumbnails"));
}

TEST_CASE("Partitions have rates of their own, and those of their readers' gaps") {
    BrokerStats before = look(0, {topic("a", 10, 0)});
    BrokerStats now = look(2, {topic("a", 30, 5)});
    now.topics[0].partitions[0].gaps = 4;
    const cli::PartitionRates rates = cli::partition_rates(before, now).at(0);
    CHECK((rates.records_per_s == 10 && rates.bytes_per_s == 10240 && rates.lag == 25 && rates.gaps_per_s == 2));
    CHECK_THAT(text_of(cli::draw(before, now, {}, {TopView::partitions, TopSort::rate, 0})),
               contains("10.0/s") && contains("2.0/s"));
}

TEST_CASE("Stalls are tickets that stay open, groups that do not commit, and clients that are stopped") {
    BrokerStats before = look(0, {topic("a", 50, 10)});
    BrokerStats now = look(1, {topic("a", 60, 10)});
    CHECK(cli::stalls(before, now) ==
          std::vector<std::string>{"a partition 0: group 'readers of a' does not commit, 50 records behind"});
    for (BrokerStats* one : {&before, &now}) {
        one->topics.push_back(topic("a.dlq", 50, 10));
        one->topics.back().groups[0].name = kDeadLettersGroup;
    }
    CHECK(cli::stalls(before, now).size() == 1);  // letters that wait stall nobody
    ProducerStats producer;
    producer.client = {3, 1, 99, ClientState::alive};
    producer.open_tickets = 1;
    producer.first_ticket = 55;
    before.topics[0].partitions[0].attached.push_back(producer);
    now.topics[0].partitions[0].attached.push_back(producer);
    now.topics[0].groups[0].partitions[0].lag.position = 20;
    CHECK(cli::stalls(before, now) ==
          std::vector<std::string>{"a partition 0: ticket 55 is open, client 3, pid 99, alive"});
    now.topics[0].partitions[0].attached[0].first_ticket = 56;
    CHECK(cli::stalls(before, now).empty());
    ClientStats client;
    client.client.pid = 7;
    client.same_pid_namespace = true;
    client.process = ProcessState::stopped;
    client.producers = 2;
    now.clients.push_back(client);
    CHECK(cli::stalls(before, now) == std::vector<std::string>{"pid 7 is stopped, and holds 2 places"});
    CHECK_THAT(text_of(cli::draw(before, now, {}, {})), contains("stall: pid 7 is stopped"));
}

TEST_CASE("Every view fits every screen, and scrolls no further than there are rows") {
    std::vector<TopicStats> topics;
    for (int i = 0; i < 50; ++i)
        topics.push_back(topic("a-topic-with-a-name-that-is-far-too-long-for-any-screen-" + std::to_string(i), 10, 5));
    BrokerStats now = look(1, topics);
    now.clients.resize(30);
    for (const TopView view :
         {TopView::topics, TopView::partitions, TopView::groups, TopView::queues, TopView::clients, TopView::help}) {
        for (const ScreenSize size : {ScreenSize{24, 80}, ScreenSize{1, 1}, ScreenSize{0, 0}, ScreenSize{5, 10},
                                      ScreenSize{6, 200}, ScreenSize{200, 300}}) {
            for (const std::size_t scroll : {std::size_t{0}, std::size_t{7}, std::size_t{100'000}}) {
                const auto lines = cli::draw(now, now, size, {view, TopSort::name, scroll});
                CHECK(lines.size() == size.rows);
                for (const TopLine& line : lines)
                    CHECK(cli::columns_of(line.text) <= size.columns);
            }
        }
    }
    TopState state;
    state.sort = TopSort::name;
    CHECK(cli::table_rows({24, 80}) == 19);
    CHECK(cli::scroll_max(now, now, {24, 80}, state) == 31);
    state.scroll = 31;
    const auto last = cli::draw(now, now, {24, 80}, state);
    CHECK(text_of(last).find(" more") == std::string::npos);
    state.scroll = 0;
    CHECK_THAT(cli::draw(now, now, {24, 80}, state).back().text, contains("31 more"));
    CHECK(cli::scroll_max(now, now, {24, 80}, {TopView::help, TopSort::name, 0}) == 0);
}

TEST_CASE("Names cannot act on the terminal") {
    BrokerStats now = look(0, {topic("a", 1, 0)});
    now.topics[0].groups[0].name = "x\x1b[2Jy";
    const std::string text = text_of(cli::draw(now, now, {}, {TopView::groups, TopSort::name, 0}));
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK_THAT(text, contains("x\\x1b[2Jy"));
    CHECK(cli::frame_to_text(now, now, TopSort::name).find('\x1b') == std::string::npos);
}

TEST_CASE("Tables are as wide as what is in them") {
    cli::Table table({"<NAME", "COUNT"});
    CHECK(table.empty());
    table.add({"größer", "1"});
    table.add({"b", "1000000"});
    CHECK_FALSE(table.empty());
    CHECK(table.text() == "NAME      COUNT\ngrößer        1\nb       1000000\n");
    CHECK(cli::cut_to("größer", 6) == "größer");
    CHECK(cli::cut_to("größer", 4) == "grö~");
    CHECK(cli::cut_to("x", 0).empty());
}

TEST_CASE("Figures are short") {
    CHECK(cli::short_bytes(0) == "0 B");
    CHECK(cli::short_bytes(1023) == "1023 B");
    CHECK(cli::short_bytes(1024) == "1.00 KiB");
    CHECK(cli::short_bytes(std::uint64_t{1} << 24) == "16.0 MiB");
    CHECK(cli::short_bytes(UINT64_MAX) == "16.0 EiB");
    CHECK(cli::short_count(999) == "999");
    CHECK(cli::short_count(1000) == "1.00k");
    CHECK(cli::short_count(123'456) == "123k");
    CHECK(cli::short_count(999'999) == "1.00M");
    CHECK(cli::short_rate(0) == "0/s");
    CHECK(cli::short_rate(0.5) == "0.5/s");
    CHECK(cli::short_rate(1500) == "1.50k/s");
    CHECK(cli::short_time(0ms) == "0 ms");
    CHECK(cli::short_time(1999ms) == "1999 ms");
    CHECK(cli::short_time(2s) == "2 s");
    CHECK(cli::short_time(119s) == "119 s");
    CHECK(cli::short_time(3h) == "3 h");
    CHECK(cli::short_time(72h) == "3 d");
    CHECK(cli::age_of(0, 5) == "-");
    CHECK(cli::age_of(9'000'000'000, 5) == "0 ms");
    CHECK(cli::age_of(1, 3'000'000'001) == "3 s");
}

TEST_CASE("Keys are understood also in pieces, and what is not is passed over") {
    std::string read = "q\x1b[A\x1b[6~\x1bOB\x1b[";
    auto keys = cli::take_keys(read, false);
    REQUIRE(keys.size() == 4);
    CHECK((keys[0].key == Key::other && keys[0].character == 'q'));
    CHECK((keys[1].key == Key::up && keys[2].key == Key::page_down && keys[3].key == Key::down));
    CHECK(read == "\x1b[");
    read += "5~s";
    keys = cli::take_keys(read, false);
    REQUIRE(keys.size() == 2);
    CHECK((keys[0].key == Key::page_up && keys[1].character == 's' && read.empty()));
    read = "\x1b[99;5Zg\x1b";
    keys = cli::take_keys(read, true);
    REQUIRE(keys.size() == 3);
    CHECK((keys[0].key == Key::other && keys[0].character == 0 && keys[1].character == 'g' && keys[2].character == 0));
    CHECK(read.empty());
}

}  // namespace ringmain::test
