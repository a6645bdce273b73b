// Who may change what over the socket: checked by the kernel's word for who is at the other end.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "broker_impl.hpp"
#include "daemon/api_rights.hpp"
#include "platform/rights.hpp"
#include "running_daemon.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "topic_access.hpp"
#include "topic_paths.hpp"
#include "topic_retention.hpp"

using namespace ringmain;
using test::ApiReply;
using test::contains;
using test::run_as;
using test::RunningDaemon;
using test::ScratchDirectory;

namespace {

namespace fs = std::filesystem;

constexpr uid_t kAlice = 4311;
constexpr uid_t kBob = 4312;
constexpr gid_t kAdmins = 4320;
constexpr gid_t kTraders = 4321;

const std::string kSmall = R"({"records":64,"producer_slots":2,"payload_bytes":0,"groups":2,"members":2)";
const std::string kAdminGroup = "[socket]\nadmin_group = 4320\n";

constexpr int kGood = 200;          // so much less, a status fits into an exit code
constexpr int kNotConnected = 299;  // connecting throws

/// A broker directory of root that everybody may look at.
struct Place {
    ScratchDirectory scratch;
    explicit Place(::mode_t mode = 0755, gid_t group = 0) {
        const ::mode_t before = ::umask(0);
        fs::create_directory(scratch.broker());
        ::umask(before);
        if (::chown(scratch.broker().c_str(), 0, group) != 0 || ::chmod(scratch.broker().c_str(), mode) != 0)
            throw std::runtime_error("cannot set the rights of the scratch directory");
    }
    [[nodiscard]] fs::path socket() const { return scratch.broker() / "keeper.sock"; }

    /// The status of a request of another user.
    [[nodiscard]] int status_for(uid_t uid, const std::vector<gid_t>& groups, const std::string& method,
                                 const std::string& target, const std::string& body = {}) const {
        return kGood + run_as(uid, groups, [&] { return test::ask(socket(), method, target, body).status - kGood; });
    }
};

struct stat status_of(const fs::path& path) {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status;
}

}  // namespace

TEST_CASE("Who may only read the broker directory may look at everything over the socket and change nothing") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place;
    const RunningDaemon daemon(place.scratch.broker());
    REQUIRE(daemon.ask("PUT", "/v1/topics/t", kSmall + "}").status == 201);
    for (const char* const target : {"/v1/health", "/v1/topics", "/v1/topics/t", "/v1/groups", "/v1/queues", "/v1/keeper"}) {
        INFO(target);
        CHECK(place.status_for(kAlice, {}, "GET", target) == 200);
    }
    CHECK(place.status_for(kAlice, {}, "PUT", "/v1/topics/u", kSmall + "}") == 403);
    CHECK(place.status_for(kAlice, {}, "DELETE", "/v1/topics/t") == 403);
    CHECK(run_as(kAlice, {}, [&] {
              const ApiReply reply = test::ask(place.socket(), "PUT", "/v1/topics/u", kSmall + "}");
              const bool names_all = reply.message().find("user 4311 may not create topic 'u'") != std::string::npos &&
                                     reply.message().find("the owner 0 of the directory") != std::string::npos;
              return reply.status == 403 && reply.code() == "permission_denied" && names_all ? 0 : 1;
          }) == 0);
    CHECK(Broker(place.scratch.broker()).list_topics() == std::vector<std::string>{"t"});
}

TEST_CASE("Members of the admin group change everything, by either kind of group membership, and others do not") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place;
    const RunningDaemon daemon(place.scratch.broker(), kAdminGroup);
    CHECK(place.status_for(kAlice, {kTraders, kAdmins}, "PUT", "/v1/topics/t", kSmall + "}") == 201);
    CHECK(place.status_for(kBob, {kTraders}, "DELETE", "/v1/topics/t") == 403);
    CHECK(place.status_for(kAdmins, {}, "DELETE", "/v1/topics/t") == 200);  // his own group
}

TEST_CASE("A user of the admin group without rights to the directory creates and deletes topics by the library") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place;
    const RunningDaemon daemon(place.scratch.broker(), kAdminGroup);
    CHECK(run_as(kAlice, {kAdmins}, [&] {
              Broker broker(place.scratch.broker());
              const TopicDescription made = broker.create_topic("t", test::small_topic());
              return made.name == "t" && made.options.records == 64 ? 0 : 1;
          }) == 0);
    CHECK(status_of(place.scratch.broker() / "topics/t/topic.meta").st_uid == 0);
    CHECK(run_as(kAlice, {kAdmins}, [&] {
              Broker(place.scratch.broker()).delete_topic("t");
              return 0;
          }) == 0);
    CHECK(Broker(place.scratch.broker()).list_topics().empty());
    CHECK(run_as(kBob, {}, [&] {
              const test::Thrown thrown = test::thrown_by(
                  [&] { return Broker(place.scratch.broker()).create_topic("t", test::small_topic()); });
              return thrown.code == ErrorCode::permission_denied && thrown.text.find("/clients'") != std::string::npos
                         ? 0
                         : 1;
          }) == 0);
}

