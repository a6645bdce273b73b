// Files of another layout, and damaged ones: an error or a normal result, never a crash or a hang.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "layout/clients.hpp"
#include "layout/file_header.hpp"
#include "layout/partition.hpp"
#include "layout/topic.hpp"
#include "ringmain/broker.hpp"
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

TopicOptions small() {
    TopicOptions options;
    options.records = 16;
    options.producer_slots = 2;
    options.cell_bytes = 64;
    options.payload_bytes = 1 << 16;
    return options;
}

// A byte range of a file, open for damage.
class Victim {
public:
    explicit Victim(const fs::path& path) : fd_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {}
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;
    ~Victim() { ::close(fd_); }

    template <class T>
    [[nodiscard]] T get(std::uint64_t at) const {
        T value{};
        REQUIRE(::pread(fd_, &value, sizeof value, static_cast<off_t>(at)) == static_cast<ssize_t>(sizeof value));
        return value;
    }
    template <class T>
    void put(std::uint64_t at, T value) const {
        REQUIRE(::pwrite(fd_, &value, sizeof value, static_cast<off_t>(at)) == static_cast<ssize_t>(sizeof value));
    }
    // For children, which never assert.
    void flip(std::uint64_t bit) const noexcept {
        std::uint8_t byte = 0;
        (void)!::pread(fd_, &byte, 1, static_cast<off_t>(bit / 8));
        byte = static_cast<std::uint8_t>(byte ^ 1U << bit % 8);
        (void)!::pwrite(fd_, &byte, 1, static_cast<off_t>(bit / 8));
    }

private:
    int fd_;
};

struct TestTopic {
    TestTopic() {
        broker.create_topic("t", small());
        Producer producer(broker, "t");
        const std::string large(1000, 'x');
        const std::array<Header, 1> headers = {{{"name", as_bytes("value")}}};
        for (int i = 0; i < 24; ++i) {
            ProducerRecord record;
            record.value = as_bytes(i % 3 == 0 ? std::string_view(large) : std::string_view("small"));
            if (i % 2 == 0)
                record.key = as_bytes("key");
            if (i % 4 == 0)
                record.headers = headers;
            if (producer.publish(record).status != Status::ok)
                throw std::runtime_error("publish failed");
        }
    }
    [[nodiscard]] fs::path file(const char* name) const { return topics_path(scratch.broker()) / "t" / name; }

    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
};

// What is told of the topic, or of its one partition: damage there concerns whoever uses it.
test::Thrown trouble_of(const Broker& broker) {
    return thrown_by([&] {
        if (!broker.describe_topic("t").partitions.at(0).damage.empty())
            Producer(broker, "t");
        return 0;
    });
}

ErrorCode code_of_trouble(const Broker& broker) { return trouble_of(broker).code.value_or(ErrorCode::io); }

// What a user may do with a damaged topic. Only `Error` may come out, and within 2 s.
bool survives_use(const Broker& broker) {
    const auto before = std::chrono::steady_clock::now();
    (void)broker.list_topics();
    (void)broker.verify();
    (void)thrown_by([&] { return broker.describe_topic("t"); });
    (void)thrown_by([&] { return broker.dump("t", 0, 20); });
    return std::chrono::steady_clock::now() - before < std::chrono::seconds(2);
}

struct Range {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
};

// Flips each bit of the ranges alone, in a child. 0: every time an Error or a normal result.
int flip_every_bit(const Broker& broker, const fs::path& file, const std::vector<Range>& ranges) {
    Child child([&] {
        const Broker own(broker.directory());
        const Victim victim(file);
        for (const Range& range : ranges) {
            for (std::uint64_t bit = range.at * 8; bit < (range.at + range.bytes) * 8; ++bit) {
                victim.flip(bit);
                const bool survived = survives_use(own);
                victim.flip(bit);
                if (!survived)
                    return 1;
            }
        }
        return own.verify().damage.empty() ? 0 : 2;
    });
    return child.wait(std::chrono::seconds(100));
}

}  // namespace

