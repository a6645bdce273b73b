// A tmpfs without a free byte: who has what he needs goes on, who needs more is told what and how much, nothing is lost
// or left over, and with room everything is as ever.
#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "hostile/touch.hpp"
#include "platform/files.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "topic_paths.hpp"

namespace ringmain::test {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

constexpr int kCannotMount = 77;
constexpr std::uint64_t kRecords = 40;

/// What is said of a step that went wrong; the exit code counts them.
class Checks {
public:
    void operator()(bool held, const std::string& what) {
        ++done_;
        if (held)
            return;
        ++failed_;
        std::cerr << "full tmpfs: " << what << "\n";
    }
    /// Refused for want of space, in a text that names the object, the bytes needed and the bytes free.
    void refused(const Thrown& thrown, const std::string& object, const std::string& who) {
        (*this)(thrown.code == ErrorCode::no_space, who + " is refused for want of space, not: " + thrown.text);
        for (const std::string& part : {object, std::string(" needed, "), std::string(" free")})
            (*this)(thrown.text.find(part) != std::string::npos, who + ": '" + thrown.text + "' says '" + part + "'");
    }
    [[nodiscard]] int done() const { return done_; }
    [[nodiscard]] int failed() const { return failed_; }

private:
    int done_ = 0;
    int failed_ = 0;
};

TopicOptions small() {
    TopicOptions options;
    options.records = 256;
    options.producer_slots = 4;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    return options;
}

void fill(const fs::path& file) {
    std::ofstream out(file, std::ios::binary);
    const std::vector<char> page(4096, 'x');
    while (out.write(page.data(), static_cast<std::streamsize>(page.size())).flush()) {
    }
}

/// Names of all that is in the broker, so that leftovers show.
std::vector<std::string> contents(const fs::path& directory) {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory))
        names.push_back(entry.path().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::uint64_t publish(const Broker& broker, const std::string& topic, std::uint64_t count) {
    Producer producer(broker, topic);
    const std::string large(1'000, 'l');
    std::uint64_t published = 0;
    for (std::uint64_t i = 0; i < count; ++i)
        published +=
            producer.try_publish({.value = as_bytes(i % 4 == 0 ? large : "small")}).status == Status::ok ? 1 : 0;
    return published;
}

std::uint64_t consume(const Broker& broker, const std::string& topic) {
    Consumer consumer(broker);
    consumer.assign(topic);
    std::uint64_t read = 0;
    for (PollResult result = consumer.poll(64); !result.records.empty(); result = consumer.poll(64)) {
        for (const ConsumerRecord& record : result.records)
            read += touch(record) >= record.offset ? 1 : 0;
    }
    return read;
}

bool be_member(const Broker& broker) {
    Consumer member(broker, GroupOptions{.name = "members"});
    member.subscribe("t");
    std::uint64_t read = 0;
    for (int i = 0; i < 100 && read < kRecords; ++i)
        read += member.poll(64, 1ms).records.size();
    return read >= kRecords && member.commit().status == Status::ok;
}

/// Takes some records of the queue and rejects them; how many.
std::uint64_t reject(const Broker& broker, std::size_t count) {
    QueueWorker worker(broker, "t", "queue");
    std::vector<Lock> locks;
    for (const QueueRecord& one : worker.acquire(count).records)
        locks.push_back(one.lock);
    std::uint64_t rejected = 0;
    for (const Lock& lock : locks)
        rejected += worker.reject(lock, "no use").settled == Settled::done ? 1 : 0;
    return rejected;
}

void retry(const Broker& broker) {
    RetryOptions options;
    options.attempts = 1;
    RetryRunner runner(broker, "t", {.name = "retries"}, options);
    for (int i = 0; i < 10; ++i)
        (void)runner.run_once([](const ConsumerRecord&) { return Handled::rejected("no use"); });
}

/// What has all its memory works without a byte more.
void use_what_is_there(const Broker& broker, Checks& check) {
    check(publish(broker, "t", kRecords) == kRecords, "all is published");
    check(consume(broker, "t") == 2 * kRecords, "all is read");
    check(be_member(broker), "a new group joins, reads and commits");
    check(reject(broker, 5) == 5, "workers reject");
    check(DeadLetters(broker).count("t.dlq") == 5, "letters are written");
    check(broker.verify().damage.empty(), "nothing is damaged");
    Keeper keeper(broker);
    for (int i = 0; i < 5; ++i)
        (void)keeper.do_work(std::chrono::seconds(i));
    StatsReader reader(broker);
    check(reader.take().topics.size() == 2, "statistics are there");
    check(Broker(broker.directory()).list_topics().size() == 2, "another process opens the broker");
}

void be_refused(Broker& broker, Checks& check) {
    const std::vector<std::string> before = contents(broker.directory());
    check.refused(thrown_by([&] { return broker.create_topic("u", small()); }), "topic 'u'", "a topic");
    check.refused(thrown_by([&] {
                      QueueAdmin(broker).create("t", "another");
                      return 0;
                  }),
                  "topic 't'", "a queue");
    check.refused(thrown_by([&] {
                      retry(broker);
                      return 0;
                  }),
                  "topic 't'", "a runner");
    check.refused(thrown_by([&] { return DeadLetters(broker).replay("t.dlq", {}); }), "letters", "a replay");
    check.refused(thrown_by([&] { return DeadLetters(broker).purge("t.dlq", {}); }), "letters", "a purge");
    check(contents(broker.directory()) == before, "nothing is left over");
    check(DeadLetters(broker).count("t.dlq") == 5, "no letter is lost");
    check(QueueAdmin(broker).list().size() == 1, "no queue is left over");
    check(broker.verify().damage.empty(), "nothing is damaged by what was refused");
}

void use_room(Broker& broker, Checks& check) {
    check(!thrown_by([&] { return broker.create_topic("u", small()); }).code, "a topic is made");
    check(!thrown_by([&] {
               QueueAdmin(broker).create("t", "another");
               return 0;
           }).code,
          "a queue is made");
    check(DeadLetters(broker).replay("t.dlq", {}).replayed == 5, "letters are replayed");
    check(!thrown_by([&] {
               retry(broker);
               return 0;
           }).code,
          "a runner runs");
    check(DeadLetters(broker).count("t.dlq") != 0, "its letters are written");
    check(broker.verify().damage.empty(), "nothing is damaged with room");
}

int fill_and_use(const fs::path& directory) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return kCannotMount;
    if (::mount("tmpfs", directory.c_str(), "tmpfs", 0, "mode=0755,size=24m") != 0)
        return kCannotMount;
    Checks check;
    Broker broker(directory / "broker", Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    QueueAdmin(broker).create("t", "queue");
    check(publish(broker, "t", kRecords) == kRecords, "all is published before");
    { Keeper keeper(broker); }  // its lock file
    fill(directory / "filler");
    check(platform::free_space(directory)->bytes == 0, "not a byte is free");
    use_what_is_there(broker, check);
    be_refused(broker, check);
    fs::remove(directory / "filler");
    use_room(broker, check);
    std::cout << "full tmpfs: " << check.done() << " checks, " << check.failed() << " failed\n" << std::flush;
    return check.failed();
}

}  // namespace

TEST_CASE(
    "On a tmpfs without a free byte those who have their memory go on, others are refused, and nothing is lost or "
    "left") {
    const ScratchDirectory scratch;
    Child child([&] { return fill_and_use(scratch.path()); });
    const int code = child.wait(60s);
    if (code == kCannotMount)
        SKIP("needs the right to mount");
    CHECK(code == 0);
}

}  // namespace ringmain::test
