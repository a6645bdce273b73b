// The files of the work on a group's records: made whole, checked when they are opened, replaced by a reset, gone with the topic.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "platform/files.hpp"
#include "platform/rights.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/queue_place.hpp"
#include "topic_paths.hpp"
#include "work_creation.hpp"
#include "work_leftovers.hpp"
#include "work_settings.hpp"

using namespace ringmain;
using test::contains;
using test::QueuePlace;
using test::thrown_by;

namespace {

namespace fs = std::filesystem;

/// Topic t with the queue q.
struct Place : QueuePlace {
    Place() { admin->create("t", "q", plain()); }
    [[nodiscard]] WorkFiles open(platform::Access access = platform::Access::read_write) const { return open_queue(topic_files(), "q", access); }
    [[nodiscard]] std::shared_ptr<const TopicFiles> topic_files() const { return broker.impl()->open_topic("t"); }
    [[nodiscard]] fs::path work() const { return open().directory(); }
    [[nodiscard]] NewWork another(std::uint32_t slot = 7) const {
        WorkFiles files = open();
        return {{slot, 9}, files.settings(), 64, {3, 4}};
    }
};

template <class Value>
void write_at(const fs::path& path, std::uint64_t at, Value value) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file.write(reinterpret_cast<const char*>(&value), sizeof value);
}

constexpr std::uint64_t kSettings = layout::kWorkSettingsAt;
constexpr std::uint64_t kGeometry = layout::kWorkGeometryAt;

}  // namespace

TEST_CASE("A queue has a directory of its own, with a file of workers and one of words for each partition") {
    const Place place;
    REQUIRE(place.queue_directories().size() == 1);
    WorkFiles files = place.open();
    const auto generation = files.generation_now(0);
    CHECK(QueuePlace::names_in(files.directory()) ==
          std::vector<std::string>{"0." + std::to_string(generation), "1." + std::to_string(generation), "workers"});
    CHECK(fs::file_size(workers_path(files.directory())) == layout::kWorkersFileBytes);
    CHECK(fs::file_size(work_words_path(files.directory(), 0, generation)) == layout::work_file_bytes(64));
    CHECK(work_bytes(2, 64) == layout::kWorkersFileBytes + 2 * layout::work_file_bytes(64));
    CHECK(files.is_queue());
    CHECK(files.part(1).geometry.window == 64);
    CHECK(files.part(1).geometry.partition == 1);
    for (std::uint32_t slot = 0; slot < layout::kWorkersMax; ++slot) CHECK(files.workers()[slot].owner.load(std::memory_order_acquire) == 0);
}

TEST_CASE("Work that is there is not made again, and of what is given up nothing is left") {
    const Place place;
    const auto topic = place.topic_files();
    const auto before = place.queue_directories();
    CHECK(make_work(*topic, "0-1-77", place.another()) == WorkMade::made);
    CHECK(make_work(*topic, "0-1-78", place.another()) == WorkMade::exists);
    CHECK(place.queue_directories().size() == before.size() + 1);
    CHECK(remove_work(*topic, {7, 9}));
    CHECK(remove_work(*topic, {7, 9}));  // gone is gone
    CHECK(place.queue_directories() == before);
}

TEST_CASE("D05 A queue for which there is no room is an error that says how much is needed, and leaves nothing") {
    const Place place;
    const auto topic = place.topic_files();
    const auto before = place.queue_directories();
    NewWork work = place.another();
    work.window = std::uint64_t{1} << 46;
    const auto thrown = thrown_by([&] { return make_work(*topic, "0-1-77", work); });
    CHECK(thrown.code == ErrorCode::no_space);
    CHECK_THAT(thrown.text, contains("bytes needed, ") && contains(" free") && contains("topic 't'"));
    CHECK(place.queue_directories() == before);
    layout::WorkGeometry large = place.open().part(0).geometry;
    large.window = work.window;
    const auto words = thrown_by([&] { make_words(*topic, "0-1-77", large, 5); return 0; });
    CHECK(words.code == ErrorCode::no_space);
    CHECK(place.queue_directories() == before);
}

