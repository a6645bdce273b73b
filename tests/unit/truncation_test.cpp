// Files that are truncated under those who have them mapped: with the guard a process lives, says so, and believes
// nothing.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "platform/mapping.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "support/told.hpp"
#include "support/truncation.hpp"
#include "topic_files.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using test::Child;
using test::guarded;
using test::ScratchDirectory;
using test::sizes_to_cut;
using test::thrown_by;
using namespace std::chrono_literals;

#if defined(__SANITIZE_ADDRESS__)
// These tests are about the signal itself; that tool would answer it with a report and an exit code of its own.
extern "C" const char* __asan_default_options() { return "handle_sigbus=0"; }
#endif

namespace {

namespace fs = std::filesystem;

constexpr int kDiedOfSigbus = 128 + SIGBUS;

/// A topic of two partitions, with room for records that do not fit a cell.
struct Place {
    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
    fs::path topic = topics_path(scratch.broker()) / "t";

    Place() {
        TopicOptions options;
        options.partitions = 2;
        options.records = 1024;
        options.producer_slots = 2;
        options.cell_bytes = 64;
        options.payload_bytes = kPayloadMin;
        broker.create_topic("t", options);
    }
    [[nodiscard]] fs::path log(int partition) const { return topic / (std::to_string(partition) + ".log"); }
};

/// Publishes until an answer is not ok, at most twice around the ring; that answer.
template <class Publish>
Status publish_around(const Publish& publish) {
    for (int i = 0; i < 2'100; ++i) {
        if (const Status status = publish(); status != Status::ok)
            return status;
    }
    return Status::ok;
}

}  // namespace

TEST_CASE("Without the guard a producer dies of SIGBUS in a truncated file, with it it lives and publishes elsewhere") {
    const Place place;
    const bool guard = GENERATE(false, true);
    Child child([&] {
        if (guard)
            survive_truncation();
        Producer producer(Broker(place.scratch.broker()), "t");
        const auto publish = [&](std::uint32_t partition) {
            return producer.publish({.value = as_bytes("x"), .partition = partition}).status;
        };
        if (publish(0) != Status::ok || publish(1) != Status::ok)
            return 1;
        fs::resize_file(place.log(0), 0);
        if (publish(0) != Status::corrupt)
            return 2;
        return publish(1) == Status::ok ? 0 : 3;
    });
    CHECK(child.wait() == (guard ? 0 : kDiedOfSigbus));
}