TEST_CASE("The command creates and deletes topics for a member of the admin group, and says nothing different") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place;
    const RunningDaemon daemon(place.scratch.broker(), kAdminGroup);
    const std::string directory = place.scratch.broker().string();
    const fs::path output = place.scratch.path() / "output";
    const auto run = [&](const std::vector<std::string>& arguments) {
        std::vector<std::string> all{"-d", directory, "topic"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        fs::remove(output);
        return test::start(RINGMAIN_CLI_PATH, all, {output, kAdmins, {}})
            .wait();  // whose own group has the same number
    };
    CHECK(run({"create", "t", "--records", "64", "--producers", "2", "--payload", "0"}) == 0);
    CHECK_THAT(test::text_in(output), contains("topic") && contains("t"));
    CHECK_THAT(daemon.log(), contains("topic 't' was created for user 4320"));
    CHECK(run({"create", "t", "--records", "64", "--producers", "2"}) == 1);
    CHECK(test::text_in(output) == "ringmain: topic 't' exists already in '" + directory + "'\n");
    CHECK(run({"delete", "t"}) == 0);
    CHECK(test::text_in(output) == "deleted topic t\n");
}

TEST_CASE("A topic that the daemon makes for a user with rights to the directory is his, as if he had made it") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place(0777);
    const ::mode_t before = ::umask(0);
    Broker(place.scratch.broker(), Broker::Mode::open_or_create);
    ::umask(before);
    const RunningDaemon daemon(place.scratch.broker());
    CHECK(run_as(kAlice, {}, [&] {
              ::umask(0077);
              Broker broker(place.scratch.broker());
              broker.create_topic("private", test::small_topic());
              ::umask(0022);
              broker.create_topic("public", test::small_topic());
              return 0;
          }) == 0);
    CHECK_THAT(daemon.log(), contains("topic 'private' was created for user 4311"));
    for (const char* const file : {"topic.meta", "0.log", "readers", "groups"}) {
        INFO(file);
        const struct stat hidden = status_of(place.scratch.broker() / "topics/private" / file);
        CHECK(hidden.st_uid == kAlice);
        CHECK((hidden.st_mode & 0777U) == 0600);
        const struct stat shown = status_of(place.scratch.broker() / "topics/public" / file);
        CHECK(shown.st_uid == kAlice);
        CHECK((shown.st_mode & 0777U) == 0644);
    }
    CHECK(place.status_for(kBob, {}, "DELETE", "/v1/topics/public") == 403);  // he may not write its files
    CHECK(place.status_for(kAlice, {}, "DELETE", "/v1/topics/public") == 200);
}

TEST_CASE("A daemon that is not root leaves a topic to who can make it himself and would be shut out of it") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place(0777);
    const ::mode_t before = ::umask(0);
    Broker(place.scratch.broker(), Broker::Mode::open_or_create);
    ::umask(before);
    const RunningDaemon daemon(place.scratch.broker(), "", kBob);
    const auto made_with = [&](::mode_t mask, const std::string& name) {
        return run_as(kAlice, {}, [&] {
            ::umask(mask);
            Broker(place.scratch.broker()).create_topic(name, test::small_topic());
            return 0;
        });
    };
    CHECK(made_with(0022, "own") == 0);
    CHECK(status_of(place.scratch.broker() / "topics/own/0.log").st_uid == kAlice);
    CHECK(daemon.log().find("topic 'own' was created") == std::string::npos);
    CHECK(made_with(0000, "open") == 0);
    CHECK(status_of(place.scratch.broker() / "topics/open/0.log").st_uid == kBob);
    CHECK_THAT(daemon.log(), contains("topic 'open' was created for user 4311"));
}

