// Files that are unlinked or replaced under a running keeper: noticed, named, and nothing stale is kept.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "broker_impl.hpp"
#include "kept_topics.hpp"
#include "platform/file_lock.hpp"
#include "platform/files.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "support/told.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::ScratchDirectory;
using test::thrown_by;
using test::Told;

namespace {

namespace fs = std::filesystem;

TopicOptions small() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    options.partitions = 2;
    return options;
}

/// The part of a keeper that knows topics, with or without the kernel's help in watching directories.
class Topics {
public:
    Topics(const Broker& broker, bool watching)
        : broker_(broker.impl()), topics_(broker_, watching ? platform::DirectoryWatch::open() : platform::DirectoryWatch()) {}

    /// Steps through this much of the keeper's time.
    void step(std::chrono::milliseconds time, std::chrono::milliseconds pace = 100ms) {
        for (const auto until = now_ + time; now_ < until;) {
            now_ += pace;
            const DeathOracle is_dead(broker_->clients());
            KeeperReport report;
            KeeperStep step{std::chrono::nanoseconds(now_).count(), broker_->clients(), is_dead, 1, report, events_};
            (void)topics_.listen();
            topics_.step(step);
        }
    }
    Told told;
    [[nodiscard]] std::size_t size() const { return topics_.size(); }
    [[nodiscard]] std::size_t partitions() const { return topics_.partitions(); }

private:
    std::shared_ptr<Broker::Impl> broker_;
    KeeperEvents events_{told.listener()};
    KeptTopics topics_;
    std::chrono::milliseconds now_{0};
};

struct Place {
    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
    fs::path topic = topics_path(scratch.broker()) / "t";
    std::chrono::milliseconds now{0};

    Place() { broker.create_topic("t", small()); }

    void work(Keeper& keeper, std::chrono::milliseconds time = 1s) {
        for (const auto until = now + time; now < until;)
            (void)keeper.do_work(now += 100ms);
    }
};

/// Lets the kernel's clock for time stamps of files go on, so that what happens now differs from what happened before.
void let_ticks_pass() { std::this_thread::sleep_for(60ms); }

std::string pid_text(const fs::path& broker) {
    std::string text;
    std::ifstream(keeper_lock_path(broker)) >> text;
    return text;
}

}  // namespace

TEST_CASE("A partition's file that is removed from under a keeper is named within a second, and the other one is kept") {
    const bool watching = GENERATE(true, false);
    Place place;
    Topics topics(place.broker, watching);
    let_ticks_pass();
    topics.step(2s);
    Producer producer(place.broker, "t");
    producer.attach(0);
    producer.attach(1);
    topics.told.forget();
    fs::rename(place.topic / "1.log", place.topic / "away");
    topics.step(900ms);
    CHECK(topics.told.story() == "partition_unreadable t");
    CHECK(topics.told.all().at(0).partition == 1);
    CHECK(topics.told.all().at(0).subject == "'" + (place.topic / "1.log").string() + "' is missing");
    CHECK(topics.size() == 1);
    CHECK(topics.partitions() == 1);
    CHECK(producer.publish({.value = as_bytes("x"), .partition = 1}).status == Status::corrupt);
    CHECK(producer.publish({.value = as_bytes("x"), .partition = 0}).status == Status::ok);
    topics.step(60s);
    CHECK(topics.told.all().size() == 1);  // told once
    fs::rename(place.topic / "away", place.topic / "1.log");
    topics.step(900ms);
    CHECK(topics.told.story() == "partition_unreadable t, partition_recovered t");
    CHECK(topics.partitions() == 2);
    CHECK(producer.publish({.value = as_bytes("x"), .partition = 1}).status == Status::ok);
}