TEST_CASE("A directory of that name which a deleted topic left is nobody's, and is replaced") {
    Place place;
    place.broker.create_topic("u", QueuePlace::small());
    const auto other = place.broker.impl()->open_topic("u");
    REQUIRE(make_work(*other, "0-1-1", place.another()) == WorkMade::made);
    fs::rename(work_path(other->directory(), 7, 9), work_path(place.directory(), 7, 9));
    const auto topic = place.topic_files();
    CHECK(make_work(*topic, "0-1-2", place.another()) == WorkMade::made);
    CHECK(make_work(*topic, "0-1-3", place.another()) == WorkMade::exists);
}

TEST_CASE("Files of a queue that are missing, truncated, of another layout, topic, group or kind are refused with what is wrong") {
    const Place place;
    const fs::path workers = workers_path(place.work());
    const fs::path words = work_words_path(place.work(), 0, place.open().generation_now(0));
    const auto refused = [&] {
        return thrown_by([&] {
            WorkFiles files = place.open();
            for (std::uint32_t partition = 0; partition < 2; ++partition) (void)files.part(partition);
            return 0;
        });
    };
    const auto check = [&](const fs::path& path, const std::string& what, ErrorCode code = ErrorCode::corrupt) {
        const auto thrown = refused();
        CHECK(thrown.code == code);
        CHECK(thrown.object == path.string());
        CHECK_THAT(thrown.text, contains(what) && contains(path.string()));
        const VerifyReport report = place.broker.verify("t");
        REQUIRE(report.damage.size() == 1);
        CHECK(report.damage[0].file == path.string());
    };
    CHECK_FALSE(refused().code);
    SECTION("missing") { fs::remove(workers), check(workers, "is missing"); }
    SECTION("words missing") { fs::remove(words), check(words, "is missing"); }
    SECTION("short") { fs::resize_file(workers, layout::kWorkersFileBytes - 1), check(workers, "bytes"); }
    SECTION("words short") { fs::resize_file(words, layout::kWorkWordsAt + 8), check(words, "bytes"); }
    SECTION("empty") { fs::resize_file(words, 0), check(words, ""); }
    SECTION("long") { fs::resize_file(words, fs::file_size(words) + 4096), check(words, "should have"); }
    SECTION("kind of file") { fs::copy_file(workers, words, fs::copy_options::overwrite_existing), check(words, "kind"); }
    SECTION("not ready") { write_at<std::uint32_t>(workers, offsetof(layout::FileHeader, ready), 0), check(workers, "not complete", ErrorCode::not_ready); }
    SECTION("version") { write_at<std::uint32_t>(words, offsetof(layout::FileHeader, layout_version), 4), check(words, "layout version 4", ErrorCode::version_mismatch); }
    SECTION("topic") { write_at<std::uint32_t>(words, offsetof(layout::FileHeader, topic_id), 1), check(words, "belongs to topic id"); }
    SECTION("group of workers") { write_at<std::uint64_t>(workers, kSettings + offsetof(layout::WorkSettings, group_born), 99), check(workers, "born at 99"); }
    SECTION("group of words") { write_at<std::uint32_t>(words, kGeometry + offsetof(layout::WorkGeometry, group_slot), 2), check(words, "in slot 2"); }
    SECTION("partition") { write_at<std::uint32_t>(words, kGeometry + offsetof(layout::WorkGeometry, partition), 1), check(words, "is of partition 1"); }
    SECTION("generation") { write_at<std::uint32_t>(words, kGeometry + offsetof(layout::WorkGeometry, generation), 8), check(words, "generation 8"); }
    SECTION("window 0") { write_at<std::uint64_t>(words, kGeometry + offsetof(layout::WorkGeometry, window), 0), check(words, "window of 0"); }
    SECTION("window 63") { write_at<std::uint64_t>(words, kGeometry + offsetof(layout::WorkGeometry, window), 63), check(words, "window of 63"); }
    SECTION("window 128") { write_at<std::uint64_t>(words, kGeometry + offsetof(layout::WorkGeometry, window), 128), check(words, "no power of two up to 64"); }
    SECTION("window 2^63") { write_at<std::uint64_t>(words, kGeometry + offsetof(layout::WorkGeometry, window), std::uint64_t{1} << 63), check(words, "window of"); }
    SECTION("settings") { write_at<std::uint64_t>(workers, kSettings + offsetof(layout::WorkSettings, lock_ms), 1), check(workers, "lock_ms 1 is outside"); }
    SECTION("kind of group") { write_at<std::uint32_t>(workers, kSettings + offsetof(layout::WorkSettings, kind), 2), check(workers, "is that of a stream group, and the group is a queue"); }
}

