// A broker directory on hugetlbfs: every file is whole huge pages, and too few of them are an error at creation.
#include <fcntl.h>
#include <linux/mman.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <string>

#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;

namespace {

constexpr std::uint64_t kHugePageBytes = std::uint64_t{2} << 20;
constexpr std::uint64_t kPagesMax = 32;
constexpr int kRefused = 77;  // a child's exit code: no mount for us

/// Lets the kernel give out huge pages on demand while it lives; none is held when nobody uses it. One at a time on the
/// machine: the number is everybody's, and a test must not take the pages of another.
class HugePages {
public:
    HugePages() : lock_(::open(kFile, O_RDONLY | O_CLOEXEC)) {
        if (lock_ < 0 || ::flock(lock_, LOCK_EX) != 0)
            return;
        before_ = number();
        if (before_)
            write(*before_ + kPagesMax);
    }
    ~HugePages() {
        if (before_)
            write(*before_);
        if (lock_ >= 0)
            ::close(lock_);
    }
    HugePages(const HugePages&) = delete;
    HugePages& operator=(const HugePages&) = delete;

    /// The number is a promise; memory in small pieces can break it.
    [[nodiscard]] bool granted() const {
        if (!before_ || number() != *before_ + kPagesMax)
            return false;
        const std::size_t bytes = kPagesMax * kHugePageBytes;
        constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB;
        void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);  // reserves every page
        return pages != MAP_FAILED && ::munmap(pages, bytes) == 0;
    }

private:
    // the kernel's file of this page size: the default size of the machine may be another
    static constexpr const char* kFile = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages";
    static std::optional<std::uint64_t> number() {
        std::uint64_t value = 0;
        std::ifstream file(kFile);
        return file >> value ? std::optional(value) : std::nullopt;
    }
    static void write(std::uint64_t value) { std::ofstream(kFile) << value; }
    int lock_;
    std::optional<std::uint64_t> before_;
};

/// Runs `body` in a child that has `pages` huge pages mounted at `directory`, for nobody else; gone with the child.
int run_on_huge_pages(const std::filesystem::path& directory, std::uint64_t pages, const std::function<int()>& body) {
    test::Child child([&] {
        if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
            return kRefused;
        const std::string options = "pagesize=2M,size=" + std::to_string(pages * kHugePageBytes);
        if (::mount("none", directory.c_str(), "hugetlbfs", 0, options.c_str()) != 0)
            return kRefused;
        try {
            return body();
        } catch (const std::exception& error) {
            std::cerr << error.what() << '\n';
            throw;
        }
    });
    return child.wait();
}

int publish_and_read_back(const std::filesystem::path& directory) {
    Broker broker(directory, Broker::Mode::open_or_create);
    broker.ensure_topic("events", {.partitions = 2, .records = 1024, .payload_bytes = 1 << 20});
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
        if (entry.is_regular_file() && entry.file_size() % kHugePageBytes != 0)
            return 1;
    }
    const Broker again(directory);
    Producer producer(again, "events");
    Consumer consumer(again);
    consumer.assign("events", Position::earliest());
    const std::string value(5000, 'v');
    for (int i = 0; i < 100; ++i) {
        if (producer.publish({.value = as_bytes(value)}).status != Status::ok)
            return 2;
    }
    std::size_t read = 0;
    for (PollResult result = consumer.poll(); !result.records.empty(); result = consumer.poll()) {
        for (const ConsumerRecord& record : result.records)
            read += as_text(*record.value) == value ? 1 : 0;
    }
    if (read != 100)
        return 3;
    broker.delete_topic("events");
    return broker.list_topics().empty() ? 0 : 4;
}

/// As a message has it: "…: N bytes needed"; 1 if there is none.
std::uint64_t bytes_needed(const std::string& text) {
    const std::size_t end = text.find(" bytes needed");
    const std::size_t begin = text.rfind(' ', end - 1);
    return end == std::string::npos || begin == std::string::npos ? 1 : std::stoull(text.substr(begin, end - begin));
}

int create_too_large(const std::filesystem::path& directory) {
    Broker broker(directory, Broker::Mode::open_or_create);
    try {
        broker.ensure_topic("events", {.payload_bytes = std::uint64_t{64} << 20});
        return 1;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::no_space || bytes_needed(error.what()) % kHugePageBytes != 0) {
            std::cerr << error.what() << '\n';
            return 2;
        }
    }
    broker.ensure_topic("small", {.records = 128, .payload_bytes = 0});  // nothing is left of the other
    return 0;
}

int truncate_under_producer(const std::filesystem::path& directory) {
    survive_truncation();
    Broker broker(directory, Broker::Mode::open_or_create);
    broker.ensure_topic("events", {.partitions = 2, .records = 1024, .payload_bytes = std::uint64_t{4} << 20});
    Producer producer(broker, "events");
    const std::string value(5000, 'v');
    const auto publish = [&](std::uint32_t partition) { return producer.publish({.value = as_bytes(value), .partition = partition}).status; };
    if (publish(0) != Status::ok || publish(1) != Status::ok)
        return 1;
    std::filesystem::resize_file(directory / "topics" / "events" / "0.log", kHugePageBytes);  // the control words stay
    for (int i = 0; i < 2'000; ++i) {
        if (publish(0) == Status::corrupt)
            return publish(0) == Status::corrupt && publish(1) == Status::ok ? 0 : 2;
    }
    return 3;
}

}  // namespace

TEST_CASE("a producer that has the guard lives when a file of huge pages is truncated") {
    const HugePages pages;
    if (!pages.granted())
        SKIP("no huge pages of 2 MiB can be had here");
    const test::ScratchDirectory scratch;
    const int code = run_on_huge_pages(scratch.path(), kPagesMax, [&] { return truncate_under_producer(scratch.broker()); });
    if (code == kRefused)
        SKIP("hugetlbfs cannot be mounted here");
    CHECK(code == 0);
}

TEST_CASE("a broker directory on hugetlbfs has files of whole huge pages and serves like any other") {
    const HugePages pages;
    if (!pages.granted())
        SKIP("no huge pages of 2 MiB can be had here");
    const test::ScratchDirectory scratch;
    const int code = run_on_huge_pages(scratch.path(), kPagesMax, [&] { return publish_and_read_back(scratch.broker()); });
    if (code == kRefused)
        SKIP("hugetlbfs cannot be mounted here");
    CHECK(code == 0);
}

TEST_CASE("too few huge pages are an error at creation that leaves nothing") {
    const HugePages pages;
    if (!pages.granted())
        SKIP("no huge pages of 2 MiB can be had here");
    const test::ScratchDirectory scratch;
    const int code = run_on_huge_pages(scratch.path(), 12, [&] { return create_too_large(scratch.broker()); });
    if (code == kRefused)
        SKIP("hugetlbfs cannot be mounted here");
    CHECK(code == 0);
}
