// Users, permissions and containers.
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "layout/clients.hpp"
#include "platform/files.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/keeper.hpp"
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
constexpr unsigned kTraders = 4242;  // a group that nobody is a member of by himself

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

// Exit code of `body`, run as another user with that umask, in the given groups besides his own.
int as_user(unsigned uid, unsigned umask, const std::vector<::gid_t>& groups, const std::function<int()>& body) {
    Child child([&] {
        if (::setgroups(groups.size(), groups.data()) != 0 || ::setresgid(uid, uid, uid) != 0 ||
            ::setresuid(uid, uid, uid) != 0)
            return 98;
        ::umask(umask);
        return body();
    });
    return child.wait();
}

int as_nobody(const std::function<int()>& body) { return as_user(kNobody, 0022, {}, body); }

bool publish(Broker& broker, const char* text) {
    Producer producer(broker, "t");
    ProducerRecord record;
    record.value = as_bytes(text);
    return producer.publish(record).status == Status::ok;
}

std::size_t count_readable(Broker& broker) {
    Consumer consumer(broker);
    consumer.assign("t");
    return consumer.poll().records.size();
}

class Umask {
public:
    explicit Umask(::mode_t mask) : before_(::umask(mask)) {}
    Umask(const Umask&) = delete;
    Umask& operator=(const Umask&) = delete;
    ~Umask() { ::umask(before_); }

private:
    ::mode_t before_;
};

struct Modes {
    unsigned directory;
    unsigned file;
    unsigned lock_file;
};

void check_modes(const fs::path& broker, const Modes& expected) {
    const fs::path topic = topics_path(broker) / "t";
    for (const fs::path& path : {topics_path(broker), staging_path(broker), trash_path(broker), topic}) {
        INFO(path);
        CHECK(mode_of(path) == expected.directory);
    }
    for (const fs::path& path : {topic / "topic.meta", topic / "readers", topic / "0.log"}) {
        INFO(path);
        CHECK(mode_of(path) == expected.file);
    }
    for (const fs::path& path : {clients_path(broker), keeper_lock_path(broker), topics_lock_path(broker)}) {
        INFO(path);
        CHECK(mode_of(path) == expected.lock_file);
    }
}

// Whether this process may change the file's bytes or keep others from locking it.
bool can_hurt(const fs::path& path) {
    if (::truncate(path.c_str(), 0) == 0)
        return true;
    for (const int flags : {O_RDWR, O_WRONLY | O_TRUNC}) {
        if (::open(path.c_str(), flags | O_CLOEXEC) >= 0)
            return true;
    }
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct flock lock {};
    lock.l_type = F_RDLCK;
    lock.l_whence = SEEK_SET;
    const std::string name = path.filename();
    const bool is_lock_file = name == "clients" || name.ends_with(".lock");
    return is_lock_file && ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
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

TEST_CASE("K04 Files and directories have the rights that the umask leaves, like those of any program") {
    struct Case {
        ::mode_t umask;
        Modes modes;
    };
    for (const Case& one : {Case{0022, {0755, 0644, 0600}}, Case{0002, {0775, 0664, 0660}},
                            Case{0027, {0750, 0640, 0600}}, Case{0077, {0700, 0600, 0600}}}) {
        const ScratchDirectory scratch;
        const Umask umask(one.umask);
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        broker.create_topic("t", small());
        CHECK(mode_of(scratch.broker()) == one.modes.directory);
        check_modes(scratch.broker(), one.modes);
    }
}

TEST_CASE("K04 A directory that is setgid and writable by its group shares everything in it with the group") {
    const ScratchDirectory scratch;
    const Umask umask(0077);
    fs::create_directory(scratch.broker());
    REQUIRE(::chmod(scratch.broker().c_str(), 02770) == 0);
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    check_modes(scratch.broker(), {02770, 0660, 0660});
}

TEST_CASE("K04 Members of the group of a shared directory create, publish, keep and delete in each other's broker") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const ScratchDirectory scratch;
    fs::create_directory(scratch.broker());
    REQUIRE(::chown(scratch.broker().c_str(), 0, kTraders) == 0);
    REQUIRE(::chmod(scratch.broker().c_str(), 02775) == 0);
    CHECK(as_user(4301, 0022, {kTraders}, [&] {
              Broker broker(scratch.broker(), Broker::Mode::open_or_create);
              broker.create_topic("t", small());
              return publish(broker, "one") ? 0 : 1;
          }) == 0);
    CHECK(as_user(4302, 0022, {kTraders}, [&] {
              Broker broker(scratch.broker(), Broker::Mode::open_or_create);
              if (!publish(broker, "two") || count_readable(broker) != 2)
                  return 1;
              broker.create_topic("u", small());
              { Keeper keeper(broker); }
              broker.delete_topic("t");
              return broker.list_topics() == std::vector<std::string>{"u"} ? 0 : 2;
          }) == 0);
    CHECK(as_user(4303, 0022, {}, [&] {
              Broker broker(scratch.broker());
              return thrown_by([&] { broker.delete_topic("u"); }).code == ErrorCode::permission_denied ? 0 : 1;
          }) == 0);
    CHECK(platform::names_in(trash_path(scratch.broker())).empty());
}

