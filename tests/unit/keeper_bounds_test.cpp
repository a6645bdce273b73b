// A keeper's step is bounded: what is large is done over several of them.
#include <filesystem>

#include "broker_impl.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"
#include "support/told.hpp"
#include "topic_files.hpp"
#include "topic_paths.hpp"
#include "topic_removal.hpp"

using namespace ringmain;
using namespace std::chrono_literals;
using test::ScratchDirectory;
using test::Told;

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMany = 200;
constexpr std::size_t kFilesPerStep = 64;

TopicOptions many_partitions() {
    TopicOptions options;
    options.partitions = kMany;
    options.records = 16;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    options.groups = 1;
    options.members = 1;
    return options;
}

std::size_t files_below(const fs::path& directory) {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory))
        count += entry.is_regular_file() ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("A topic of very many partitions is taken up over several steps, and told when all of it is looked after") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", many_partitions());
    const Told told;
    Keeper keeper(broker, told.listener());
    std::size_t before = 0;
    int step = 0;
    while (before < kMany && step < 100) {
        const KeeperReport report = keeper.do_work(std::chrono::milliseconds(++step));
        const std::size_t now = keeper.statistics().partitions;
        CHECK(now - before <= kFilesPerStep);
        CHECK(told.count(KeeperEventKind::topic_found) == (now == kMany ? 1 : 0));
        CHECK((now == kMany || report.unfinished != 0));
        before = now;
    }
    CHECK(step == 4);
    CHECK(told.only(KeeperEventKind::topic_found).count == kMany);
}

TEST_CASE("A deleted topic of very many files is swept over several steps") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", many_partitions());
    REQUIRE(mark_dead(*broker.impl()->open_topic("t"), broker.impl()->client().word()));
    const Told told;
    Keeper keeper(broker, told.listener());
    std::size_t before = files_below(topics_path(scratch.broker()));
    int step = 0;
    while (before != 0 && step < 100) {
        const KeeperReport report = keeper.do_work(std::chrono::milliseconds(++step));
        const std::size_t now = files_below(topics_path(scratch.broker())) + files_below(trash_path(scratch.broker()));
        CHECK(before - now <= kFilesPerStep);
        CHECK((now == 0 || report.unfinished != 0));
        before = now;
    }
    CHECK(before == 0);
    CHECK(step == 4);
    CHECK(told.count(KeeperEventKind::leftovers_swept) == 1);
}
