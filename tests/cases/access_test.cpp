// Owner, group and mode of a topic: who may publish, who may only read, and who may nothing.
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "platform/files.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using test::Child;
using test::contains;
using test::ScratchDirectory;
using test::thrown_by;

namespace {

namespace fs = std::filesystem;

constexpr unsigned kProducerUser = 4311;
constexpr unsigned kConsumerUser = 4312;
constexpr unsigned kStranger = 4313;
constexpr unsigned kConsumers = 4342;  // a group

TopicOptions small() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    return options;
}

struct stat status_of(const fs::path& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status;
}

void become(unsigned uid, const std::vector<::gid_t>& groups) {
    if (::setgroups(groups.size(), groups.data()) != 0 || ::setresgid(uid, uid, uid) != 0 ||
        ::setresuid(uid, uid, uid) != 0)
        ::_exit(98);
}

int as_user(unsigned uid, const std::vector<::gid_t>& groups, const std::function<int()>& body) {
    return Child([&] {
               become(uid, groups);
               return body();
           })
        .wait();
}

bool publish(Broker& broker, const char* text) {
    Producer producer(broker, "t");
    return producer.publish({.value = as_bytes(text)}).status == Status::ok;
}

std::size_t count_readable(Broker& broker) {
    Consumer consumer(broker);
    consumer.assign("t");
    return consumer.poll().records.size();
}

void check_rights(const fs::path& topic, unsigned owner, unsigned group, unsigned file_mode, unsigned directory_mode) {
    for (const fs::directory_entry& entry : fs::directory_iterator(topic)) {
        INFO(entry.path());
        const struct stat status = status_of(entry.path());
        CHECK((status.st_mode & 07777U) == file_mode);
        CHECK(status.st_uid == owner);
        CHECK(status.st_gid == group);
    }
    const struct stat status = status_of(topic);
    CHECK((status.st_mode & 0777U) == directory_mode);
    CHECK(status.st_uid == owner);
    CHECK(status.st_gid == group);
}

/// A broker that a producer may attach to, and that everybody may enter.
struct SharedBroker {
    ScratchDirectory scratch;
    Broker broker = make(scratch.broker());

    static Broker make(const fs::path& directory) {
        const ::mode_t before = ::umask(0022);
        Broker made(directory, Broker::Mode::open_or_create);
        ::umask(before);
        if (::chown(clients_path(directory).c_str(), kProducerUser, 0) != 0)
            throw std::runtime_error("chown failed");
        return made;
    }
    [[nodiscard]] fs::path topic() const { return topics_path(scratch.broker()) / "t"; }
};

}  // namespace

TEST_CASE("K04 A topic has the mode that it was created with, whatever the umask") {
    for (const ::mode_t mask : {0000U, 0022U, 0077U}) {
        const ScratchDirectory scratch;
        const ::mode_t before = ::umask(static_cast<::mode_t>(mask));
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        TopicOptions options = small();
        options.access.mode = 0660;
        const TopicDescription topic = broker.create_topic("t", options);
        ::umask(before);
        check_rights(topics_path(scratch.broker()) / "t", ::geteuid(), ::getegid(), 0660, 0770);
        CHECK(topic.options.access == TopicAccess{::geteuid(), ::getegid(), 0660});
    }
}

TEST_CASE("K04 A topic with an owner and without a mode has the rights that the umask leaves") {
    const ScratchDirectory scratch;
    const ::mode_t before = ::umask(0027);
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options = small();
    options.access.owner = ::geteuid();
    broker.create_topic("t", options);
    ::umask(before);
    check_rights(topics_path(scratch.broker()) / "t", ::geteuid(), ::getegid(), 0640, 0750);
}

TEST_CASE("K04 A topic with a group of its own in a directory that is shared keeps sharing with that group") {
    if (::geteuid() != 0)
        SKIP("needs root, to give files away");
    const ScratchDirectory scratch;
    fs::create_directory(scratch.broker());
    REQUIRE(::chmod(scratch.broker().c_str(), 02770) == 0);
    const ::mode_t before = ::umask(0077);
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options = small();
    options.access.group = kConsumers;
    broker.create_topic("t", options);
    ::umask(before);
    check_rights(topics_path(scratch.broker()) / "t", 0, kConsumers, 0660, 0770);
}

