// SIGKILL before and after every system call of making a broker, creating and deleting a topic: nothing needs a manual
// rm.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "broker_impl.hpp"
#include "platform/files.hpp"
#include "ringmain/broker.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"
#include "support/syscall_tracer.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using test::run_killed_at;
using test::ScratchDirectory;
using test::thrown_by;

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

TopicOptions small() {
    TopicOptions options;
    options.records = 16;
    options.producer_slots = 1;
    options.payload_bytes = 0;
    return options;
}

// Empty if the broker directory holds what it should and no more.
std::string leftovers(const fs::path& broker) {
    std::string found;
    for (const auto& directory : {staging_path(broker), trash_path(broker)}) {
        for (const std::string& name : platform::names_in(directory))
            found += directory.filename().string() + "/" + name + " ";
    }
    const Names own = {"clients", "keeper.lock", "staging", "topics", "topics.lock", "trash"};
    Names names = platform::names_in(broker);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
        if (std::find(own.begin(), own.end(), name) == own.end())
            found += name + " ";
    }
    return names.size() < own.size() ? found + "(incomplete)" : found;
}

// Kills `body` at every stop in turn; `check` looks at what is left each time. Returns the number of kills.
std::uint64_t kill_everywhere(const std::function<void()>& body, const std::function<void()>& check) {
    std::uint64_t stop = 0;
    for (; run_killed_at(stop, body); ++stop) {
        INFO("killed at stop " << stop);
        check();
    }
    check();
    return stop;
}

// The killed process's slot in the client table is free again: the next client gets it.
void check_no_slot_lost(const fs::path& broker, const layout::ClientId& observer) {
    Broker next(broker);
    CHECK(next.impl()->client().slot <= observer.slot + 1);
}

}  // namespace

TEST_CASE("E01 A creation killed anywhere leaves no topic or a whole one, and the name is free") {
    if (!test::can_trace())
        SKIP("needs the right to trace");
    const ScratchDirectory scratch;
    Broker observer(scratch.broker(), Broker::Mode::open_or_create);
    const layout::ClientId me = observer.impl()->client();
    int whole = 0;
    const auto create = [&] { Broker(scratch.broker()).create_topic("t", small()); };
    const auto check = [&] {
        const Names listed = observer.list_topics();
        if (!listed.empty()) {
            ++whole;
            REQUIRE(listed == Names{"t"});
            REQUIRE(observer.verify("t").damage.empty());
            observer.delete_topic("t");
        }
        observer.create_topic("t", small());
        REQUIRE(observer.verify("t").damage.empty());
        REQUIRE(leftovers(scratch.broker()).empty());  // the creation has swept
        check_no_slot_lost(scratch.broker(), me);
        observer.delete_topic("t");
    };
    CHECK(kill_everywhere(create, check) > 60);
    CHECK(whole > 0);
}

TEST_CASE("E01 A deletion killed anywhere leaves the topic whole or gone, and the name usable") {
    if (!test::can_trace())
        SKIP("needs the right to trace");
    const ScratchDirectory scratch;
    Broker observer(scratch.broker(), Broker::Mode::open_or_create);
    (void)observer.impl()->client();
    observer.create_topic("t", small());
    int gone = 0;
    int swept = 0;
    const auto remove = [&] { Broker(scratch.broker()).delete_topic("t"); };
    const auto check = [&] {
        const Names listed = observer.list_topics();
        gone += listed.empty() ? 1 : 0;
        const auto opened = thrown_by([&] { return observer.describe_topic("t"); });
        REQUIRE(opened.code == (listed.empty() ? std::optional(ErrorCode::not_found) : std::nullopt));
        swept += static_cast<int>(observer.impl()->sweep_leftovers());
        REQUIRE(leftovers(scratch.broker()).empty());
        REQUIRE(fs::exists(topics_path(scratch.broker()) / "t") == !listed.empty());
        observer.ensure_topic("t", small());
        REQUIRE(observer.verify("t").damage.empty());
    };
    CHECK(kill_everywhere(remove, check) > 20);
    CHECK(gone > 5);
    CHECK(swept > 5);
}

TEST_CASE("E01 A creation that meets a dead topic and is killed anywhere leaves the name usable") {
    if (!test::can_trace())
        SKIP("needs the right to trace");
    const ScratchDirectory scratch;
    Broker observer(scratch.broker(), Broker::Mode::open_or_create);
    (void)observer.impl()->client();
    const auto replace = [&] {
        Broker broker(scratch.broker());
        broker.delete_topic("t");
        broker.ensure_topic("t", small());
    };
    observer.create_topic("t", small());
    const auto check = [&] {
        observer.ensure_topic("t", small());
        observer.impl()->sweep_leftovers();
        REQUIRE(leftovers(scratch.broker()).empty());
        REQUIRE(observer.verify("t").damage.empty());
    };
    CHECK(kill_everywhere(replace, check) > 80);
}

TEST_CASE("E02 Making a broker killed anywhere leaves something that the next making completes") {
    if (!test::can_trace())
        SKIP("needs the right to trace");
    const ScratchDirectory scratch;
    const auto make = [&] { Broker(scratch.broker(), Broker::Mode::open_or_create); };
    const auto check = [&] {
        const auto opened = thrown_by([&] { return Broker(scratch.broker()); });
        REQUIRE((!opened.code || opened.code == ErrorCode::not_found));
        Broker broker(scratch.broker(), Broker::Mode::open_or_create);
        broker.create_topic("t", small());
        REQUIRE(leftovers(scratch.broker()).empty());
        REQUIRE(Broker(scratch.broker()).list_topics() == Names{"t"});
        fs::remove_all(scratch.broker());
    };
    CHECK(kill_everywhere(make, check) > 60);
}