TEST_CASE("K04 A user who may only read can neither truncate nor lock any file of a broker") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const ScratchDirectory scratch;
    const Umask umask(0022);
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("t", small());
    REQUIRE(publish(broker, "value"));
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(scratch.broker())) {
        INFO(entry.path());
        if (entry.is_regular_file())
            CHECK(as_nobody([&] { return can_hurt(entry.path()) ? 1 : 0; }) == 0);
    }
    CHECK(as_nobody([&] {
              Broker other(scratch.broker());
              return count_readable(other) == 1 ? 0 : 1;
          }) == 0);
}

TEST_CASE("K04 What a user has no rights for fails with the file and the missing right, and changes nothing") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const ScratchDirectory scratch;
    const Umask umask(0022);
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options = small();
    options.when_full = WhenFull::block;
    broker.create_topic("t", options);
    const std::string clients = clients_path(scratch.broker()).string();
    const auto denied = [](const test::Thrown& thrown, const std::string& path) {
        return thrown.code == ErrorCode::permission_denied && thrown.text.find(path) != std::string::npos &&
               thrown.text.find("write") != std::string::npos;
    };
    CHECK(as_nobody([&] {
              Broker other(scratch.broker(), Broker::Mode::open_or_create);
              Consumer consumer(other);
              consumer.assign("t");
              const std::string readers = (topics_path(scratch.broker()) / "t" / "readers").string();
              if (!denied(thrown_by([&] { other.create_topic("u", options); }), clients))
                  return 1;
              if (!denied(thrown_by([&] { other.delete_topic("t"); }), clients))
                  return 2;
              if (!denied(thrown_by([&] { Producer(other, "t").attach(0); }), clients))
                  return 3;
              if (!denied(thrown_by([&] { consumer.hold_gates("audit"); }), readers))
                  return 4;
              if (!denied(thrown_by([&] { Keeper keeper(other); }), keeper_lock_path(scratch.broker()).string()))
                  return 5;
              const fs::path inside = scratch.broker() / "inside";
              if (!denied(thrown_by([&] { Broker(inside, Broker::Mode::open_or_create); }), scratch.broker().string()))
                  return 6;
              return other.ensure_topic("t", options).name == "t" ? 0 : 7;
          }) == 0);
    CHECK(broker.list_topics() == std::vector<std::string>{"t"});
}

TEST_CASE("K04 A private topic hides no other topic from the list, and a private directory is no empty broker") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const ScratchDirectory scratch;
    const Umask umask(0022);
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    broker.create_topic("secret", small());
    broker.create_topic("t", small());
    REQUIRE(::chmod((topics_path(scratch.broker()) / "secret").c_str(), 0700) == 0);
    CHECK(as_nobody([&] {
              return Broker(scratch.broker()).list_topics() == std::vector<std::string>{"secret", "t"} ? 0 : 1;
          }) == 0);
    REQUIRE(::chmod(topics_path(scratch.broker()).c_str(), 0711) == 0);
    CHECK(as_nobody([&] {
              const test::Thrown thrown = thrown_by([&] { return Broker(scratch.broker()).list_topics(); });
              return thrown.code == ErrorCode::permission_denied && thrown.text.find("topics") != std::string::npos ? 0
                                                                                                                   : 1;
          }) == 0);
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