TEST_CASE("Who does not administer gives no topic to others") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place(0777);
    const ::mode_t before = ::umask(0);
    Broker(place.scratch.broker(), Broker::Mode::open_or_create);
    ::umask(before);
    const RunningDaemon daemon(place.scratch.broker());
    CHECK(place.status_for(kAlice, {}, "PUT", "/v1/topics/t", kSmall + R"(,"access":{"owner":4312}})") == 403);
    CHECK(place.status_for(kAlice, {kTraders}, "PUT", "/v1/topics/t", kSmall + R"(,"access":{"group":4320}})") == 403);
    CHECK(place.status_for(kAlice, {kTraders}, "PUT", "/v1/topics/t",
                           kSmall + R"(,"access":{"group":4321,"mode":"0660"}})") == 201);
    const struct stat status = status_of(place.scratch.broker() / "topics/t/0.log");
    CHECK(status.st_uid == kAlice);
    CHECK(status.st_gid == kTraders);
    CHECK((status.st_mode & 0777U) == 0660);
    CHECK(place.status_for(kAlice, {}, "PATCH", "/v1/topics/t", R"({"access":{"owner":4312}})") == 403);
    CHECK(place.status_for(kBob, {kTraders}, "PATCH", "/v1/topics/t", R"({"access":{"mode":"0666"}})") == 403);
    CHECK(place.status_for(kBob, {kTraders}, "PATCH", "/v1/topics/t", R"({"retention":{"records":10}})") == 200);
    CHECK(place.status_for(kBob, {}, "PATCH", "/v1/topics/t", R"({"retention":{"records":10}})") == 403);
    CHECK(place.status_for(0, {}, "PATCH", "/v1/topics/t", R"({"access":{"owner":4312}})") == 200);
    CHECK(status_of(place.scratch.broker() / "topics/t/0.log").st_uid == kBob);
}

TEST_CASE("Retention, access and deletion of records go through the daemon when the files may not be written") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place;
    const RunningDaemon daemon(place.scratch.broker(), kAdminGroup);
    Broker(place.scratch.broker()).create_topic("t", test::small_topic());
    CHECK(run_as(kAlice, {kAdmins}, [&] {
              Broker broker(place.scratch.broker());
              broker.set_retention("t", {.records = 10});
              broker.set_access("t", {.owner = {}, .group = {}, .mode = 0664});
              return broker.delete_records("t", 0, 0).to == 0 ? 0 : 1;
          }) == 0);
    CHECK(Broker(place.scratch.broker()).describe_topic("t").options.retention.records == 10);
    CHECK((status_of(place.scratch.broker() / "topics/t/0.log").st_mode & 0777U) == 0664);
    CHECK(run_as(kBob, {}, [&] {
              Broker broker(place.scratch.broker());
              return test::thrown_by([&] { broker.set_retention("t", {.records = 5}); }).code ==
                             ErrorCode::permission_denied
                         ? 0
                         : 1;
          }) == 0);
    CHECK(Broker(place.scratch.broker()).describe_topic("t").options.retention.records == 10);
}

TEST_CASE("Who may connect is as the broker directory lets, or as configured") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    struct Case {
        ::mode_t directory;
        const char* configuration;
        ::mode_t socket;
    };
    for (const Case& one : {Case{0755, "", 0666}, Case{0750, "", 0660}, Case{0700, "", 0600}, Case{02770, "", 0660},
                            Case{0755, "[socket]\nmode = \"0660\"\n", 0660}}) {
        const Place place(one.directory, kTraders);
        const RunningDaemon daemon(place.scratch.broker(), one.configuration);
        INFO(std::oct << one.directory << ' ' << one.configuration);
        CHECK((status_of(place.socket()).st_mode & 0777U) == one.socket);
    }
    const Place place(0755);
    const RunningDaemon daemon(place.scratch.broker(), "[socket]\nmode = \"0660\"\ngroup = 4321\n");
    CHECK(status_of(place.socket()).st_gid == kTraders);
    CHECK(place.status_for(kAlice, {kTraders}, "GET", "/v1/health") == 200);
    CHECK(place.status_for(kAlice, {}, "GET", "/v1/health") == kNotConnected);
}