TEST_CASE("Nobody can enter a topic that is being made before its rights are those that it is to have") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const SharedBroker shared;
    std::atomic<bool> seen{false};
    TopicOptions options = small();
    options.partitions = 8;
    options.access.mode = 0600;
    const auto look = [&] {  // asked while the files are made
        for (const std::string& name : platform::names_in(staging_path(shared.scratch.broker()))) {
            const fs::path staging = staging_path(shared.scratch.broker()) / name;
            if ((status_of(staging).st_mode & 0077U) != 0)
                seen = true;
        }
        return false;
    };
    Broker broker = shared.broker;
    broker.create_topic("t", options, look);
    CHECK_FALSE(seen);
    check_rights(shared.topic(), 0, 0, 0600, 0700);
}

TEST_CASE(
    "K01 A producer's user publishes, a consumer's user without write rights reads records and lag, others do "
    "nothing") {
    if (::geteuid() != 0)
        SKIP("needs root, to become other users");
    const SharedBroker shared;
    Broker broker = shared.broker;
    TopicOptions options = small();
    options.access = {kProducerUser, kConsumers, 0640};
    broker.create_topic("t", options);
    CHECK(as_user(kProducerUser, {}, [&] {
              Broker theirs(shared.scratch.broker());
              return publish(theirs, "one") && publish(theirs, "two") ? 0 : 1;
          }) == 0);
    Consumer member(broker, GroupOptions{.name = "billing"});
    member.subscribe("t");
    CHECK(as_user(kConsumerUser, {kConsumers}, [&] {
              Broker theirs(shared.scratch.broker());
              if (count_readable(theirs) != 2)
                  return 1;
              if (GroupAdmin(theirs).list("t").at(0).records != 2)
                  return 2;
              const auto thrown = thrown_by([&] { Producer(theirs, "t").attach(0); });
              return thrown.code == ErrorCode::permission_denied ? 0 : 3;
          }) == 0);
    CHECK(as_user(kStranger, {}, [&] {
              Broker theirs(shared.scratch.broker());
              const auto thrown = thrown_by([&] { return count_readable(theirs); });
              const bool named = thrown.text.find(shared.topic().string()) != std::string::npos &&
                                 thrown.text.find("belongs to uid 4311 gid 4342, mode 0750") != std::string::npos &&
                                 thrown.text.find("this process is uid 4313") != std::string::npos;
              return thrown.code == ErrorCode::permission_denied && named ? 0 : 1;
          }) == 0);
}

TEST_CASE("K01 Rights are taken and given while a topic is in use; open handles stay so") {
    if (::geteuid() != 0)
        SKIP("needs root, to become other users");
    const SharedBroker shared;
    Broker broker = shared.broker;
    TopicOptions options = small();
    options.access = {kProducerUser, kConsumers, 0600};
    broker.create_topic("t", options);
    Producer producer(broker, "t");
    REQUIRE(producer.publish({.value = as_bytes("one")}).status == Status::ok);
    const auto readable = [&] {
        return as_user(kConsumerUser, {kConsumers}, [&] {
            Broker theirs(shared.scratch.broker());
            return thrown_by([&] { return count_readable(theirs); }).code ? 1 : 0;
        });
    };
    CHECK(readable() == 1);
    broker.set_access("t", {.mode = 0640});
    check_rights(shared.topic(), kProducerUser, kConsumers, 0640, 0750);
    CHECK(readable() == 0);
    broker.set_access("t", {.group = kStranger});
    check_rights(shared.topic(), kProducerUser, kStranger, 0640, 0750);
    CHECK(readable() == 1);
    broker.set_access("t", {.owner = 0});
    check_rights(shared.topic(), 0, kStranger, 0640, 0750);
    CHECK(producer.publish({.value = as_bytes("two")}).status == Status::ok);
}