TEST_CASE("A file that is shortened under a keeper is named with its size within a second, though nobody touches what is gone") {
    const bool watching = GENERATE(true, false);
    const std::string file = GENERATE("readers", "groups", "1.log");
    Place place;
    Topics topics(place.broker, watching);
    let_ticks_pass();
    topics.step(2s);
    topics.told.forget();
    const std::uintmax_t size = fs::file_size(place.topic / file);
    fs::resize_file(place.topic / file, size - 1);
    topics.step(900ms);
    INFO(file << (watching ? ", watched" : ", looked at in turn"));
    CHECK(topics.told.story() == (file == "1.log" ? "partition_unreadable t" : "topic_unreadable t"));
    CHECK_THAT(topics.told.all().at(0).subject, test::contains((place.topic / file).string()) && test::contains(std::to_string(size)) &&
                                                    test::contains("has " + std::to_string(size - 1)));
    fs::resize_file(place.topic / file, size);
    topics.step(5s);
    CHECK(topics.told.all().back().kind == (file == "1.log" ? KeeperEventKind::partition_recovered : KeeperEventKind::topic_recovered));
}

TEST_CASE("A file that is removed from under a keeper is named within a second, and its topic let go") {
    const bool watching = GENERATE(true, false);
    const std::string file = GENERATE("topic.meta", "readers", "groups");
    Place place;
    Topics topics(place.broker, watching);
    let_ticks_pass();
    topics.step(2s);
    REQUIRE(topics.told.story() == "topic_found t");
    topics.told.forget();
    fs::remove(place.topic / file);
    topics.step(900ms);
    INFO(file << (watching ? ", watched" : ", looked at in turn"));
    CHECK(topics.told.story() == "file_missing t, topic_unreadable t");
    CHECK(topics.told.all().at(0).subject == (place.topic / file).string());
    CHECK(topics.size() == 0);
    topics.step(60s);
    CHECK(topics.told.all().size() == 2);  // told once
}

TEST_CASE("E05 Who has a topic open that is removed by hand is told, by a keeper, and does not work on unseen") {
    const bool watching = GENERATE(true, false);
    Place place;
    Topics topics(place.broker, watching);
    let_ticks_pass();
    topics.step(2s);
    Producer producer(place.broker, "t");
    Consumer consumer(place.broker);
    consumer.assign("t");
    Consumer member(place.broker, GroupOptions{.name = "g"});
    member.subscribe("t");
    REQUIRE(producer.publish({.value = as_bytes("before"), .partition = 0}).status == Status::ok);
    REQUIRE(member.poll().status == Status::ok);
    // as rm -r does, and slowly
    for (const char* file : {"0.log", "topic.meta", "groups", "1.log", "readers"}) {
        fs::remove(place.topic / file);
        topics.step(100ms);
    }
    fs::remove(place.topic);
    topics.step(900ms);
    CHECK(producer.publish({.value = as_bytes("after"), .partition = 0}).status == Status::topic_deleted);
    CHECK(producer.publish({.value = as_bytes("after"), .partition = 1}).status == Status::topic_deleted);  // attached never before
    const auto ends_as = [](Consumer& one, Status end) {
        for (int polls = 0; polls < 3; ++polls) {
            const PollResult result = one.poll();
            for (const PartitionFailure& failure : result.failures) {
                if (failure.status == end) return true;
            }
        }
        return false;
    };
    CHECK(ends_as(consumer, Status::topic_deleted));
    CHECK(ends_as(member, Status::group_deleted));
    place.broker.create_topic("t", small());
    topics.step(900ms);
    CHECK(topics.size() == 1);
    Producer next(place.broker, "t");
    CHECK(next.publish({.value = as_bytes("anew")}).status == Status::ok);
}

TEST_CASE("Who has a topic open that is moved away and back works on") {
    Place place;
    Topics topics(place.broker, true);
    topics.step(1s);
    Producer producer(place.broker, "t");
    fs::rename(place.topic, place.scratch.broker() / "away");
    topics.step(2s);
    fs::rename(place.scratch.broker() / "away", place.topic);
    topics.step(2s);
    CHECK(topics.size() == 1);
    CHECK(producer.publish({.value = as_bytes("still")}).status == Status::ok);
}

