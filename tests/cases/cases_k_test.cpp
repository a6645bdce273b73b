// Users, permissions and containers.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "platform/files.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using test::Child;
using test::ScratchDirectory;
using test::thrown_by;

namespace {

namespace fs = std::filesystem;

constexpr unsigned kNobody = 65534;

TopicOptions small() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    return options;
}

unsigned mode_of(const fs::path& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0;
}

// Exit code of `body`, run as another user.
int as_nobody(const std::function<int()>& body) {
    Child child([&] {
        if (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)
            return 98;
        return body();
    });
    return child.wait();
}

bool names_owner_and_mode(const test::Thrown& thrown, const std::string& path) {
    return thrown.code == ErrorCode::permission_denied && thrown.text.find(path) != std::string::npos &&
           thrown.text.find("belongs to uid 0") != std::string::npos && thrown.text.find("mode 0") != std::string::npos;
}

}  // namespace

TEST_CASE("K01 Another user's private topic is refused at once, with path, owner and mode; an own broker works") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    for (const char* const name : {"topic.meta", "0.log"}) {
        const fs::path file = topics_path(scratch.broker()) / "t" / name;
        REQUIRE(::chmod(file.c_str(), 0600) == 0);
        CHECK(as_nobody([&] {
                  Broker other(scratch.broker());
                  return names_owner_and_mode(thrown_by([&] { return other.describe_topic("t"); }), file.string()) ? 0
                                                                                                                   : 1;
              }) == 0);
        REQUIRE(::chmod(file.c_str(), 0644) == 0);
    }
    REQUIRE(::chmod(scratch.path().c_str(), 0777) == 0);
    CHECK(as_nobody([&] {
              Broker own(scratch.path() / "own", Broker::Mode::open_or_create);
              own.create_topic("t", small());
              Producer producer(own, "t");
              return producer.publish({}).status == Status::ok ? 0 : 1;
          }) == 0);
}

TEST_CASE("K01 Another user may read, but neither publish, create nor delete, and is told why") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    Producer producer(broker, "t");
    ProducerRecord record;
    record.value = as_bytes("value");
    REQUIRE(producer.publish(record).status == Status::ok);
    CHECK(as_nobody([&] {
              Broker other(scratch.broker());
              Consumer consumer(other);
              consumer.assign("t");
              if (consumer.poll().records.size() != 1)
                  return 1;
              if (!other.verify().damage.empty())
                  return 2;
              if (thrown_by([&] { return other.create_topic("u", small()); }).code != ErrorCode::permission_denied)
                  return 3;
              if (thrown_by([&] { other.delete_topic("t"); }).code != ErrorCode::permission_denied)
                  return 4;
              const auto attach = [&] {
                  Producer theirs(other, "t");
                  theirs.attach(0);
              };
              if (thrown_by(attach).code != ErrorCode::permission_denied)
                  return 5;
              return other.impl() ? 0 : 6;
          }) == 0);
    CHECK(broker.list_topics() == std::vector<std::string>{"t"});
    CHECK(platform::names_in(staging_path(scratch.broker())).empty());
}

TEST_CASE("K04 The umask takes nothing from the modes of files and directories") {
    const ScratchDirectory scratch;
    const ::mode_t before = ::umask(0077);
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    ::umask(before);
    const fs::path topic = topics_path(scratch.broker()) / "t";
    CHECK(mode_of(scratch.broker()) == 0755);
    CHECK(mode_of(topics_path(scratch.broker())) == 0755);
    CHECK(mode_of(topic) == 0755);
    CHECK(mode_of(clients_path(scratch.broker())) == 0666);
    CHECK(mode_of(keeper_lock_path(scratch.broker())) == 0666);
    CHECK(mode_of(topics_lock_path(scratch.broker())) == 0644);
    CHECK(mode_of(topic / "topic.meta") == 0644);
    CHECK(mode_of(topic / "readers") == 0666);
    CHECK(mode_of(topic / "0.log") == 0644);
}

TEST_CASE("K07 A broker that is not there is an error that names the path, never a private new one") {
    const ScratchDirectory scratch;
    const test::Thrown thrown = thrown_by([&] { return Broker(scratch.broker()); });
    CHECK(thrown.code == ErrorCode::not_found);
    CHECK_THAT(thrown.text, test::contains(scratch.broker().string()));
    CHECK_FALSE(fs::exists(scratch.broker()));
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    CHECK(thrown_by([&] { return Producer(broker, "t"); }).code == ErrorCode::not_found);
    CHECK(broker.list_topics().empty());
}
