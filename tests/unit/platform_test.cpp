// The platform's vocabulary: mapping, locks, fork detection, sleeping, random identities.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "platform/barrier.hpp"
#include "platform/clock.hpp"
#include "platform/file_lock.hpp"
#include "platform/files.hpp"
#include "platform/fork_guard.hpp"
#include "platform/futex.hpp"
#include "platform/mapping.hpp"
#include "platform/process.hpp"
#include "platform/random.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace ringmain::platform;
using test::Child;
using test::ScratchDirectory;
using test::thrown_by;

namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

ErrorCode code_of_mapping(const std::filesystem::path& path, std::uint64_t bytes_min = 1) {
    return thrown_by([&] { return Mapping(path, Access::read_only, bytes_min); }).code.value();
}

}  // namespace

TEST_CASE("A mapping shows the file's bytes and writes through to it") {
    const ScratchDirectory scratch;
    write_file(scratch.path() / "f", "hello");
    const Mapping writer(scratch.path() / "f", Access::read_write, 5);
    const Mapping reader(scratch.path() / "f", Access::read_only, 5);
    REQUIRE(writer.size() == 5);
    writer.data()[0] = std::byte{'j'};
    CHECK(reader.data()[0] == std::byte{'j'});
    CHECK(writer.identity() == reader.identity());
}

TEST_CASE("A mapping refuses what is no file of enough bytes") {
    const ScratchDirectory scratch;
    write_file(scratch.path() / "empty", "");
    write_file(scratch.path() / "short", "123");
    REQUIRE(::mkfifo((scratch.path() / "fifo").c_str(), 0600) == 0);
    CHECK(code_of_mapping(scratch.path() / "absent") == ErrorCode::not_found);
    CHECK(code_of_mapping(scratch.path() / "empty") == ErrorCode::corrupt);
    CHECK(code_of_mapping(scratch.path() / "short", 4) == ErrorCode::corrupt);
    CHECK(code_of_mapping(scratch.path() / "fifo") == ErrorCode::corrupt);
    CHECK(code_of_mapping(scratch.path()) == ErrorCode::corrupt);
}

TEST_CASE("A moved-from mapping is empty") {
    const ScratchDirectory scratch;
    write_file(scratch.path() / "f", "hello");
    Mapping first(scratch.path() / "f", Access::read_only, 1);
    const Mapping second = std::move(first);
    CHECK(second.size() == 5);
    CHECK_FALSE(static_cast<bool>(first));  // NOLINT(bugprone-use-after-move): that is the question
}

