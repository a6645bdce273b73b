// A keeper where memory is short: a tmpfs of 8 MiB, a file system that is full, descriptors that have run out.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "cases/open_ticket.hpp"
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
using test::Child;
using test::ScratchDirectory;
using test::Told;

namespace {

namespace fs = std::filesystem;

constexpr int kCannotMount = 77;

TopicOptions small() {
    TopicOptions options;
    options.records = 1024;
    options.producer_slots = 4;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    return options;
}

/// Exit code of `body`, run where `directory` is a tmpfs of that size, in a mount namespace of its own.
int on_tmpfs(const fs::path& directory, const char* size, const std::function<int()>& body) {
    Child child([&] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kCannotMount;
        const std::string options = std::string("mode=0755,size=") + size;
        if (::mount("tmpfs", directory.c_str(), "tmpfs", 0, options.c_str()) != 0) return kCannotMount;
        return body();
    });
    return child.wait(60s);
}

std::uint64_t free_bytes(const fs::path& path) { return platform::free_space(path).value_or(platform::FreeSpace{}).bytes; }

/// Not one byte is free afterwards.
void fill(const fs::path& file) {
    std::ofstream out(file, std::ios::binary);
    const std::vector<char> page(4096, 'x');
    while (out.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
    }
}

struct Kept {
    std::uint64_t reaped = 0;
    std::uint64_t closed = 0;
    std::uint64_t released = 0;
};

Kept keep(Keeper& keeper, std::chrono::seconds& now) {
    Kept kept;
    for (int i = 0; i < 30; ++i) {
        const KeeperReport report = keeper.do_work(now += 1s);
        kept.reaped += report.reaped_producers;
        kept.closed += report.closed_tickets;
        kept.released += report.released_cells;
    }
    return kept;
}

/// A producer with an open ticket, killed.
bool kill_a_producer(const fs::path& directory, std::uint64_t end) {
    const test::MappedLog mapped(directory, "t");
    Child child([&] { return test::take_tickets_and_stay(directory, "t", 1); });
    const bool attached = test::wait_for_end(mapped, end);
    child.kill();
    return attached;
}

}  // namespace

TEST_CASE("D02 A keeper on a tmpfs of 8 MiB that has filled up closes, reaps and releases as ever") {
    const ScratchDirectory scratch;
    const int code = on_tmpfs(scratch.path(), "8m", [&] {
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        broker.create_topic("t", small());
        const Told told;
        Keeper keeper(broker, told.listener());
        std::chrono::seconds now{0};
        (void)keep(keeper, now);
        if (!kill_a_producer(scratch.broker(), 1)) return 1;
        fill(scratch.path() / "filler");
        if (free_bytes(scratch.path()) != 0) return 2;
        const Kept kept = keep(keeper, now);
        if (kept.reaped != 1 || kept.closed != 1 || kept.released != 1) return 3;
        if (told.count(KeeperEventKind::producer_reaped) != 1 || told.count(KeeperEventKind::topic_unreadable) != 0) return 4;
        // deleting gives the space back, and the keeper lets go of its mapping
        broker.delete_topic("t");
        (void)keep(keeper, now);
        if (told.count(KeeperEventKind::topic_gone) != 1 || keeper.statistics().topics != 0) return 5;
        if (free_bytes(scratch.path()) == 0) return 6;
        broker.create_topic("t", small());
        (void)keep(keeper, now);
        return keeper.statistics().topics == 1 ? 0 : 7;
    });
    if (code == kCannotMount) SKIP("needs the right to mount");
    CHECK(code == 0);
}

TEST_CASE("D02 A keeper starts, and takes its lock again, on a file system without a free byte") {
    const ScratchDirectory scratch;
    const int code = on_tmpfs(scratch.path(), "8m", [&] {
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        broker.create_topic("t", small());
        fill(scratch.path() / "filler");
        const Told told;
        std::chrono::seconds now{0};
        Keeper keeper(broker, told.listener());
        (void)keep(keeper, now);
        if (keeper.statistics().topics != 1) return 1;
        if (!kill_a_producer(scratch.broker(), 1)) return 2;
        if (keep(keeper, now).reaped != 1) return 3;
        // its lock file goes, and there is no space for another: it says that it keeps no more, and goes on when there is
        fs::remove(keeper_lock_path(scratch.broker()));
        fill(scratch.path() / "filler2");
        (void)keep(keeper, now);
        if (told.count(KeeperEventKind::keeping_stopped) != 1 || keeper.statistics().keeping) return 4;
        if (told.only(KeeperEventKind::keeping_stopped).subject.find("space") == std::string::npos) return 5;
        fs::remove(scratch.path() / "filler");
        (void)keep(keeper, now);
        if (told.count(KeeperEventKind::keeping_resumed) != 1 || !keeper.statistics().keeping) return 6;
        return test::thrown_by([&] { Keeper second(broker); }).code == ErrorCode::busy ? 0 : 7;
    });
    if (code == kCannotMount) SKIP("needs the right to mount");
    CHECK(code == 0);
}

TEST_CASE("D02 A keeper without a free descriptor says which topic it cannot open, and takes it up later") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    const Told told;
    Keeper keeper(broker, told.listener());
    std::chrono::seconds now{0};
    (void)keep(keeper, now);
    broker.create_topic("t", small());
    rlimit limit{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
    const rlimit none{3, limit.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
    (void)keep(keeper, now);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    CHECK(keeper.statistics().topics == 0);
    (void)keep(keeper, now);
    CHECK(keeper.statistics().topics == 1);
    CHECK(told.count(KeeperEventKind::topic_found) == 1);
}
