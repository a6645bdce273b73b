// Getting rid of a topic whose files are damaged: it is deleted, and can be made anew.
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "ringmain/broker.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/test_broker.hpp"
#include "topic_files.hpp"
#include "topic_meta.hpp"
#include "topic_paths.hpp"

namespace ringmain::test {

namespace fs = std::filesystem;

namespace {

TopicOptions small() {
    TopicOptions options;
    options.records = 64;
    options.producer_slots = 2;
    options.payload_bytes = 0;
    return options;
}

void overwrite(const fs::path& file, std::streamoff at, const std::string& bytes) {
    std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
        .seekp(at)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

TEST_CASE("A topic whose state names no client is not deleted, and can be") {
    const std::uint64_t state = GENERATE(std::uint64_t{1}, std::uint64_t{1} << 32, ~std::uint64_t{0});
    TestBroker place;
    place.broker.create_topic("t", small());
    {
        const platform::Mapping meta(meta_path(topics_path(place.scratch.broker()) / "t"), platform::Access::read_write,
                                     layout::kTopicFileBytes);
        topic_meta(meta).state.store(state, std::memory_order_release);
    }
    CHECK(place.broker.list_topics() == std::vector<std::string>{"t"});
    Producer producer(place.broker, "t");
    place.broker.delete_topic("t");
    CHECK(place.broker.list_topics().empty());
    CHECK(producer.publish({.value = as_bytes("x")}).status == Status::topic_deleted);
    place.broker.create_topic("t", small());
    CHECK(Producer(place.broker, "t").publish({.value = as_bytes("x")}).status == Status::ok);
}

TEST_CASE("A topic is deleted whichever of its files is damaged, and can be made anew") {
    const std::string file = GENERATE("topic.meta", "readers", "groups", "0.log");
    using Damage = std::function<void(const fs::path&)>;
    const std::pair<const char*, Damage> damages[] = {
        {"emptied", [](const fs::path& path) { fs::resize_file(path, 0); }},
        {"cut", [](const fs::path& path) { fs::resize_file(path, 100); }},
        {"without a header", [](const fs::path& path) { overwrite(path, 0, std::string(64, '\0')); }},
        {"with another header", [](const fs::path& path) { overwrite(path, 12, "\x63"); }},
        {"of another version", [](const fs::path& path) { overwrite(path, 8, "\x63"); }},
        {"incomplete", [](const fs::path& path) { overwrite(path, 60, std::string(4, '\0')); }},
        {"of another topic", [](const fs::path& path) { overwrite(path, 32, "sixteen letters!"); }},
        {"with other options", [](const fs::path& path) { overwrite(path, 64, std::string(256, '\xff')); }},
    };
    for (const auto& [what, damage] : damages) {
        INFO(file << " " << what);
        TestBroker place;
        place.broker.create_topic("t", small());
        damage(topics_path(place.scratch.broker()) / "t" / file);
        place.broker.delete_topic("t");
        CHECK(place.broker.list_topics().empty());
        place.broker.create_topic("t", small());
        CHECK(Producer(place.broker, "t").publish({.value = as_bytes("x")}).status == Status::ok);
        CHECK(place.broker.verify().damage.empty());
        CHECK(fs::is_empty(trash_path(place.scratch.broker())));
    }
}

}  // namespace ringmain::test