TEST_CASE(
    "K02 Root, using another user's topic, changes no owner, group or mode; who has no rights is refused at every "
    "call") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const SharedBroker shared;
    Broker broker = shared.broker;
    TopicOptions options = small();
    options.access = {kProducerUser, kConsumers, 0600};
    broker.create_topic("t", options);
    CHECK(publish(broker, "by root"));
    CHECK(count_readable(broker) == 1);
    {
        Consumer member(broker, GroupOptions{.name = "billing"});
        member.subscribe("t");
        Keeper keeper(broker);
        keeper.do_work(std::chrono::nanoseconds(1));
    }
    check_rights(shared.topic(), kProducerUser, kConsumers, 0600, 0700);
    CHECK(as_user(kStranger, {}, [&] {
              Broker theirs(shared.scratch.broker());
              for (int call = 0; call < 100; ++call) {
                  if (thrown_by([&] { return count_readable(theirs); }).code != ErrorCode::permission_denied)
                      return 1;
              }
              return 0;
          }) == 0);
    CHECK(publish(broker, "undisturbed"));
}

TEST_CASE("Rights that no topic can have, and rights of topics that are not there, are refused") {
    const ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options = small();
    options.access.mode = 0750;
    const auto mode = thrown_by([&] { return broker.create_topic("t", options); });
    CHECK(mode.code == ErrorCode::invalid_argument);
    CHECK_THAT(mode.text, contains("topic 't'") && contains("mode 0750") && contains("0666"));
    options.access = {.owner = 4294967295U};
    CHECK_THAT(thrown_by([&] { return broker.create_topic("t", options); }).text,
               contains("owner 4294967295 is outside 0 to 4294967294"));
    CHECK(broker.list_topics().empty());
    CHECK(thrown_by([&] { broker.set_access("t", {.mode = 0600}); }).code == ErrorCode::not_found);
    broker.create_topic("t", small());
    CHECK(thrown_by([&] { broker.set_access("t", {.mode = 0777}); }).code == ErrorCode::invalid_argument);
}

TEST_CASE(
    "Giving a topic away without the right to is refused with path, owner and mode, and nothing is left of a "
    "creation") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const ScratchDirectory scratch;
    REQUIRE(::chmod(scratch.path().c_str(), 0777) == 0);
    CHECK(as_user(kStranger, {}, [&] {
              Broker own(scratch.broker(), Broker::Mode::open_or_create);
              TopicOptions options = small();
              options.access.owner = kProducerUser;
              const auto thrown = thrown_by([&] { return own.create_topic("t", options); });
              if (thrown.code != ErrorCode::permission_denied ||
                  thrown.text.find("belongs to uid 4313") == std::string::npos)
                  return 1;
              if (!own.list_topics().empty() || !platform::names_in(staging_path(scratch.broker())).empty())
                  return 2;
              own.create_topic("t", small());
              return thrown_by([&] { own.set_access("t", {.owner = 0}); }).code == ErrorCode::permission_denied ? 0 : 3;
          }) == 0);
}

TEST_CASE("K05 A keeper sweeps what other users' killed creations left in a directory that is shared") {
    if (::geteuid() != 0)
        SKIP("needs root, to become other users");
    const ScratchDirectory scratch;
    fs::create_directory(scratch.broker());
    REQUIRE(::chown(scratch.broker().c_str(), 0, kConsumers) == 0);
    REQUIRE(::chmod(scratch.broker().c_str(), 02775) == 0);
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    CHECK(as_user(kProducerUser, {kConsumers}, [&] {
              TopicOptions options = small();
              options.access.mode = 0600;
              Broker(scratch.broker()).create_topic("t", options, [] { return ::raise(SIGKILL) == 0; });
              return 0;
          }) == 128 + SIGKILL);
    CHECK_FALSE(platform::names_in(staging_path(scratch.broker())).empty());
    Keeper keeper(broker);
    keeper.do_work(std::chrono::nanoseconds(1));
    CHECK(platform::names_in(staging_path(scratch.broker())).empty());
}