TEST_CASE("M01 Files of another layout are refused with both versions or both fingerprints") {
    for (const char* const name : {"topic.meta", "readers", "0.log"}) {
        for (const int step : {-1, 1}) {
            const TestTopic t;
            const Victim victim(t.file(name));
            INFO(name << " " << step);
            const auto version = victim.get<std::uint32_t>(offsetof(layout::FileHeader, layout_version));
            victim.put(offsetof(layout::FileHeader, layout_version), version + static_cast<std::uint32_t>(step));
            test::Thrown thrown = trouble_of(t.broker);
            CHECK(thrown.code == ErrorCode::version_mismatch);
            CHECK_THAT(thrown.text,
                       test::contains("layout version " + std::to_string(version + static_cast<std::uint32_t>(step))));
            CHECK_THAT(thrown.text, test::contains("this library has layout version " + std::to_string(version)));
            victim.put(offsetof(layout::FileHeader, layout_version), version);

            const auto fingerprint = victim.get<std::uint64_t>(offsetof(layout::FileHeader, fingerprint));
            victim.put(offsetof(layout::FileHeader, fingerprint), fingerprint + static_cast<std::uint64_t>(step));
            thrown = trouble_of(t.broker);
            CHECK(thrown.code == ErrorCode::version_mismatch);
            CHECK_THAT(thrown.text, test::contains("fingerprint"));
        }
    }
}

TEST_CASE("M01 A broker directory of another layout is refused as a whole") {
    const TestTopic t;
    const Victim victim(clients_path(t.scratch.broker()));
    victim.put(offsetof(layout::FileHeader, layout_version), layout::kLayoutVersion + 1);
    const auto open = [&] { return Broker(t.scratch.broker(), Broker::Mode::open_or_create); };
    CHECK(thrown_by(open).code == ErrorCode::version_mismatch);
}

TEST_CASE("M02 Empty, short, random and foreign files are refused") {
    const TestTopic t;
    for (const char* const name : {"topic.meta", "readers", "0.log"}) {
        INFO(name);
        const fs::path saved = t.scratch.path() / "saved";
        fs::copy_file(t.file(name), saved, fs::copy_options::overwrite_existing);
        for (const std::uintmax_t size :
             {std::uintmax_t{0}, std::uintmax_t{1}, std::uintmax_t{63}, std::uintmax_t{64}, std::uintmax_t{4096},
              fs::file_size(saved) - 1, fs::file_size(saved) + 4096}) {
            if (size == fs::file_size(saved))
                continue;
            fs::resize_file(t.file(name), size);
            CHECK(code_of_trouble(t.broker) == ErrorCode::corrupt);
            fs::copy_file(saved, t.file(name), fs::copy_options::overwrite_existing);
        }
        std::ofstream(t.file(name), std::ios::binary) << std::string(fs::file_size(saved), '\x5a');
        CHECK(code_of_trouble(t.broker) == ErrorCode::corrupt);
        fs::remove(t.file(name));
        CHECK(code_of_trouble(t.broker) ==
              (std::string(name) == "topic.meta" ? ErrorCode::not_found : ErrorCode::corrupt));
        fs::copy_file(saved, t.file(name));
        CHECK(t.broker.describe_topic("t").partitions.size() == 1);
    }
}

TEST_CASE("M02 A file of another topic in the place of one's own is refused") {
    const TestTopic t;
    Broker broker(t.scratch.broker());
    broker.create_topic("other", small());
    for (const char* const name : {"readers", "0.log"}) {
        const fs::path saved = t.scratch.path() / "saved";
        fs::rename(t.file(name), saved);
        fs::copy_file(topics_path(t.scratch.broker()) / "other" / name, t.file(name));
        CHECK(code_of_trouble(t.broker) == ErrorCode::corrupt);
        fs::rename(saved, t.file(name));
    }
}

