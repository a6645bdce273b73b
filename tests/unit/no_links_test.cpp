// No symbolic link is followed in a broker directory, whether the kernel helps or not.
#include "platform/no_links.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "platform/file_lock.hpp"
#include "platform/files.hpp"
#include "platform/mapping.hpp"
#include "platform/rights.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace ringmain::platform;

namespace {

namespace fs = std::filesystem;

/// `real/inner/file`, and `link` that leads to `real`.
struct Place {
    test::ScratchDirectory scratch;
    fs::path real = scratch.path() / "real";
    fs::path link = scratch.path() / "link";

    Place() {
        fs::create_directories(real / "inner");
        std::ofstream(real / "inner" / "file") << "text";
        fs::create_directory_symlink(real, link);
        fs::create_symlink(real / "inner" / "file", real / "inner" / "alias");
    }
};

bool opens(const fs::path& path, int flags) {
    const Descriptor file(open_without_links(path, flags));
    return static_cast<bool>(file);
}

/// Empty if all is as it must be; else what is not.
std::string opening(const Place& place) {
    std::string wrong;
    const auto expect = [&](bool right, const char* what) { wrong += right ? "" : std::string(what) + "; "; };
    expect(opens(place.real / "inner" / "file", O_RDONLY), "a file");
    expect(opens(place.real / "inner", O_RDONLY | O_DIRECTORY), "a directory");
    expect(opens(place.real / "inner" / "..", O_PATH | O_DIRECTORY), "the directory above");
    expect(opens("/", O_PATH | O_DIRECTORY), "the root");
    expect(!opens(place.link / "inner" / "file", O_RDONLY) && errno == ELOOP, "a link on the way");
    expect(!opens(place.real / "inner" / "alias", O_RDONLY) && errno == ELOOP, "a link at the end");
    expect(!opens(place.link, O_RDONLY | O_DIRECTORY), "a link to a directory");
    expect(!opens(place.real / "inner" / "file" / "x", O_RDONLY) && errno == ENOTDIR, "a file on the way");
    expect(!opens(place.real / "nothing" / "x", O_RDONLY) && errno == ENOENT, "nothing on the way");
    expect(!opens(place.real / "nothing", O_RDONLY) && errno == ENOENT, "nothing at the end");
    const Descriptor made(open_without_links(place.real / "made", O_CREAT | O_EXCL | O_RDWR, 0640));
    struct stat status {};
    expect(made && ::fstat(made.get(), &status) == 0 && (status.st_mode & 0777U & ~0640U) == 0, "a new file");
    return wrong;
}

/// From now on openat2 is not known in this process.
bool forget_openat2() {
    constexpr unsigned kNumber = 437;
    std::array<sock_filter, 4> program{
        {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kNumber, 0, 1),
         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
    sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

TEST_CASE("no_links: a path is opened unless a link lies on it") {
    const Place place;
    CHECK(opening(place) == "");
}

TEST_CASE("no_links: the same on a kernel that does not know openat2") {
    const Place place;
    test::Child child([&] {
        if (!forget_openat2())
            return 2;
        const std::string wrong = opening(place);
        std::fputs(wrong.c_str(), stderr);
        return wrong.empty() ? 0 : 1;
    });
    const int code = child.wait();
    if (code == 2)
        SKIP("the kernel does not let a process filter its system calls");
    CHECK(code == 0);
}

TEST_CASE("no_links: nothing is made, changed, moved, removed or read through a link") {
    const Place place;
    const fs::path inner = place.link / "inner";
    CHECK_THROWS_AS(create_file(inner / "new", 4096), Error);
    CHECK_THROWS_AS(platform::create_directory(inner / "new"), Error);
    CHECK_THROWS_AS(link_file(inner / "file", place.scratch.path() / "hard"), Error);
    CHECK_THROWS_AS(link_file(place.real / "inner" / "file", inner / "hard"), Error);
    CHECK_THROWS_AS(rename_directory(inner, place.scratch.path() / "moved"), Error);
    fs::create_directory(place.scratch.path() / "mine");
    CHECK_THROWS_AS(rename_directory(place.scratch.path() / "mine", place.link / "mine"), Error);
    CHECK_FALSE(remove_file(inner / "file"));
    CHECK_FALSE(remove_directory(inner));
    CHECK_THROWS_AS(names_in(place.link), Error);
    CHECK_THROWS_AS(names_in(inner), Error);
    CHECK(read_text(inner / "file", 10).empty());
    replace_text(inner / "file", "other");
    CHECK_THROWS_AS(identity_of(inner / "file"), Error);
    CHECK_THROWS_AS(Mapping(inner / "file", Access::read_only, 1), Error);
    CHECK_THROWS_AS(FileLock(inner / "file"), Error);
    CHECK_THROWS_AS(set_rights(inner, {{}, {}, 0600}), Error);
    CHECK_THROWS_AS(set_mode(inner / "file", 0600), Error);
    CHECK(kind_of(place.link) == PathKind::other);
    CHECK(names_in(place.real) == std::vector<std::string>{"inner"});
    CHECK(read_text(place.real / "inner" / "file", 10) == "text");
    try {
        (void)create_file(inner / "new", 4096);
    } catch (const Error& error) {
        CHECK_THAT(error.what(), test::contains("a symbolic link lies on the way, and none is followed"));
    }
}

TEST_CASE("no_links: a broker directory may be reached over links, and nothing in it may be one") {
    const Place place;
    const fs::path given = place.link / "broker";
    Broker broker(given, Broker::Mode::open_or_create);
    CHECK(broker.directory() == place.real / "broker");
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    broker.create_topic("t", options);
    Broker victim(place.scratch.path() / "victim", Broker::Mode::open_or_create);
    victim.create_topic("v", options);
    for (const char* const name : {"topics", "staging", "trash"}) {
        fs::rename(broker.directory() / name, place.scratch.path() / "aside");
        fs::create_directory_symlink(victim.directory() / name, broker.directory() / name);
        if (name == std::string("trash")) {
            broker.create_topic("gone", options);
            CHECK_THROWS_AS(broker.delete_topic("gone"), Error);
        } else {
            CHECK_THROWS_AS(broker.create_topic("new", options), Error);
        }
        if (name == std::string("topics")) {
            CHECK_THROWS_AS(broker.delete_topic("v"), Error);
            CHECK_THROWS_AS(broker.set_access("v", {{}, {}, 0600}), Error);
            CHECK_THROWS_AS(broker.set_retention("v", {{}, 1, 0}), Error);
            CHECK_THROWS_AS(Producer(broker, "v"), Error);
        }
        Keeper keeper(broker);
        for (int i = 1; i <= 5; ++i)
            (void)keeper.do_work(i * std::chrono::seconds(1));
        fs::remove(broker.directory() / name);
        fs::rename(place.scratch.path() / "aside", broker.directory() / name);
    }
    CHECK(victim.list_topics() == std::vector<std::string>{"v"});
    CHECK(names_in(victim.directory() / "staging").empty());
    CHECK(names_in(victim.directory() / "trash").empty());
    CHECK(victim.describe_topic("v").options.retention == Retention{});
    CHECK(broker.list_topics() == std::vector<std::string>{"t"});
    broker.create_topic("gone", options);
    broker.create_topic("new", options);
    broker.delete_topic("t");
}