TEST_CASE("What was looked at is what is changed: not another topic that has the name by then") {
    if (::geteuid() != 0)
        SKIP("needs root, to give a topic to another user");
    Place place;
    Broker broker(place.scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options = test::small_topic();
    options.access = {kAlice, kAlice, 0600};
    broker.create_topic("t", options);
    const daemon::Peer alice{kAlice, kAlice, {}};
    const daemon::ApiRights rights(broker.directory(), {});
    const auto hers = broker.impl()->open_topic("t");
    rights.check_writing(alice, *hers);
    rights.check_access(alice, *hers, {{}, {}, 0644});

    broker.delete_topic("t");
    options.access = {kBob, kBob, 0600};
    broker.create_topic("t", options);
    CHECK(test::thrown_by([&] { rights.check_writing(alice, *hers); }).code == ErrorCode::not_found);
    CHECK(test::thrown_by([&] { rights.check_access(alice, *hers, {}); }).code == ErrorCode::not_found);
    CHECK(test::thrown_by([&] { rights.check_deletion(alice, *hers); }).code == ErrorCode::not_found);
    CHECK(test::thrown_by([&] { set_retention(*hers, {{}, 10, 0}); }).code == ErrorCode::topic_deleted);
    CHECK(test::thrown_by([&] { set_access(*hers, {{}, {}, 0666}); }).code == ErrorCode::topic_deleted);
    const TopicOptions his = broker.describe_topic("t").options;
    CHECK(his.retention == Retention{});
    CHECK(his.access.mode == 0600U);
    CHECK(test::thrown_by([&] { rights.check_writing(alice, *broker.impl()->open_topic("t")); }).code == ErrorCode::permission_denied);
}

TEST_CASE("Changes of different limits at the same time are all made") {
    const Place place;
    const RunningDaemon daemon(place.scratch.broker());
    REQUIRE(daemon.ask("PUT", "/v1/topics/t", kSmall + "}").status == 201);
    for (int round = 0; round < 30; ++round) {
        REQUIRE(daemon.ask("PATCH", "/v1/topics/t", R"({"retention":{"age_ms":0,"records":0,"bytes":0}})").status == 200);
        int status = 0;
        std::thread other([&] { status = daemon.ask("PATCH", "/v1/topics/t", R"({"retention":{"records":50}})").status; });
        CHECK(daemon.ask("PATCH", "/v1/topics/t", R"({"retention":{"bytes":5000}})").status == 200);
        other.join();
        CHECK(status == 200);
        const Retention found = Broker(place.scratch.broker()).describe_topic("t").options.retention;
        CHECK(found.records == 50);
        CHECK(found.bytes == 5000);
    }
}

TEST_CASE("Nobody is led out of the broker directory by a link in it") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place(02775, kTraders);
    Broker victim(place.scratch.path() / "victim", Broker::Mode::open_or_create);
    victim.create_topic("v", test::small_topic());
    const RunningDaemon daemon(place.scratch.broker());
    CHECK(run_as(kAlice, {kTraders}, [&] {
              fs::rename(place.scratch.broker() / "topics", place.scratch.broker() / "aside");
              fs::create_directory_symlink(victim.directory() / "topics", place.scratch.broker() / "topics");
              return 0;
          }) == 0);
    for (const char* const method : {"DELETE", "PATCH", "GET"}) {
        const ApiReply reply = daemon.ask(method, "/v1/topics/v", method == std::string("PATCH") ? R"({"access":{"mode":"0666"}})" : "");
        INFO(method << ' ' << reply.body);
        CHECK(reply.status >= 400);
    }
    CHECK(daemon.ask("PUT", "/v1/topics/new", kSmall + "}").status >= 400);
    CHECK(victim.list_topics() == std::vector<std::string>{"v"});
    CHECK(fs::is_empty(victim.directory() / "trash"));
    CHECK(daemon.ask("GET", "/v1/health").status == 200);
}

TEST_CASE("A user whom the daemon's user namespace does not know is nobody: not even the owner of what he owns") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Place place;
    const fs::path output = place.scratch.path() / "output";
    if (test::start("/usr/bin/unshare", {"--user", "--map-root-user", "true"}, {.output = output}).wait() != 0)
        SKIP("no user namespaces here");
    {
        Broker broker(place.scratch.broker(), Broker::Mode::open_or_create);
        TopicOptions options = test::small_topic();
        options.access = {kAlice, kAlice, 0600};
        broker.create_topic("hers", options);
        options.access = {0, 0, 0666};
        broker.create_topic("everybodys", options);
    }
    // inside, all files of Alice seem to be user 65534's, and so does Bob
    const test::Child daemon = test::start("/usr/bin/unshare", {"--user", "--map-root-user", RINGMAIN_DAEMON_PATH, "-d", place.scratch.broker().string()},
                                           {.output = output});
    REQUIRE(test::eventually([&] { return test::is_healthy(place.socket()); }));
    const std::string limit = R"({"retention":{"records":50}})";
    CHECK(place.status_for(kBob, {}, "PATCH", "/v1/topics/everybodys", limit) == 200);
    CHECK(place.status_for(kBob, {}, "PATCH", "/v1/topics/hers", limit) >= 400);
    CHECK(place.status_for(kBob, {}, "PATCH", "/v1/topics/hers", R"({"access":{"mode":"0666"}})") >= 400);
    CHECK(place.status_for(kBob, {}, "DELETE", "/v1/topics/hers") >= 400);
    CHECK(Broker(place.scratch.broker()).describe_topic("hers").options.retention == Retention{});
}