TEST_CASE("A file that is replaced under a keeper is named, and what is there now is taken up") {
    const bool watching = GENERATE(true, false);
    const std::string file = GENERATE("readers", "1.log");
    Place place;
    Topics topics(place.broker, watching);
    let_ticks_pass();
    topics.step(2s);
    topics.told.forget();
    fs::copy_file(place.topic / file, place.topic / (file + ".new"));
    fs::rename(place.topic / (file + ".new"), place.topic / file);
    topics.step(900ms);
    INFO(file << (watching ? ", watched" : ", looked at in turn"));
    const bool of_all = file == "readers";  // else of one partition
    CHECK(topics.told.story() == (of_all ? "file_replaced t, topic_found t" : "file_replaced t"));
    CHECK(topics.told.all().at(0).subject == (place.topic / file).string());
    CHECK(topics.told.all().at(0).partition == (of_all ? std::nullopt : std::optional(1U)));
    CHECK(topics.size() == 1);
    CHECK(topics.partitions() == 2);
    topics.step(10s);
    CHECK(topics.told.all().size() == (of_all ? 2 : 1));
}

TEST_CASE("A keeper maps nothing of a partition whose file was replaced by nonsense, and takes it up when it is whole again") {
    Place place;
    Topics topics(place.broker, true);
    topics.step(1s);
    topics.told.forget();
    fs::rename(place.topic / "0.log", place.topic / "0.log.away");
    std::ofstream(place.topic / "0.log") << "nonsense";
    topics.step(900ms);
    CHECK(topics.told.story() == "file_replaced t, partition_unreadable t");
    CHECK(topics.partitions() == 1);
    std::ifstream maps("/proc/self/maps");
    const std::string mapped(std::istreambuf_iterator<char>(maps), {});
    CHECK(mapped.find("0.log.away") == std::string::npos);
    CHECK(mapped.find((place.topic / "1.log").string()) != std::string::npos);
    topics.told.forget();
    fs::rename(place.topic / "0.log.away", place.topic / "0.log");
    topics.step(5s);
    CHECK(topics.told.story() == "partition_recovered t");
    CHECK(topics.partitions() == 2);
}

TEST_CASE("A topic's directory that is moved away is told apart from a deletion") {
    const bool watching = GENERATE(true, false);
    Place place;
    Topics topics(place.broker, watching);
    let_ticks_pass();
    topics.step(2s);
    topics.told.forget();
    fs::rename(place.topic, place.topic.string() + "2");
    topics.step(900ms);
    INFO((watching ? "watched" : "looked at in turn"));
    CHECK(topics.told.only(KeeperEventKind::file_missing).subject == place.topic.string());
    CHECK(topics.told.only(KeeperEventKind::topic_unreadable).topic == "t2");  // its files say that it is t
    CHECK(topics.told.count(KeeperEventKind::topic_gone) == 0);
    CHECK(topics.size() == 0);
    topics.told.forget();
    fs::rename(place.topic.string() + "2", place.topic);
    topics.step(900ms);
    CHECK(topics.told.story() == "topic_gone t2, topic_found t");
    topics.told.forget();
    place.broker.delete_topic("t");
    topics.step(900ms);
    CHECK(topics.told.story() == "topic_gone t");
}

TEST_CASE("A keeper whose lock file was unlinked makes it anew and holds it: no second keeper starts") {
    Place place;
    const Told told;
    Keeper keeper(place.broker, told.listener());
    place.work(keeper);
    told.forget();
    fs::remove(keeper_lock_path(place.scratch.broker()));
    place.work(keeper, 900ms);
    CHECK(told.story() == "file_missing");
    CHECK(told.all().at(0).subject == keeper_lock_path(place.scratch.broker()).string());
    CHECK(keeper.statistics().keeping);
    CHECK(pid_text(place.scratch.broker()) == std::to_string(::getpid()));
    CHECK(thrown_by([&] { Keeper second(place.broker); }).code == ErrorCode::busy);
    place.broker.create_topic("u", small());
    place.work(keeper);
    CHECK(keeper.statistics().topics == 2);
}

TEST_CASE("A keeper is made for a broker directory without a lock file") {
    Place place;
    fs::remove(keeper_lock_path(place.scratch.broker()));
    Keeper keeper(place.broker);
    CHECK(thrown_by([&] { Keeper second(place.broker); }).code == ErrorCode::busy);
}

