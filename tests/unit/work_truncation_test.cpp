// Queues, groups with retries, and dead letters whose files are truncated under them: nothing is decided from what is no
// file any more, and all goes on when it is whole again.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "group_table/creation.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "support/truncation.hpp"
#include "topic_files.hpp"
#include "topic_paths.hpp"
#include "work_files.hpp"
#include "work_table/work_memory.hpp"

using namespace ringmain;
using test::CutFile;
using test::guarded;
using test::thrown_by;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

/// A topic, and a dead-letter topic that nobody in this process has mapped when a test begins.
struct Place {
    test::ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};

    explicit Place(std::uint32_t partitions = 1) {
        TopicOptions options;
        options.partitions = partitions;
        options.records = 64;
        options.producer_slots = 2;
        options.payload_bytes = 0;
        broker.create_topic("t", options);
    }
    [[nodiscard]] fs::path file(const std::string& topic, const std::string& name) const {
        return topics_path(scratch.broker()) / topic / name;
    }
    [[nodiscard]] CutFile cut_file(const fs::path& file) const { return {file, scratch.path() / "kept"}; }

    void publish(std::uint32_t count, std::uint32_t partition = 0) const {
        Producer producer(broker, "t");
        for (std::uint32_t i = 0; i < count; ++i)
            REQUIRE(producer.publish({.value = as_bytes("v"), .partition = partition}).status == Status::ok);
    }
    /// Uses the word of an offset of partition 0 of group g.
    template <class Use>
    static auto with_word(const fs::path& broker, std::uint64_t offset, const Use& use) {
        const auto topic = std::make_shared<const TopicFiles>(topics_path(broker) / "t", "t");
        const auto found = group_table::GroupCreation<platform::HostMemory>(topic->groups(), 0).find("g");
        WorkFiles files(topic, found.group, "g", platform::Access::read_write);
        const WorkFiles::Part& part = files.part(0);
        const work_table::WorkMemory<platform::HostMemory> work(part.base, part.geometry, topic->groups(), {});
        return use(work.word(offset));
    }
    [[nodiscard]] std::uint64_t word(std::uint64_t offset) const {
        return with_word(scratch.broker(), offset, [](const auto& word) { return word.load(); });
    }
    void set_word(std::uint64_t offset, std::uint64_t to) const {
        with_word(scratch.broker(), offset, [to](auto& word) { word.store(to); });
    }
};

const std::uint64_t kAnnounced = work_table::intent_word(work_table::LetterReason::rejected, 1, 0, 0);
const std::uint64_t kDead = work_table::done_word(1, work_table::DoneReason::dead);

RetryOptions retries() {
    RetryOptions retry;
    retry.order = RetryOrder::none;
    retry.attempts = kRetryAttemptsMax;
    retry.backoff = {.first = 200ms, .max = 200ms, .factor = 1.0, .jitter = 0.0};
    return retry;
}
Handled handle(const ConsumerRecord& record) {
    return record.offset == 0 ? Handled::failure("not yet") : Handled::rejected("never");
}

/// Record 0 is not finished, the letter of record 1 is at offset 0, and who wrote it died before saying so.
void announce(const Place& place, bool queue) {
    place.publish(2);
    if (queue) {
        QueueAdmin(place.broker).create("t", "g");
        QueueWorker worker(place.broker, "t", "g");
        const AcquireResult got = worker.acquire(2);
        REQUIRE(got.records.size() == 2);
        REQUIRE(worker.reject(got.records[1].lock).settled == Settled::done);
    } else {
        RetryRunner runner(place.broker, "t", {.name = "g"}, retries());
        std::uint64_t dead = 0;
        for (int i = 0; i < 100 && dead == 0; ++i)
            dead += runner.run_once(handle, 10ms).counts.dead_lettered;
        REQUIRE(dead == 1);
    }
    REQUIRE(place.word(1) == kDead);
    place.set_word(1, kAnnounced);
}

