// The broker directory: making it, creating, finding, describing and deleting topics.
#include "ringmain/broker.hpp"

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "broker_impl.hpp"
#include "partition_log/doorbell.hpp"
#include "platform/files.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "support/test_broker.hpp"
#include "topic_paths.hpp"
#include "topic_removal.hpp"

using namespace ringmain;
using test::Child;
using test::ScratchDirectory;
using test::TestBroker;
using test::thrown_by;

namespace {

namespace fs = std::filesystem;

TopicOptions small() {
    TopicOptions options;
    options.records = 16;
    options.producer_slots = 1;
    options.cell_bytes = 64;
    options.payload_bytes = 0;
    return options;
}

bool has_nothing(const fs::path& directory) { return platform::names_in(directory).empty(); }

}  // namespace

TEST_CASE("A directory that is absent or empty becomes a broker, and opens afterwards") {
    const ScratchDirectory scratch;
    CHECK(thrown_by([&] { return Broker(scratch.broker()); }).code == ErrorCode::not_found);
    fs::create_directory(scratch.broker());
    CHECK(thrown_by([&] { return Broker(scratch.broker()); }).code == ErrorCode::not_found);
    const Broker made(scratch.broker(), Broker::Mode::open_or_create);
    const Broker opened(scratch.broker());
    CHECK(opened.directory() == scratch.broker());
    CHECK(opened.list_topics().empty());
}

TEST_CASE("A directory with something else in it never becomes a broker") {
    const ScratchDirectory scratch;
    fs::create_directory(scratch.broker());
    std::ofstream(scratch.broker() / "thesis.tex") << "precious";
    const test::Thrown thrown = thrown_by([&] { return Broker(scratch.broker(), Broker::Mode::open_or_create); });
    CHECK(thrown.code == ErrorCode::mismatch);
    CHECK_THAT(thrown.text, test::contains("thesis.tex"));
    CHECK(platform::names_in(scratch.broker()) == std::vector<std::string>{"thesis.tex"});
}

TEST_CASE("A file in the place of the broker directory is an error of its own") {
    const ScratchDirectory scratch;
    std::ofstream(scratch.broker()) << "a file";
    CHECK(thrown_by([&] { return Broker(scratch.broker()); }).code == ErrorCode::mismatch);
    CHECK(thrown_by([&] { return Broker(scratch.broker(), Broker::Mode::open_or_create); }).code ==
          ErrorCode::mismatch);
}

TEST_CASE("Several makers of one broker directory agree") {
    for (int round = 0; round < 20; ++round) {
        const ScratchDirectory scratch;
        std::vector<Child> makers;
        for (int i = 0; i < 4; ++i) {
            makers.emplace_back([&] {
                Broker broker(scratch.broker(), Broker::Mode::open_or_create);
                broker.ensure_topic("t", small());
                return 0;
            });
        }
        for (Child& maker : makers)
            REQUIRE(maker.wait() == 0);
        const Broker broker(scratch.broker());
        REQUIRE(broker.list_topics() == std::vector<std::string>{"t"});
        for (const std::string& name : platform::names_in(scratch.broker()))
            REQUIRE_FALSE(name.starts_with(".making-"));
    }
}

TEST_CASE("The default broker directory is $RINGMAIN_DIR") {
    const char* const before = std::getenv("RINGMAIN_DIR");
    const std::string saved = before != nullptr ? before : "";
    ::setenv("RINGMAIN_DIR", "/some/where", 1);
    CHECK(default_broker_directory() == "/some/where");
    ::unsetenv("RINGMAIN_DIR");
    CHECK(default_broker_directory() == "/dev/shm/ringmain");
    if (before != nullptr)
        ::setenv("RINGMAIN_DIR", saved.c_str(), 1);
}