TEST_CASE("M02 A flipped bit in topic.meta is an error or changes nothing that matters") {
    const TestTopic t;
    // all of it but the unused ends of the names
    CHECK(flip_every_bit(t.broker, t.file("topic.meta"),
                         {{0, layout::kTopicMetaAt + offsetof(layout::TopicMeta, name) + 8},
                          {layout::kTopicMetaAt + offsetof(layout::TopicMeta, retention_age_ms), 24}}) == 0);
}

TEST_CASE("M02 A flipped bit in a partition's header, control words, producers and extent words is survived") {
    const TestTopic t;
    using Producer = layout::ProducerEntry<platform::HostMemory>;
    std::vector<Range> ranges = {{0, sizeof(layout::FileHeader) + sizeof(layout::PartitionGeometry)}};
    for (const std::uint64_t word : {0U, 128U, 256U, 384U, 512U, 520U, 528U, 536U})
        ranges.push_back({layout::kControlAt + word, 8});
    for (const std::uint64_t ring : {0U, 3200U})
        ranges.push_back({layout::kMarksAt + ring, 8});
    ranges.push_back({layout::kProducersAt, 32});
    ranges.push_back({layout::kProducersAt + 2 * sizeof(Producer), 4 * 8});
    CHECK(flip_every_bit(t.broker, t.file("0.log"), ranges) == 0);
}

TEST_CASE("M02 A flipped bit in the header or the location of a cell is survived") {
    const TestTopic t;
    const auto cells_at =
        Victim(t.file("0.log"))
            .get<std::uint64_t>(sizeof(layout::FileHeader) + offsetof(layout::PartitionGeometry, cells_at));
    std::vector<Range> ranges;
    for (std::uint64_t cell = 0; cell < 16; cell += 3)
        ranges.push_back({cells_at + cell * 64, layout::kCellHeaderBytes + 8});
    CHECK(flip_every_bit(t.broker, t.file("0.log"), ranges) == 0);
}

TEST_CASE("M02 A flipped bit in the readers' file is survived") {
    const TestTopic t;
    std::vector<Range> ranges = {{0, sizeof(layout::FileHeader)}};
    for (const std::uint64_t word : {0U, 128U, 256U, 264U})
        ranges.push_back({layout::kReadersAt + word, 8});
    ranges.push_back({layout::kReadersAt + 384, 24});
    CHECK(flip_every_bit(t.broker, t.file("readers"), ranges) == 0);
}

TEST_CASE("M02 A flipped bit in the client table is survived") {
    const TestTopic t;
    const fs::path clients = clients_path(t.scratch.broker());
    Child child([&] {
        const Broker own(t.scratch.broker());
        const Victim victim(clients);
        for (std::uint64_t bit = 0; bit < sizeof(layout::FileHeader) * 8; ++bit) {
            victim.flip(bit);
            (void)thrown_by([&] { return Broker(t.scratch.broker()); });
            victim.flip(bit);
        }
        for (std::uint64_t bit = layout::kClientsAt * 8; bit < (layout::kClientsAt + 256) * 8; ++bit) {
            victim.flip(bit);
            if (!survives_use(own))
                return 1;
            victim.flip(bit);
        }
        return 0;
    });
    CHECK(child.wait(std::chrono::seconds(60)) == 0);
}

TEST_CASE("M02 Verify names the file and the finding of visible damage") {
    const TestTopic t;
    const Victim victim(t.file("0.log"));
    REQUIRE(t.broker.verify().damage.empty());
    const auto log_end = victim.get<std::uint64_t>(layout::kControlAt);
    victim.put(layout::kControlAt, log_end + (std::uint64_t{1} << 40));
    const VerifyReport report = t.broker.verify("t");
    REQUIRE_FALSE(report.damage.empty());
    CHECK(report.damage[0].file == t.file("0.log").string());
    CHECK_THAT(report.damage[0].what, test::contains("more than a lap ahead"));
}