TEST_CASE("Verify finds words of a queue that nobody would write, and nothing in sound ones") {
    Place place;
    place.topic->publish(0, 10);
    test::TestWorker worker(place.broker, "t", "q");
    const auto locks = worker.acquire(4);
    REQUIRE(locks.size() == 4);
    CHECK(worker.ack(locks[1]) == work_table::Answer::done);
    CHECK(worker.nack(locks[2]) == work_table::Answer::done);
    CHECK(place.broker.verify("t").damage.empty());
    const auto memory = worker.work(0);
    const auto found = [&] {
        const VerifyReport report = place.broker.verify("t");
        REQUIRE(report.damage.size() == 1);
        return report.damage[0].what;
    };
    SECTION("finished elsewhere") {
        memory.word(1).store(work_table::done_word(2, work_table::DoneReason::acked), std::memory_order_release);
        CHECK_THAT(found(), contains("word 1 of partition 0 is finished for an offset that has another word"));
    }
    SECTION("bits") {
        memory.word(2).fetch_or(1 << 13, std::memory_order_acq_rel);
        CHECK_THAT(found(), contains("word 2 of partition 0 is available with bits that mean nothing"));
    }
    SECTION("count") {
        memory.word(3).store(work_table::locked_word(0, 0, 0, 0, 0), std::memory_order_release);
        CHECK_THAT(found(), contains("never delivered"));
    }
    SECTION("frontier") {
        memory.control().frontier.store(11, std::memory_order_release);
        CHECK_THAT(found(), contains("handed out up to 11, beyond the log end 10"));
    }
}

TEST_CASE("A reset's file is opened in the place of the old one, and a queue that is gone is said to be gone") {
    Place place;
    WorkFiles files = place.open();
    const std::uint32_t before = files.part(0).geometry.generation;
    place.admin->execute(place.admin->plan("t", "q", ResetTarget::latest()));
    CHECK(files.part(0).geometry.generation == before);
    CHECK(files.generation_now(0) == before + 1);
    CHECK(files.reopen(0).geometry.generation == before + 1);
    place.admin->remove("t", "q");
    CHECK(files.gone());
    const auto gone = thrown_by([&] { return &files.reopen(0); });
    CHECK(gone.code == ErrorCode::not_found);
    CHECK_THAT(gone.text, contains("'q' of topic 't' was deleted"));
    place.broker.delete_topic("t");
    CHECK(thrown_by([&] { return &files.reopen(0); }).code == ErrorCode::topic_deleted);
    CHECK_FALSE(fs::exists(place.directory()));
    CHECK(fs::is_empty(trash_path(place.scratch.broker())));
}

TEST_CASE("Files of a queue have the rights of the topic's other files, and a change of access reaches them") {
    QueuePlace place;
    place.broker.set_access("t", {.owner = {}, .group = {}, .mode = 0640});
    place.admin->create("t", "q", QueuePlace::plain());
    const auto check = [&](std::uint32_t file_mode, std::uint32_t directory_mode) {
        const fs::path queues = queues_path(place.directory());
        CHECK(platform::rights_of(queues).mode == directory_mode);
        for (const auto& entry : fs::recursive_directory_iterator(queues)) {
            CAPTURE(entry.path());
            CHECK(platform::rights_of(entry.path()).mode == (entry.is_directory() ? directory_mode : file_mode));
        }
    };
    check(0640, 0750);
    place.admin->execute(place.admin->plan("t", "q", ResetTarget::latest()));
    check(0640, 0750);
    place.broker.set_access("t", {.owner = {}, .group = {}, .mode = 0666});
    check(0666, 0777);
    place.broker.set_access("t", {.owner = {}, .group = {}, .mode = 0600});
    check(0600, 0700);
}