TEST_CASE("A created topic is described as it was ordered") {
    TestBroker t;
    TopicOptions options = small();
    options.partitions = 3;
    options.payload_bytes = 1 << 16;
    options.when_full = WhenFull::block;
    options.value_type = {"acme.Trade", 40, 8};
    options.first_offset = std::uint64_t{1} << 61;
    const TopicDescription made = t.broker.create_topic("trades", options);
    CHECK(made.name == "trades");
    options.access = made.options.access;  // nothing was ordered: as the umask says
    CHECK(made.options == options);
    CHECK(made.record_bytes_max == 32'768);
    CHECK(made.inline_bytes_max == 40);
    REQUIRE(made.partitions.size() == 3);
    CHECK(made.partitions[2].partition == 2);
    CHECK(made.partitions[2].log_start == options.first_offset);
    CHECK(made.partitions[2].log_end == options.first_offset);
    CHECK(made.partitions[2].extents_free == 2);
    CHECK(made.partitions[2].producers.empty());
    const TopicDescription found = t.broker.describe_topic("trades");
    CHECK(found.id == made.id);
    CHECK(found.bytes == made.bytes);
}

TEST_CASE("The described bytes are what the file system gave") {
    TestBroker t;
    TopicOptions options = small();
    options.partitions = 2;
    const TopicDescription made = t.broker.create_topic("t", options);
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(topics_path(t.scratch.broker()) / "t")) {
        struct stat status {};
        REQUIRE(::stat(entry.path().c_str(), &status) == 0);
        bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
    CHECK(made.bytes == bytes);
}

TEST_CASE("A topic exists once") {
    TestBroker t;
    t.broker.create_topic("t", small());
    CHECK(thrown_by([&] { return t.broker.create_topic("t", small()); }).code == ErrorCode::already_exists);
    CHECK(has_nothing(staging_path(t.scratch.broker())));
    CHECK(t.broker.ensure_topic("t", small()).name == "t");
}

TEST_CASE("O05 Ensuring a topic with other options names the first one that differs") {
    TestBroker t;
    t.broker.ensure_topic("t", small());
    TopicOptions other = small();
    other.when_full = WhenFull::block;
    CHECK_THAT(thrown_by([&] { return t.broker.ensure_topic("t", other); }).text,
               test::contains("topic 't' exists with when_full overwrite, not block"));
    other = small();
    other.value_type = {"acme.Trade", 40, 8};
    const test::Thrown thrown = thrown_by([&] { return t.broker.ensure_topic("t", other); });
    CHECK(thrown.code == ErrorCode::mismatch);
    CHECK_THAT(thrown.text, test::contains("bytes, not 'acme.Trade'"));
}

TEST_CASE("Topics are listed sorted") {
    TestBroker t;
    for (const char* const name : {"b", "...", "a"})
        t.broker.create_topic(name, small());
    CHECK(t.broker.list_topics() == std::vector<std::string>{"...", "a", "b"});
}

TEST_CASE("An unknown topic is not found, by name and directory") {
    TestBroker t;
    const test::Thrown thrown = thrown_by([&] { return t.broker.describe_topic("nothing"); });
    CHECK(thrown.code == ErrorCode::not_found);
    CHECK_THAT(thrown.text, test::contains("nothing"));
    CHECK_THAT(thrown.text, test::contains(t.scratch.broker().string()));
    CHECK(thrown_by([&] { t.broker.delete_topic("nothing"); }).code == ErrorCode::not_found);
    CHECK(thrown_by([&] { return t.broker.verify("nothing"); }).code == ErrorCode::not_found);
    CHECK(thrown_by([&] { return t.broker.dump("nothing", 0, 0); }).code == ErrorCode::not_found);
}

TEST_CASE("A deleted topic is gone from names, memory and the eyes of its handles") {
    TestBroker t;
    t.broker.create_topic("t", small());
    const auto handle = t.broker.impl()->open_topic("t");
    const partition_log::Doorbell<platform::HostMemory> bell(*handle->readers(0));
    CHECK_FALSE(bell.deleted());
    t.broker.delete_topic("t");
    CHECK(bell.deleted());
    CHECK(handle->deleted());
    CHECK(thrown_by([&] { return handle->map_partition(0, platform::Access::read_only); }).code ==
          ErrorCode::topic_deleted);
    CHECK(t.broker.list_topics().empty());
    CHECK(has_nothing(topics_path(t.scratch.broker())));
    CHECK(has_nothing(trash_path(t.scratch.broker())));
}

TEST_CASE("A topic created anew is another topic, also to handles of the old one") {
    TestBroker t;
    const TopicId first = t.broker.create_topic("t", small()).id;
    const auto handle = t.broker.impl()->open_topic("t");
    t.broker.delete_topic("t");
    CHECK_FALSE(t.broker.create_topic("t", small()).id == first);
    CHECK(thrown_by([&] { return handle->map_partition(0, platform::Access::read_only); }).code ==
          ErrorCode::topic_deleted);
    CHECK_FALSE(mark_dead(*handle, 1));
    CHECK(t.broker.list_topics() == std::vector<std::string>{"t"});
}

TEST_CASE("A dead topic that kept its name is no obstacle to list, create, ensure and sweep") {
    TestBroker t;
    const auto make_dead = [&](const char* name) {
        t.broker.create_topic(name, small());
        REQUIRE(mark_dead(*t.broker.impl()->open_topic(name), t.broker.impl()->client().word()));
        REQUIRE(fs::exists(topics_path(t.scratch.broker()) / name));
    };
    make_dead("a");
    make_dead("b");
    make_dead("c");
    CHECK(t.broker.list_topics().empty());
    CHECK(thrown_by([&] { return t.broker.describe_topic("a"); }).code == ErrorCode::not_found);
    CHECK(thrown_by([&] { t.broker.delete_topic("a"); }).code == ErrorCode::not_found);
    t.broker.create_topic("a", small());
    CHECK(t.broker.list_topics() == std::vector<std::string>{"a"});
    make_dead("d");
    t.broker.ensure_topic("d", small());
    make_dead("e");
    CHECK(t.broker.impl()->sweep_leftovers() == 1);
    CHECK(t.broker.impl()->sweep_leftovers() == 0);
    CHECK(t.broker.list_topics() == std::vector<std::string>{"a", "d"});
}

TEST_CASE("Whoever buries a dead topic never moves a live one of the same name") {
    TestBroker t;
    t.broker.create_topic("t", small());
    const fs::path grave = trash_path(t.scratch.broker()) / "x";
    CHECK(bury(t.scratch.broker(), "t", grave, std::chrono::milliseconds(0)));
    CHECK(t.broker.list_topics() == std::vector<std::string>{"t"});
    CHECK_FALSE(fs::exists(grave));
}

TEST_CASE("A process that is stopped while it moves a dead topic holds up its name for a bounded time only") {
    TestBroker t;
    t.broker.create_topic("t", small());
    platform::FileLock mover(topics_lock_path(t.scratch.broker()));
    REQUIRE(mover.try_lock(0));
    t.broker.delete_topic("t");  // done: the topic is dead
    CHECK(thrown_by([&] { return t.broker.describe_topic("t"); }).code == ErrorCode::not_found);
    CHECK(thrown_by([&] { return t.broker.create_topic("t", small()); }).code == ErrorCode::not_ready);
    CHECK(t.broker.impl()->sweep_leftovers() == 0);
    mover.unlock(0);
    t.broker.create_topic("t", small());
    CHECK(t.broker.list_topics() == std::vector<std::string>{"t"});
}

TEST_CASE("What is not a topic under a topic's name is reported, not touched") {
    TestBroker t;
    fs::create_directory(topics_path(t.scratch.broker()) / "mine");
    std::ofstream(topics_path(t.scratch.broker()) / "mine" / "data") << "precious";
    std::ofstream(topics_path(t.scratch.broker()) / "file") << "precious";
    for (const char* const name : {"mine", "file"}) {
        CHECK(thrown_by([&] { return t.broker.create_topic(name, small()); }).code == ErrorCode::mismatch);
        CHECK(thrown_by([&] { t.broker.delete_topic(name); }).code == ErrorCode::not_found);
    }
    t.broker.impl()->sweep_leftovers();
    CHECK(fs::exists(topics_path(t.scratch.broker()) / "mine" / "data"));
    CHECK(fs::exists(topics_path(t.scratch.broker()) / "file"));
    CHECK(t.broker.list_topics().empty());
}

TEST_CASE("A sweep leaves alone what belongs to a live maker or to nobody") {
    TestBroker t;
    Broker other(t.scratch.broker());
    const layout::ClientId maker = other.impl()->client();
    const std::string live = std::to_string(maker.slot) + "-" + std::to_string(maker.incarnation) + "-0";
    for (const std::string& name : {live, std::string("not-ours"), std::string("1-x-2"), std::string("5000-1-0")}) {
        fs::create_directory(staging_path(t.scratch.broker()) / name);
        fs::create_directory(trash_path(t.scratch.broker()) / name);
    }
    CHECK(t.broker.impl()->sweep_leftovers() == 0);
    CHECK(platform::names_in(staging_path(t.scratch.broker())).size() == 4);
    CHECK(platform::names_in(trash_path(t.scratch.broker())).size() == 4);
}

TEST_CASE("One broker object serves several threads") {
    TestBroker t;
    std::vector<std::thread> threads;
    std::atomic<int> failures{0};
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            try {
                const std::string own = "t" + std::to_string(thread);
                for (int i = 0; i < 20; ++i) {
                    t.broker.ensure_topic("shared", small());
                    t.broker.create_topic(own, small());
                    (void)t.broker.list_topics();
                    (void)t.broker.verify(own);
                    t.broker.delete_topic(own);
                }
            } catch (const std::exception&) {
                ++failures;
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(failures == 0);
    CHECK(t.broker.list_topics() == std::vector<std::string>{"shared"});
    CHECK(has_nothing(trash_path(t.scratch.broker())));
    CHECK(has_nothing(staging_path(t.scratch.broker())));
}

TEST_CASE("A sound topic verifies, and a dump outside its log names the range") {
    TestBroker t;
    TopicOptions options = small();
    options.partitions = 2;
    options.first_offset = 100;
    t.broker.create_topic("t", options);
    const VerifyReport report = t.broker.verify();
    CHECK(report.topics == 1);
    CHECK(report.partitions == 2);
    CHECK(report.damage.empty());
    CHECK_THAT(thrown_by([&] { return t.broker.dump("t", 1, 100); }).text, test::contains("[100, 100)"));
    CHECK(thrown_by([&] { return t.broker.dump("t", 2, 100); }).code == ErrorCode::not_found);
}