TEST_CASE("A producer says of no record that it was published once it has met a page that is gone") {
    const auto how = GENERATE(0, 1, 2, 3, 4, 5);
    const Place place;
    for (const std::uintmax_t size : sizes_to_cut(place.log(0))) {
        INFO("publishing in way " << how << ", truncated to " << size);
        const bool small = how == 0 || how == 3;
        const bool untouched =
            small && size == fs::file_size(place.log(0)) - 4096;  // no such record is in payload memory
        const Place fresh;
        CHECK(guarded([&] {
                  const std::string large(2'000, 'x');
                  const Bytes value = small ? as_bytes("x") : as_bytes(large);
                  Producer producer(Broker(fresh.scratch.broker()), "t",
                                    {.exclusive = how == 3 || how == 4, .name = how == 5 ? "n" : ""});
                  std::uint64_t sequence = 0;
                  const auto publish = [&] {
                      ProducerRecord record{.value = value, .partition = 0};
                      if (how == 5)
                          record.sequence = ++sequence;
                      if (how == 2) {
                          const std::vector<ProducerRecord> batch(4, record);
                          const BatchResult result = producer.publish_batch(batch);
                          return result.status == Status::ok && result.published != 4 ? Status::misuse : result.status;
                      }
                      return producer.publish(record).status;
                  };
                  if (publish() != Status::ok)
                      return 1;
                  fs::resize_file(fresh.log(0), size);
                  if (publish_around(publish) != (untouched ? Status::ok : Status::corrupt))
                      return 2;
                  if (untouched)
                      return 0;
                  for (int i = 0; i < 100; ++i) {
                      if (publish() != Status::corrupt)
                          return 3;
                  }
                  const test::Thrown why = thrown_by([&] { producer.attach(0); });
                  return why.code == ErrorCode::corrupt && why.text.find(fresh.log(0).string()) != std::string::npos
                             ? 0
                             : 4;
              }) == 0);
    }
}

TEST_CASE("A loan of a partition that is truncated meanwhile is not published") {
    const Place place;
    CHECK(guarded([&] {
              Producer producer(Broker(place.scratch.broker()), "t");
              Loan loan = producer.loan(2'000, {.partition = 0});
              if (loan.status() != Status::ok)
                  return 1;
              fs::resize_file(place.log(0), 0);
              loan.value()[0] = std::byte{1};
              return producer.publish(loan).status == Status::corrupt ? 0 : 2;
          }) == 0);
}

TEST_CASE(
    "A consumer delivers no record whose bytes are gone, says once which partition is damaged, and reads the others "
    "on") {
    const Place place;
    for (const std::uintmax_t size : sizes_to_cut(place.log(0))) {
        INFO("truncated to " << size);
        const Place fresh;
        CHECK(guarded([&] {
                  Broker broker(fresh.scratch.broker());
                  const std::string text(1'500, 'v');
                  {
                      Producer producer(broker, "t");
                      for (std::uint32_t i = 0; i < 80; ++i) {
                          const bool small = i % 4 != 0;
                          if (producer.publish({.value = small ? as_bytes("vv") : as_bytes(text), .partition = i % 2})
                                  .status != Status::ok)
                              return 1;
                      }
                  }
                  Consumer consumer(broker);
                  consumer.assign("t");
                  if (consumer.poll(4).status != Status::ok)
                      return 2;
                  fs::resize_file(fresh.log(0), size);
                  std::size_t failures = 0;
                  std::size_t sound = 0;
                  for (int polls = 0; polls < 200; ++polls) {
                      const PollResult result = consumer.poll(8);
                      for (const ConsumerRecord& record : result.records) {
                          if (text_or(record.value, "").find_first_not_of('v') != std::string::npos)
                              return 3;
                          sound += record.partition == 1 ? 1 : 0;
                      }
                      for (const Gap& gap : result.gaps) {
                          if (gap.partition != 0)
                              return 4;
                      }
                      for (const PartitionFailure& failure : result.failures) {
                          if (failure.partition != 0 || failure.topic != "t" || failure.status != Status::corrupt)
                              return 5;
                          ++failures;
                      }
                  }
                  if (sound < 38)
                      return 6;  // two or so were in the first poll
                  // a page behind everything that is read is not missed
                  return failures == 1 || (failures == 0 && size > 64 * 1024) ? 0 : 7;
              }) == 0);
    }
}

TEST_CASE(
    "Workers and runners finish nothing of a partition that is truncated under them, and go on with the other one") {
    const Place sizes;
    for (const std::uintmax_t size : sizes_to_cut(sizes.log(0))) {
        for (const bool queue : {true, false}) {
            INFO("truncated to " << size << ", " << (queue ? "a queue" : "a group with retries"));
            const Place place;
            {
                Producer producer(place.broker, "t");  // this process must not have the file open
                for (std::uint32_t i = 0; i < 80; ++i)
                    REQUIRE(producer.publish({.value = as_bytes("v"), .partition = i % 2}).status == Status::ok);
            }
            if (queue)
                QueueAdmin(place.broker).create("t", "g", {.exhausted = Exhausted::skip, .expired = Exhausted::skip});
            CHECK(guarded([&] {
                      Broker broker(place.scratch.broker());
                      std::size_t sound = 0;
                      std::size_t failures = 0;
                      const auto look = [&](const ConsumerRecord& record) {
                          if (text_or(record.value, "") != "v")
                              ::_exit(3);
                          sound += record.partition;
                      };
                      if (queue) {
                          QueueWorker worker(broker, "t", "g");
                          (void)worker.acquire(2);  // and keeps them
                          fs::resize_file(place.log(0), size);
                          for (int i = 0; i < 200; ++i) {
                              const AcquireResult got = worker.acquire(4);
                              for (const QueueRecord& one : got.records)
                                  look(one.record);
                              failures += got.failures.size();
                              if (!got.gaps.empty())
                                  return 4;
                              (void)worker.ack(got.records);
                          }
                      } else {
                          RetryRunner runner(broker, "t", {.name = "g"}, {.exhausted = Exhausted::skip});
                          std::size_t handled = 0;
                          const auto handler = [&](const ConsumerRecord& one) {
                              look(one);
                              ++handled;
                          };
                          (void)runner.run(handler, [&] { return handled >= 4; });
                          fs::resize_file(place.log(0), size);
                          for (int i = 0; i < 200; ++i) {
                              const RunResult got = runner.run_once(handler);
                              failures += got.failures.size();
                              if (!got.gaps.empty())
                                  return 4;
                          }
                      }
                      if (sound < 38)
                          return 5;
                      return failures != 0 || size > 8192 ? 0 : 6;
                  }) == 0);
            const TopicFiles files(place.topic, "t");
            for (std::uint32_t slot = 0; slot < files.groups().groups_max(); ++slot)
                CHECK(files.groups().word(slot, 0).committed <= (size <= 8192 ? 16 : 40));
        }
    }
}

TEST_CASE("Visiting a truncated partition shows nothing, and the other one is visited on") {
    const Place place;
    CHECK(guarded([&] {
              Broker broker(place.scratch.broker());
              Producer producer(broker, "t");
              for (std::uint32_t i = 0; i < 8; ++i)
                  (void)producer.publish({.value = as_bytes("x"), .partition = i % 2});
              Consumer consumer(broker);
              consumer.assign("t");
              fs::resize_file(place.log(0), 0);
              int stopped = 0;
              int seen = 0;
              for (int i = 0; i < 100; ++i) {
                  const VisitStatus status =
                      consumer.visit([&](const ConsumerRecord& record) { seen += record.partition == 1 ? 1 : 100; });
                  stopped += status == VisitStatus::stopped ? 1 : 0;
                  if (status == VisitStatus::stopped && consumer.last_failure().partition != 0)
                      return 1;
              }
              return stopped == 1 && seen == 4 ? 0 : 2;
          }) == 0);
}

TEST_CASE("Who has a topic open whose readers file is truncated is told that its partitions are damaged") {
    const Place place;
    CHECK(guarded([&] {
              Broker broker(place.scratch.broker());
              Producer producer(broker, "t");
              Consumer consumer(broker);
              consumer.assign("t");
              producer.attach(0);
              fs::resize_file(place.topic / "readers", 0);
              const Status first = producer.publish({.value = as_bytes("x"), .partition = 0}).status;
              if (first != Status::corrupt)
                  return 1;
              bool told = false;
              for (int i = 0; i < 4; ++i)
                  told |= consumer.poll().status == Status::corrupt;
              const test::Thrown why = thrown_by([&] { Producer(broker, "t"); });
              return told && why.code == ErrorCode::corrupt && why.text.find("readers") != std::string::npos ? 0 : 2;
          }) == 0);
}

TEST_CASE("A member of a group whose file is truncated commits nothing, and is told that it is damaged") {
    const Place place;
    CHECK(guarded([&] {
              Broker broker(place.scratch.broker());
              Producer producer(broker, "t");
              for (std::uint32_t i = 0; i < 8; ++i)
                  (void)producer.publish({.value = as_bytes("x"), .partition = i % 2});
              Consumer consumer(broker, GroupOptions{.name = "g", .delivery = Delivery::manual});
              consumer.subscribe("t");
              if (consumer.poll().status != Status::ok)
                  return 1;
              fs::resize_file(place.topic / "groups", 0);
              if (consumer.commit().status == Status::ok)
                  return 2;
              for (int i = 0; i < 4; ++i) {
                  const PollResult result = consumer.poll();
                  if (!result.records.empty())
                      return 3;
                  if (result.status == Status::corrupt)
                      return result.failures[0].partition == kWholeTopic ? 0 : 4;
              }
              return 5;
          }) == 0);
}

TEST_CASE("With a truncated client table nobody is proven dead, and a keeper says why it keeps nothing") {
    const Place place;
    CHECK(guarded([&] {
              Broker broker(place.scratch.broker());
              test::Told told;
              Keeper keeper(broker, told.listener());
              for (int i = 1; i <= 10; ++i)
                  (void)keeper.do_work(std::chrono::milliseconds(i * 100));
              told.forget();
              fs::resize_file(clients_path(place.scratch.broker()), 4096);
              for (int i = 11; i <= 20; ++i)
                  (void)keeper.do_work(std::chrono::milliseconds(i * 100));
              if (told.story() != "keeping_stopped")
                  return 1;
              const std::string why = told.all()[0].subject;
              return why.find("has 4096 bytes, 135168 are needed") != std::string::npos && !keeper.statistics().keeping
                         ? 0
                         : 2;
          }) == 0);
}

TEST_CASE("A keeper goes on with the other partition and the other topic, whichever file of one is truncated") {
    const std::string file = GENERATE("0.log", "readers", "groups", "topic.meta");
    const std::uintmax_t size = GENERATE(0, 100, 4096, 12'288);
    const Place place;
    INFO(file << " truncated to " << size);
    if (size >= fs::file_size(place.topic / file))
        return;
    CHECK(guarded([&] {
              Broker broker(place.scratch.broker());
              TopicOptions options;
              options.retention.records = 4;
              options.records = 64;
              options.payload_bytes = 0;
              options.producer_slots = 2;
              broker.create_topic("other", options);
              test::Told told;
              Keeper keeper(broker, told.listener());
              int now = 0;
              const auto work = [&](int steps) {
                  for (int i = 0; i < steps; ++i)
                      (void)keeper.do_work(std::chrono::milliseconds(++now * 50));
              };
              work(40);
              told.forget();
              const std::uintmax_t needed = fs::file_size(place.topic / file);
              fs::resize_file(place.topic / file, size);
              work(18);
              const auto kind =
                  file == "0.log" ? KeeperEventKind::partition_unreadable : KeeperEventKind::topic_unreadable;
              const KeeperEvent event = told.only(kind);
              if (told.all().size() != 1 || event.topic != "t")
                  return 1;
              if (event.subject.find((place.topic / file).string()) == std::string::npos)
                  return 2;
              if (event.subject.find(" " + std::to_string(size) + " ") == std::string::npos &&
                  event.subject.find("has " + std::to_string(size)) == std::string::npos)
                  return 3;
              if (event.subject.find(std::to_string(needed)) == std::string::npos)
                  return 4;
              Producer producer(broker, "other");
              for (int i = 0; i < 20; ++i)
                  (void)producer.publish({.value = as_bytes("x")});
              work(40);
              if (told.count(KeeperEventKind::records_expired) == 0)
                  return 5;
              if (told.count(kind) != 1)
                  return 6;
              return keeper.statistics().unreadable_topics + keeper.statistics().unreadable_partitions == 1 ? 0 : 7;
          }) == 0);
}

TEST_CASE("Statistics, a description, a check and a dump name the truncated file and show the sound partition") {
    const Place place;
    for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{8192}}) {
        const Place fresh;
        INFO("truncated to " << size);
        CHECK(guarded([&] {
                  Broker broker(fresh.scratch.broker());
                  Producer producer(broker, "t");
                  for (std::uint32_t i = 0; i < 8; ++i)
                      (void)producer.publish({.value = as_bytes("x"), .partition = i % 2});
                  Consumer member(broker, GroupOptions{.name = "g"});
                  member.subscribe("t");
                  StatsReader reader(broker);
                  GroupAdmin admin(broker);
                  if (reader.take().topics.at(0).partitions.at(0).records != 4 || admin.list().at(0).records != 8)
                      return 1;
                  fs::resize_file(fresh.log(0), size);
                  const std::string path = fresh.log(0).string();
                  for (int i = 0; i < 3; ++i) {
                      const BrokerStats stats = reader.take();
                      const auto& partitions = stats.topics.at(0).partitions;
                      if (partitions.at(0).error_code != ErrorCode::corrupt ||
                          partitions.at(0).error.find(path) == std::string::npos)
                          return 2;
                      if (partitions.at(0).records != 0 || partitions.at(1).records != 4)
                          return 3;
                      const auto& lags = stats.topics.at(0).groups.at(0).partitions;
                      if (!lags.at(0).lag.damaged || lags.at(1).lag.records != 4)
                          return 4;
                  }
                  if (GroupAdmin(broker).list().at(0).records != 4)
                      return 5;
                  const TopicDescription description = broker.describe_topic("t");
                  if (description.partitions.at(0).damage.find(path) == std::string::npos ||
                      description.partitions.at(1).log_end != 4)
                      return 6;
                  const VerifyReport report = broker.verify();
                  if (report.damage.size() != 1 || report.damage[0].file != path || report.records != 4)
                      return 7;
                  if (thrown_by([&] { return broker.dump("t", 0, 0); }).code != ErrorCode::corrupt)
                      return 8;
                  if (broker.dump("t", 1, 0).offset != 0)
                      return 9;
                  if (thrown_by([&] { return broker.delete_records("t", 0, 1); }).code != ErrorCode::corrupt)
                      return 10;
                  return broker.delete_records("t", 1, 1).to == 1 ? 0 : 11;
              }) == 0);
    }
}

namespace {

/// A mapped file that is none of Ringmain's, without its page.
volatile char* foreign_page(const fs::path& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ::ftruncate(fd, 4096) != 0)
        return nullptr;
    void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (::ftruncate(fd, 0) != 0)
        return nullptr;
    ::close(fd);
    return static_cast<volatile char*>(page);
}

void end_well(int, siginfo_t*, void*) { ::_exit(42); }

}  // namespace

TEST_CASE(
    "D03 A fault in a mapping that is none of Ringmain's ends a process that has the guard, with SIGBUS and at once") {
    const Place place;
    CHECK(guarded([&] {
              const Broker broker(place.scratch.broker());
              foreign_page(place.scratch.path() / "foreign")[0] = 1;
              return 0;
          }) == kDiedOfSigbus);
}

TEST_CASE(
    "What the guard does not know goes to the handler that was there before; a second installation changes nothing") {
    const Place place;
    struct sigaction own {};
    own.sa_sigaction = end_well;
    own.sa_flags = SA_SIGINFO;
    Child child([&] {
        if (::sigaction(SIGBUS, &own, nullptr) != 0)
            return 1;
        survive_truncation();
        survive_truncation();
        Producer producer(Broker(place.scratch.broker()), "t");
        fs::resize_file(place.log(0), 0);
        if (producer.publish({.value = as_bytes("x"), .partition = 0}).status != Status::corrupt)
            return 2;
        foreign_page(place.scratch.path() / "foreign")[0] = 1;
        return 3;
    });
    CHECK(child.wait() == 42);
}

TEST_CASE("A SIGBUS that a process sends is none of the guard's business") {
    const bool ignored = GENERATE(false, true);
    Child child([&] {
        if (ignored)
            ::signal(SIGBUS, SIG_IGN);
        survive_truncation();
        ::raise(SIGBUS);
        return 0;
    });
    CHECK(child.wait() == (ignored ? 0 : kDiedOfSigbus));
}

TEST_CASE("The guard knows thousands of mappings, and forgets those that end") {
    const Place place;
    CHECK(guarded([&] {
              const fs::path path = place.scratch.path() / "page";
              (void)foreign_page(path);
              fs::resize_file(path, 8192);
              std::vector<platform::Mapping> mappings;
              for (int round = 0; round < 3; ++round) {
                  mappings.clear();
                  for (int i = 0; i < 3'000; ++i)
                      mappings.emplace_back(path, platform::Access::read_write, 1);
              }
              fs::resize_file(path, 4096);
              for (const platform::Mapping& mapping : mappings) {
                  if (mapping.truncated())
                      return 1;
                  mapping.data()[4096] = std::byte{1};
                  if (!mapping.truncated())
                      return 2;
              }
              mappings.clear();
              foreign_page(path)[0] = 1;  // perhaps where one of them was
              return 0;
          }) == kDiedOfSigbus);
}
