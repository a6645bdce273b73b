// Memory that is too small: /dev/shm of a container, full file systems, sizes that wrap.
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "layout/work.hpp"
#include "platform/files.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/queue_admin.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "support/syscall_tracer.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using test::Child;
using test::ScratchDirectory;
using test::thrown_by;

namespace {

namespace fs = std::filesystem;

bool can_mount() {
    Child child([] {
        return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 ? 0 : 1;
    });
    return child.wait() == 0;
}

// Runs `body` where `directory` is a tmpfs of that size, in a mount namespace of its own; its text comes back.
std::string on_small_tmpfs(const fs::path& directory, const char* size, const std::function<std::string()>& body) {
    int answer[2];
    REQUIRE(::pipe(answer) == 0);
    Child child([&] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            return 1;
        const std::string options = std::string("mode=0755,size=") + size;
        if (::mount("tmpfs", directory.c_str(), "tmpfs", 0, options.c_str()) != 0)
            return 2;
        const std::string text = body();
        return ::write(answer[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 3;
    });
    const int code = child.wait();
    ::close(answer[1]);
    std::array<char, 4096> buffer{};
    const ssize_t bytes = ::read(answer[0], buffer.data(), buffer.size());
    ::close(answer[0]);
    INFO("exit code of the child (128 + signal if it was killed): " << code);
    CHECK(code == 0);
    return {buffer.data(), static_cast<std::size_t>(bytes < 0 ? 0 : bytes)};
}

std::string code_and_text(const test::Thrown& thrown) {
    return (thrown.code ? std::string(to_string(*thrown.code)) : "no error") + ": " + thrown.text;
}

// What is in the directories where topics are and are built.
std::string leftovers(const fs::path& broker) {
    return std::to_string(platform::names_in(topics_path(broker)).size()) + " topics, " +
           std::to_string(platform::names_in(staging_path(broker)).size()) + " staged";
}

std::string create_on_full_tmpfs(const fs::path& directory, std::uint64_t payload_bytes) {
    Broker broker(directory / "broker", Broker::Mode::open_or_create);
    TopicOptions options;
    options.cell_bytes = 64;
    options.payload_bytes = payload_bytes;
    const std::string answer = code_and_text(thrown_by([&] { return broker.create_topic("big", options); }));
    options.payload_bytes = 0;
    options.records = 1024;
    const bool small_fits = !thrown_by([&] { return broker.create_topic("small", options); }).code;
    return answer + "\n" + (small_fits ? "small fits" : "small fails") + "\n" + leftovers(directory / "broker");
}

}  // namespace

TEST_CASE("D01 A topic that does not fit a container's 64 MiB is refused with both sizes, and nothing is left") {
    if (!can_mount())
        SKIP("needs the right to mount");
    const ScratchDirectory scratch;
    const std::string answer =
        on_small_tmpfs(scratch.path(), "64m", [&] { return create_on_full_tmpfs(scratch.path(), 1 << 27); });
    CHECK_THAT(answer, test::contains("no_space: no space for topic 'big'"));
    CHECK_THAT(answer, test::contains(scratch.broker().string()));
    CHECK_THAT(answer, test::contains("bytes needed"));
    CHECK_THAT(answer, test::contains("66"));  // 64 MiB less what the broker itself takes: 66... bytes free
    CHECK_THAT(answer, test::contains("small fits\n1 topics, 0 staged"));
}

TEST_CASE("D01 A default topic fits a container's 64 MiB with room for two more") {
    if (!can_mount())
        SKIP("needs the right to mount");
    const ScratchDirectory scratch;
    const std::string answer = on_small_tmpfs(scratch.path(), "64m", [&] {
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        broker.create_topic("a");
        broker.create_topic("b");
        return leftovers(scratch.broker());
    });
    CHECK(answer == "2 topics, 0 staged");
}

TEST_CASE("D05 A queue for which a file system has no room is refused with both sizes, and neither files nor a group are left") {
    if (!can_mount())
        SKIP("needs the right to mount");
    const ScratchDirectory scratch;
    const std::string answer = on_small_tmpfs(scratch.path(), "16m", [&] {
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        TopicOptions options;
        options.payload_bytes = 0;
        options.groups = 1;
        broker.create_topic("t", options);
        QueueOptions queue;
        queue.exhausted = queue.expired = Exhausted::skip;
        QueueAdmin admin(broker);
        const auto create = [&] { return thrown_by([&] { admin.create("t", "q", queue); return 0; }); };
        const auto filler = platform::free_space(scratch.path());
        { (void)platform::create_file(scratch.path() / "filler", filler->bytes - 400'000); }
        std::string text = code_and_text(create());
        text += "\n" + std::to_string(platform::names_in(queues_path(topics_path(scratch.broker()) / "t")).size()) + " files, " +
                std::to_string(admin.list().size()) + " queues\n";
        fs::remove(scratch.path() / "filler");
        return text + code_and_text(create()) + std::to_string(broker.verify().damage.size()) + " damaged";
    });
    CHECK_THAT(answer, test::contains("no_space: no space for the work of the group in slot 0 of topic 't'"));
    CHECK_THAT(answer, test::contains(std::to_string(layout::kWorkersFileBytes + layout::work_file_bytes(65'536)) + " bytes needed, "));
    CHECK_THAT(answer, test::contains(" free\n0 files, 0 queues\nno error: 0 damaged"));
}

TEST_CASE("D02 Even the broker's own files are refused cleanly by a tmpfs of one page") {
    if (!can_mount())
        SKIP("needs the right to mount");
    const ScratchDirectory scratch;
    const std::string answer = on_small_tmpfs(scratch.path(), "4k", [&] {
        const auto open = [&] { return Broker(scratch.path() / "broker", Broker::Mode::open_or_create); };
        return code_and_text(thrown_by(open));
    });
    CHECK_THAT(answer, test::contains("no_space: "));
    CHECK_THAT(answer, test::contains("broker"));
}

TEST_CASE("D02 A file system that has bytes left and no inodes is refused with the inodes that are needed and free") {
    if (!can_mount())
        SKIP("needs the right to mount");
    const ScratchDirectory scratch;
    const std::string answer = on_small_tmpfs(scratch.path(), "64m,nr_inodes=20", [&] {
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        TopicOptions options;
        options.partitions = 20;
        options.records = 1024;
        options.payload_bytes = 0;
        const std::string text = code_and_text(thrown_by([&] { return broker.create_topic("wide", options); }));
        return text + "\n" + leftovers(scratch.broker());
    });
    CHECK_THAT(answer, test::contains("no_space: no space for topic 'wide'"));
    // 20 partitions, the topic's directory, topic.meta, readers, groups
    CHECK_THAT(answer, test::contains("24 inodes (files and directories) needed, "));
    CHECK_THAT(answer, test::contains(" free\n0 topics, 0 staged"));
}

TEST_CASE("D02 A broker that finds no inode for its own files says that") {
    if (!can_mount())
        SKIP("needs the right to mount");
    const ScratchDirectory scratch;
    const std::string answer = on_small_tmpfs(scratch.path(), "64m,nr_inodes=6", [&] {
        return code_and_text(thrown_by([&] { return Broker(scratch.broker(), Broker::Mode::open_or_create); }));
    });
    CHECK_THAT(answer, test::contains("no_space: "));
    CHECK_THAT(answer, test::contains("no inode left"));
}

TEST_CASE("D02 Space that goes away during a creation is an error, not a signal, and all of it comes back") {
    if (!can_mount())
        SKIP("needs the right to mount");
    const ScratchDirectory scratch;
    // Another process takes and gives back most of the space all the time, so that the look at the free bytes before
    // the creation is often wrong.
    const std::string answer = on_small_tmpfs(scratch.path(), "16m", [&] {
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        const std::uint64_t before = platform::free_space(scratch.path()).value_or(platform::FreeSpace{}).bytes;
        Child filler([&] {
            for (int i = 0; i < 2000; ++i) {
                try {
                    (void)platform::create_file(scratch.path() / "filler", 12 << 20);
                } catch (const Error&) {
                }
                ::unlink((scratch.path() / "filler").c_str());
            }
            return 0;
        });
        TopicOptions options;
        options.records = 1 << 15;
        options.cell_bytes = 64;
        options.payload_bytes = 1 << 20;
        options.partitions = 2;
        for (int i = 0; i < 60; ++i) {
            const test::Thrown thrown = thrown_by([&] { return broker.create_topic("t", options); });
            if (!thrown.code)
                broker.delete_topic("t");
            if (thrown.code && thrown.code != ErrorCode::no_space)
                return "unexpected: " + thrown.text;
        }
        filler.kill();
        ::unlink((scratch.path() / "filler").c_str());
        const std::uint64_t after = platform::free_space(scratch.path()).value_or(platform::FreeSpace{}).bytes;
        return leftovers(scratch.broker()) + (before == after ? ", all space back" : ", space lost");
    });
    CHECK(answer == "0 topics, 0 staged, all space back");
}

TEST_CASE("D02 Every file is allocated before it is mapped") {
    if (!test::can_trace())
        SKIP("needs the right to trace");
    const ScratchDirectory scratch;
    const std::vector<std::uint64_t> calls = test::system_calls_of([&] {
        TopicOptions options;
        options.records = 128;
        Broker(scratch.broker(), Broker::Mode::open_or_create).create_topic("t", options);
    });
    const auto count = [&](std::uint64_t call) { return std::count(calls.begin(), calls.end(), call); };
    CHECK(count(SYS_fallocate) >= 6);  // three files of the broker, three of the topic
    CHECK(count(SYS_ftruncate) == 0);
}

TEST_CASE("D03 The library installs no handler for SIGBUS") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t");
    struct sigaction action {};
    REQUIRE(::sigaction(SIGBUS, nullptr, &action) == 0);
    CHECK(action.sa_handler == SIG_DFL);  // the test framework handles other signals, but not this one
}

TEST_CASE("D08 Sizes that wrap or make no sense are refused with a clear text, and nothing is allocated") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t size :
         {kMax, std::uint64_t{1} << 63, kMax - 4095, (std::uint64_t{1} << 63) + 1, std::uint64_t{1}}) {
        TopicOptions records;
        records.records = size;
        TopicOptions payload;
        payload.payload_bytes = size;
        TopicOptions first;
        first.first_offset = size | std::uint64_t{1} << 62;
        for (const TopicOptions& options : {records, payload, first}) {
            const test::Thrown thrown = thrown_by([&] { return broker.create_topic("t", options); });
            CHECK(thrown.code == ErrorCode::invalid_argument);
            CHECK_THAT(thrown.text, test::contains("outside") || test::contains("neither 0 nor"));
        }
    }
    TopicOptions none;
    none.records = 0;
    CHECK(thrown_by([&] { return broker.create_topic("t", none); }).code == ErrorCode::invalid_argument);
    CHECK(leftovers(scratch.broker()) == "0 topics, 0 staged");
}

TEST_CASE("D08 The largest legal topic is refused by the file system, with a sum that did not wrap") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options;
    options.partitions = kPartitionsMax;
    options.records = kRecordsMax;
    options.cell_bytes = 256;
    options.payload_bytes = kPayloadMax;
    options.producer_slots = kProducerSlotsMax;
    const test::Thrown thrown = thrown_by([&] { return broker.create_topic("t", options); });
    CHECK(thrown.code == ErrorCode::no_space);
    CHECK_THAT(thrown.text, test::contains("140737"));  // 2^47 and a little
    CHECK(leftovers(scratch.broker()) == "0 topics, 0 staged");
}