TEST_CASE("A created file has all its pages, and the rights that the umask leaves") {
    const ScratchDirectory scratch;
    const ::mode_t before = ::umask(0027);
    {
        const Mapping file = create_file(scratch.path() / "f", 100'000);
        CHECK(file.size() == 100'000);
    }
    ::umask(before);
    struct stat status {};
    REQUIRE(::stat((scratch.path() / "f").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777U) == 0640);
    CHECK(status.st_blocks * 512 >= 100'000);
    CHECK(thrown_by([&] { return create_file(scratch.path() / "f", 1); }).code == ErrorCode::already_exists);
}

TEST_CASE("Renaming a directory replaces nothing") {
    const ScratchDirectory scratch;
    const auto at = [&](const char* name) { return scratch.path() / name; };
    platform::create_directory(at("a"));
    platform::create_directory(at("b"));
    CHECK(rename_directory(at("a"), at("b")) == RenameResult::target_exists);
    CHECK(rename_directory(at("a"), at("c")) == RenameResult::renamed);
    CHECK(rename_directory(at("a"), at("d")) == RenameResult::source_missing);
    CHECK(kind_of(at("c")) == PathKind::directory);
}

TEST_CASE("A lock on a byte excludes every other lock object, also of the same process") {
    const ScratchDirectory scratch;
    write_file(scratch.path() / "f", "");
    FileLock one(scratch.path() / "f");
    FileLock two(scratch.path() / "f");
    const FileLock probe(scratch.path() / "f", Access::read_only);
    REQUIRE(one.try_lock(7));
    CHECK_FALSE(two.try_lock(7));
    CHECK(two.try_lock(8));
    CHECK(probe.held_by_other(7));
    CHECK_FALSE(one.held_by_other(7));  // its own description never conflicts
    one.unlock(7);
    CHECK_FALSE(probe.held_by_other(7));
}

TEST_CASE("A lock ends with its process, and a child that inherited it does not keep it") {
    const ScratchDirectory scratch;
    write_file(scratch.path() / "f", "");
    const FileLock probe(scratch.path() / "f", Access::read_only);
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    Child holder([&] {
        FileLock lock(scratch.path() / "f");
        if (!lock.try_lock(1))
            return 1;
        const pid_t grandchild = ::fork();
        if (grandchild == 0) {
            const pid_t me = ::getpid();
            const bool refused = !lock.try_lock(2) && lock.held_by_other(1);
            (void)!::write(ready[1], &me, sizeof me);
            ::sleep(refused ? 2 : 0);
            ::_exit(0);
        }
        ::pause();
        return 0;
    });
    pid_t grandchild = 0;
    REQUIRE(::read(ready[0], &grandchild, sizeof grandchild) == static_cast<ssize_t>(sizeof grandchild));
    CHECK(probe.held_by_other(1));
    holder.kill();
    const bool held_after_death = probe.held_by_other(1);
    const bool grandchild_lived = ::kill(grandchild, SIGKILL) == 0;
    CHECK_FALSE(held_after_death);
    CHECK(grandchild_lived);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("A lock object that a child destroys closes none of the child's own files") {
    const ScratchDirectory scratch;
    write_file(scratch.path() / "f", "");
    auto lock = std::make_unique<FileLock>(scratch.path() / "f");
    Child child([&] {
        const int own = ::open((scratch.path() / "f").c_str(), O_RDONLY);  // gets the number that was closed
        lock.reset();
        return ::lseek(own, 0, SEEK_CUR) == 0 ? 0 : 1;
    });
    CHECK(child.wait() == 0);
}

TEST_CASE("A fork guard tells parent, child and grandchild apart") {
    const ForkGuard parents;
    CHECK_FALSE(parents.forked());
    Child child([&] {
        if (!parents.forked())
            return 1;
        const ForkGuard childs;
        if (childs.forked() || !parents.forked())
            return 2;
        Child grandchild([&] {
            if (!childs.forked() || !parents.forked())
                return 1;
            const ForkGuard own;
            return own.forked() || !childs.forked() || !parents.forked() ? 2 : 0;
        });
        return grandchild.wait() == 0 ? 0 : 3;
    });
    CHECK(child.wait() == 0);
    CHECK_FALSE(parents.forked());
}

TEST_CASE("A futex wait ends at once when a word differs already, and at the time-out otherwise") {
    std::atomic<std::uint32_t> word{5};
    std::atomic<std::uint32_t> other{6};
    const std::array<FutexWait, 2> differs = {{{&word, 5}, {&other, 7}}};
    futex_wait(differs, std::chrono::hours(1));
    const std::array<FutexWait, 2> same = {{{&word, 5}, {&other, 6}}};
    const auto before = std::chrono::steady_clock::now();
    futex_wait(same, std::chrono::milliseconds(20));
    futex_wait(std::span(same).first(1), std::chrono::milliseconds(20));
    CHECK(std::chrono::steady_clock::now() - before >= std::chrono::milliseconds(20));
    futex_wait({}, std::chrono::hours(1));
    futex_wait(same, std::chrono::nanoseconds(-1));
}

TEST_CASE("A futex wake reaches a waiter of one and of several words") {
    for (const std::size_t words : {std::size_t{1}, std::size_t{2}, kFutexWaitMax + 1}) {
        std::vector<std::atomic<std::uint32_t>> shared(words);
        std::atomic<bool> done{false};
        std::thread waiter([&] {
            std::vector<FutexWait> waits;
            for (auto& word : shared)
                waits.push_back({&word, 0});
            while (shared[0].load() == 0)
                futex_wait(waits, std::chrono::seconds(10));
            done.store(true);
        });
        shared[0].store(1);
        while (!done.load()) {
            futex_wake_all(shared[0]);
            std::this_thread::yield();
        }
        waiter.join();
        CHECK(done.load());
    }
}

TEST_CASE("The barrier works after registering, or says that it does not") {
    const bool registered = register_for_barriers();
    CHECK(register_for_barriers() == registered);
    CHECK((barrier_everywhere() || !registered));
}

TEST_CASE("The clocks agree with each other and never go back") {
    const std::int64_t before = monotonic_ns();
    CHECK(monotonic_ns() >= before);
    CHECK(std::abs(realtime_ns() - realtime_coarse_ns()) < 1'000'000'000);
}

TEST_CASE("Random identities do not repeat") {
    std::set<std::array<std::uint8_t, 16>> seen;
    for (int i = 0; i < 1000; ++i)
        seen.insert(random_id());
    CHECK(seen.size() == 1000);
}

TEST_CASE("A process knows its pid, namespace and start time") {
    const ProcessIdentity me = this_process();
    CHECK(me.pid == static_cast<std::uint32_t>(::getpid()));
    CHECK(me.pid_namespace != 0);
    CHECK(me.start_ticks != 0);
}

TEST_CASE("A process without standard streams gets none from anything that the library opens") {
    const ScratchDirectory scratch;
    Child child([&] {
        for (const int stream : {0, 1, 2})
            ::close(stream);
        const auto taken = [] {
            return ::fcntl(0, F_GETFD) >= 0 || ::fcntl(1, F_GETFD) >= 0 || ::fcntl(2, F_GETFD) >= 0;
        };
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        broker.create_topic("t", {.records = 64, .payload_bytes = 0, .producer_slots = 2});
        if (taken())
            return 1;
        Producer producer(broker, "t");
        producer.attach(0);
        if (taken())
            return 2;
        Consumer consumer(broker);
        consumer.assign("t");
        (void)consumer.descriptor();
        if (taken())
            return 3;
        const Keeper keeper(broker);
        return taken() ? 4 : 0;
    });
    CHECK(child.wait() == 0);
}