TEST_CASE("Of two keepers that a replaced lock file brought about, the first stands by until the second is gone") {
    Place place;
    const Told told;
    Keeper keeper(place.broker, told.listener());
    place.work(keeper);
    told.forget();
    fs::remove(keeper_lock_path(place.scratch.broker()));
    {
        Keeper second(place.broker);  // before the first one looks
        place.work(keeper, 900ms);
        CHECK(told.story() == "file_replaced, keeping_stopped");
        CHECK_THAT(told.all().back().subject, test::contains("keeper.lock' is held: another keeper runs") && test::contains("pid " + std::to_string(::getpid())));
        CHECK_FALSE(keeper.statistics().keeping);
        place.work(keeper, 10s);
        CHECK(told.all().size() == 2);
        place.broker.delete_topic("t");
        place.work(keeper);
        CHECK(told.all().size() == 2);  // that is the second one's to tell
    }
    place.work(keeper);
    CHECK(keeper.statistics().keeping);
    CHECK(told.story() == "file_replaced, keeping_stopped, keeping_resumed, topic_gone t");
}

TEST_CASE("Without the client table that it opened a keeper declares nobody dead, says so, and goes on when it is back") {
    const bool replaced = GENERATE(true, false);
    Place place;
    const fs::path clients = clients_path(place.scratch.broker());
    const Told told;
    Keeper keeper(place.broker, told.listener());
    test::Child child([&] {
        Producer producer(Broker(place.scratch.broker()), "t");
        producer.attach(0);
        ::raise(SIGSTOP);
        return 0;
    });
    int status = 0;
    REQUIRE(::waitpid(child.pid(), &status, WUNTRACED) == child.pid());
    place.work(keeper);
    told.forget();
    fs::rename(clients, clients.string() + ".away");
    if (replaced)
        fs::copy_file(clients.string() + ".away", clients);
    place.work(keeper, 900ms);
    child.kill();
    place.work(keeper, 10s);
    CHECK(told.story() == (replaced ? "file_replaced, keeping_stopped" : "file_missing, keeping_stopped"));
    CHECK(told.all().at(0).subject == clients.string());
    CHECK_THAT(told.all().back().subject, test::contains("nobody can be proven dead"));
    fs::rename(clients.string() + ".away", clients);
    told.forget();
    place.work(keeper, 2s);
    CHECK(told.story() == "keeping_resumed, producer_reaped t");
}

TEST_CASE("The pid that a killed keeper left in the lock file is not taken for that of its successor") {
    Place place;
    test::Child killed([&] {
        const Keeper keeper{Broker(place.scratch.broker())};
        ::raise(SIGSTOP);
        return 0;
    });
    int status = 0;
    REQUIRE(::waitpid(killed.pid(), &status, WUNTRACED) == killed.pid());
    const std::string stale = std::to_string(killed.pid());
    CHECK(pid_text(place.scratch.broker()) == stale);
    CHECK_THAT(thrown_by([&] { Keeper second(place.broker); }).text, test::contains("pid " + stale));
    killed.kill();
    CHECK(pid_text(place.scratch.broker()) == stale);
    const Keeper successor(place.broker);
    CHECK(pid_text(place.scratch.broker()) == std::to_string(::getpid()));
    const auto refused = thrown_by([&] { Keeper third(place.broker); });
    CHECK_THAT(refused.text, test::contains("pid " + std::to_string(::getpid())));
    CHECK_THAT(refused.text, !test::contains("pid " + stale));
}

TEST_CASE("Whatever lies in the lock file, a keeper that is refused names a pid or none") {
    const auto [text, named] = GENERATE(table<const char*, const char*>({{"", "an unknown pid"},
                                                                        {"no number", "an unknown pid"},
                                                                        {"-1", "an unknown pid"},
                                                                        {"12345678901234567890", "an unknown pid"},
                                                                        {"77 and more", "pid 77"}}));
    Place place;
    const Keeper keeper(place.broker);
    std::ofstream(keeper_lock_path(place.scratch.broker())) << text;
    const std::string refused = thrown_by([&] { Keeper second(place.broker); }).text;
    CHECK_THAT(refused, test::contains(std::string("another keeper runs for this directory, ") + named));
    CHECK(refused.size() < 300);
}