TEST_CASE("Who may write a topic makes queues of it that its owner may use, and who may only read makes none") {
    if (::geteuid() != 0) SKIP("needs another user's rights");
    constexpr unsigned kUser = 4311;
    const auto as_user = [](const auto& body) {
        return test::Child([&] { return ::setgid(kUser) != 0 || ::setuid(kUser) != 0 ? 2 : body(); }).wait();
    };
    QueuePlace place;
    const auto create = [&] {
        return thrown_by([&] { QueueAdmin(Broker(place.scratch.broker())).create("t", "q", QueuePlace::plain()); return 0; }).code;
    };
    CHECK(as_user([&] { return create() == ErrorCode::permission_denied ? 0 : 1; }) == 0);
    CHECK(place.queue_directories().empty());
    fs::permissions(clients_path(place.scratch.broker()), fs::perms(0666));
    place.broker.set_access("t", {.owner = {}, .group = {}, .mode = 0666});
    CHECK(as_user([&] { return create() ? 1 : 0; }) == 0);
    CHECK(platform::rights_of(place.work_of("q") / "workers").mode == 0666U);
    CHECK(platform::rights_of(place.work_of("q") / "workers").owner == kUser);
    test::TestWorker worker(place.broker, "t", "q");  // root; anybody, by the mode
    place.admin->remove("t", "q", true);
    CHECK(place.queue_directories().empty());
}

TEST_CASE("A link in the place of a topic's queues, or of one of them, leads nobody to another's files") {
    QueuePlace place;
    const fs::path theirs = place.scratch.path() / "theirs";
    fs::create_directories(theirs / "0-2");
    std::ofstream(theirs / "0-2" / "0.7") << "precious";
    std::ofstream(theirs / "note") << "precious";
    const auto untouched = [&] { return fs::exists(theirs / "0-2" / "0.7") && fs::exists(theirs / "note") && QueuePlace::names_in(theirs).size() == 2; };
    const fs::path queues = queues_path(place.directory());
    fs::create_directory_symlink(theirs, queues);
    const auto refused = thrown_by([&] { place.admin->create("t", "q", QueuePlace::plain()); return 0; });
    CHECK(refused.code == ErrorCode::corrupt);
    CHECK_THAT(refused.text, contains("'" + queues.string() + "' is no directory"));
    CHECK(sweep_work_leftovers(place.topic->files(), place.broker.impl()->clients()) == 0);
    CHECK_FALSE(remove_work(place.topic->files(), {0, 2}));
    CHECK(untouched());
    fs::remove(queues);
    place.admin->create("t", "q", QueuePlace::plain());
    const fs::path work = place.work_of("q");
    fs::rename(work, place.scratch.path() / "moved");
    fs::create_directory_symlink(theirs / "0-2", work);
    CHECK(sweep_work_leftovers(place.topic->files(), place.broker.impl()->clients()) == 0);
    CHECK(thrown_by([&] { make_words(place.topic->files(), "0-1-1", {2, 0, 0, 64, 1, 0}, 7); return 0; }).code.has_value());
    CHECK_FALSE(remove_words(place.topic->files(), {0, 2}, 0, 7));
    place.broker.set_access("t", {.owner = {}, .group = {}, .mode = 0600});
    place.admin->remove("t", "q", true);
    CHECK_FALSE(fs::exists(fs::symlink_status(work)));
    CHECK(untouched());
    place.broker.delete_topic("t");
    CHECK(untouched());
}