std::size_t letters_about(const Broker& broker, std::uint64_t offset) {
    std::size_t count = 0;
    DeadLetters(broker).read("t.dlq", {}, [&](const ConsumerRecord&, const DecodedLetter& decoded) {
        count += decoded.letter && decoded.letter->offset == offset ? 1 : 0;
        return true;
    });
    return count;
}

/// One step of whoever works, which holds nothing afterwards.
class Works {
public:
    Works(const Broker& broker, bool queue) {
        if (queue)
            worker_.emplace(broker, "t", "g");
        else
            runner_.emplace(broker, "t", GroupOptions{.name = "g"}, retries());
    }
    void step() {
        if (runner_) {
            (void)runner_->run_once(handle, 20ms);
            return;
        }
        const AcquireResult got = worker_->acquire(4, 20ms);
        for (const QueueRecord& one : got.records)
            (void)worker_->release(one.lock);
        std::this_thread::sleep_for(5ms);  // record 0 is there at once, each time
    }

private:
    std::optional<QueueWorker> worker_;
    std::optional<RetryRunner> runner_;
};

}  // namespace

TEST_CASE("A letter that was announced is decided by nobody while its log is truncated, and is there once afterwards") {
    const bool queue = GENERATE(true, false);
    for (const int cut : {0, 1, 2, 3, 4}) {
        INFO((queue ? "a queue" : "a group with retries") << ", cut in way " << cut);
        const Place place;
        announce(place, queue);
        const fs::path log = place.file("t.dlq", "0.log");
        CHECK(guarded([&] {
                  const Broker broker(place.scratch.broker());
                  Works works(broker, queue);
                  const CutFile file = place.cut_file(log);
                  file.cut(test::sizes_to_cut(log).at(cut));
                  for (int i = 0; i < 20; ++i) {
                      works.step();
                      if (place.word(1) != kAnnounced)
                          return 1;
                  }
                  file.mend();
                  for (int i = 0; i < 1'000 && place.word(1) != kDead; ++i)
                      works.step();
                  return place.word(1) == kDead && letters_about(broker, 1) == 1 ? 0 : 2;
              }) == 0);
    }
}

TEST_CASE("A queue is not reset while the log of an announced letter is no file any more") {
    const Place place;
    announce(place, true);
    QueueAdmin admin(place.broker);
    const ResetPlan plan = admin.plan("t", "g", ResetTarget::earliest());
    const fs::path log = place.file("t.dlq", "0.log");
    fs::rename(log, place.scratch.path() / "kept");
    CHECK(thrown_by([&] { (void)admin.execute(plan, true); }).code == ErrorCode::corrupt);
    CHECK(place.word(1) == kAnnounced);
    fs::rename(place.scratch.path() / "kept", log);
    (void)admin.execute(plan, true);
    CHECK(DeadLetters(place.broker).count("t.dlq") == 1);
}

TEST_CASE("Each letter is replayed once, whichever file is truncated in the middle of a replay") {
    const bool origin = GENERATE(false, true);
    const std::string name = GENERATE("0.log", "letters");
    const int cut = GENERATE(0, 1, 2);
    if (name == "letters" && (origin || cut == 2))
        return;  // of the letters' file half is as good as nothing
    const Place place;
    place.publish(3);
    {
        QueueAdmin(place.broker).create("t", "g");
        QueueWorker worker(place.broker, "t", "g");
        for (const QueueRecord& one : worker.acquire(3).records)
            REQUIRE(worker.reject(one.lock).settled == Settled::done);
    }
    const fs::path path = place.file(origin ? "t" : "t.dlq", name);
    INFO(path << " cut in way " << cut);
    const CutFile file = place.cut_file(path);
    CHECK(guarded([&] {
              DeadLetters letters(Broker(place.scratch.broker()));
              int asked = 0;
              ReplayOptions options;
              options.timeout = 1ms;
              options.stop = [&] {
                  if (++asked == 2)
                      file.cut(test::sizes_to_cut(path).at(cut));
                  return false;
              };
              const test::Thrown why = thrown_by([&] { (void)letters.replay("t.dlq", {}, options); });
              return asked >= 2 && (why.text.empty() || why.code == ErrorCode::corrupt) ? 0 : 1;
          }) == 0);
    file.mend();
    DeadLetters letters(place.broker);
    (void)letters.replay("t.dlq", {});
    CHECK(letters.count("t.dlq") == 0);
    Consumer consumer(place.broker);
    consumer.assign("t");
    const PollResult result = consumer.poll(100);
    CHECK(result.records.size() == 6);
    for (const ConsumerRecord& record : result.records)
        CHECK(text_or(record.value, "") == "v");
}

TEST_CASE("A worker tells a damaged partition once, waits for the others, and takes it back when it is sound again") {
    const std::string name = GENERATE("0.log", "words");
    for (const int cut : {0, 1}) {
        INFO(name << " cut in way " << cut);
        const Place place(2);
        place.publish(2, 0);
        place.publish(2, 1);
        QueueAdmin(place.broker).create("t", "g");
        CHECK(guarded([&] {
                  const Broker broker(place.scratch.broker());
                  QueueWorker worker(broker, "t", "g");
                  fs::path path = place.file("t", name);
                  if (name == "words") {
                      for (const auto& one : fs::recursive_directory_iterator(place.file("t", "queues"))) {
                          if (one.is_regular_file() && one.path().filename().string().starts_with("0"))
                              path = one.path();
                      }
                  }
                  const CutFile file = place.cut_file(path);
                  file.cut(test::sizes_to_cut(path).at(cut));
                  std::size_t failures = 0;
                  std::size_t sound = 0;
                  for (int i = 0; i < 10; ++i) {
                      const AcquireResult got = worker.acquire(4);
                      for (const QueueRecord& one : got.records)
                          sound += one.record.partition;
                      failures += got.failures.size();
                      (void)worker.ack(got.records);
                  }
                  if (failures != 1 || sound != 2)
                      return 1;
                  std::thread later([&] {
                      std::this_thread::sleep_for(300ms);
                      Producer producer(broker, "t");
                      (void)producer.publish({.value = as_bytes("v"), .partition = 1});
                  });
                  const AcquireResult waited = worker.acquire(4, 20s);
                  later.join();
                  if (waited.records.size() != 1 || !waited.failures.empty() || waited.status != Status::ok)
                      return 2;
                  (void)worker.ack(waited.records);
                  file.mend();
                  std::size_t again = 0;
                  for (int i = 0; i < 200 && again != 2; ++i) {
                      const AcquireResult got = worker.acquire(4, 100ms);
                      again += got.records.size();
                      if (worker.ack(got.records) != got.records.size())
                          return 3;
                  }
                  return again == 2 ? 0 : 4;
              }) == 0);
    }
}

TEST_CASE("A keeper sweeps no queue of a topic whose groups file is none any more") {
    const bool extended = GENERATE(false, true);
    const std::uintmax_t size = GENERATE(0, 4096);
    INFO("truncated to " << size << (extended ? ", and extended again" : ""));
    const Place place;
    QueueAdmin(place.broker).create("t", "g");
    const fs::path groups = place.file("t", "groups");
    CHECK(guarded([&] {
              Keeper keeper(Broker(place.scratch.broker()));
              int now = 0;
              const auto work = [&] {
                  for (int i = 0; i < 40; ++i)
                      (void)keeper.do_work(std::chrono::milliseconds(++now * 50));
              };
              work();
              const CutFile file = place.cut_file(groups);
              const std::uintmax_t whole = fs::file_size(groups);
              file.cut(size);
              if (extended)
                  fs::resize_file(groups, whole);
              work();
              file.mend();
              work();
              const QueueDescription queue = QueueAdmin(Broker(place.scratch.broker())).describe("t", "g");
              return queue.partitions.size() == 1 ? 0 : 1;
          }) == 0);
}
