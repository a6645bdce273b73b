// The topic that dead letters go to: made, found, and refused with the reason.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "broker_impl.hpp"
#include "dead_letter_headers.hpp"
#include "dead_letter_topic.hpp"
#include "file_stamp.hpp"
#include "group_table/creation.hpp"
#include "layout/work.hpp"
#include "platform/files.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/producer.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/group_place.hpp"
#include "support/syscall_tracer.hpp"
#include "support/test_broker.hpp"
#include "work_table/work_words.hpp"

using namespace ringmain;
using test::contains;
using test::thrown_by;

namespace {

struct Place : test::TestBroker {
    Place() { make("orders"); }

    static TopicOptions small(std::uint32_t partitions = 2) {
        TopicOptions options;
        options.partitions = partitions;
        options.records = 64;
        options.producer_slots = 2;
        options.cell_bytes = 64;
        options.payload_bytes = 1 << 16;
        return options;
    }
    void make(const std::string& name, const TopicOptions& options = small()) { broker.create_topic(name, options); }

    [[nodiscard]] std::shared_ptr<const TopicFiles> open(const std::string& name) const {
        return broker.impl()->open_topic(name);
    }
    [[nodiscard]] DeadLetterTopic provide(const std::string& wanted = "", const std::string& origin = "orders") const {
        return provide_dead_letter_topic(broker.impl(), *open(origin), "billing", wanted);
    }
    [[nodiscard]] test::Thrown refusal(const std::string& wanted, const std::string& origin = "orders") const {
        return thrown_by([&] { return provide(wanted, origin); });
    }
    [[nodiscard]] GroupDescription letters_group(const std::string& topic) const {
        return GroupAdmin(broker).describe(topic, kDeadLettersGroup);
    }

    /// A group of `topic` whose letters go to `letters`, as a queue or a runner leaves it.
    void send_letters(const std::string& topic, const std::string& group, const std::string& letters,
                      std::uint64_t born_off_by = 0) const {
        const auto files = open(topic);
        group_table::GroupOptions options;
        options.kind = group_table::GroupKind::queue;
        const auto found =
            group_table::GroupCreation<platform::HostMemory>(files->groups(), broker.impl()->client().word())
                .find_or_create(
                    group, options, [](std::uint32_t) { return 0; }, [](std::uint64_t) { return false; });
        REQUIRE(found.status == group_table::FindStatus::created);
        const std::filesystem::path queue =
            files->directory() / "queues" / (std::to_string(found.group.slot) + "-" + std::to_string(found.group.born));
        std::filesystem::create_directories(queue);
        const platform::Mapping file = platform::create_file(queue / "workers", layout::kWorkersFileBytes);
        write_stamp(file, layout::FileKind::workers, files->id());
        auto& settings = *reinterpret_cast<layout::WorkSettings*>(file.data() + layout::kWorkSettingsAt);
        settings.group_born = found.group.born + born_off_by;
        settings.group_slot = found.group.slot;
        settings.letters_name_length = static_cast<std::uint32_t>(letters.size());
        std::copy_n(letters.begin(), std::min(letters.size(), settings.letters_name.size()),
                    settings.letters_name.begin());
        mark_ready(file);
    }
};

}  // namespace

TEST_CASE("A dead-letter topic is created with room for the largest letters, and keeps them") {
    const Place place;
    const DeadLetterTopic letters = place.provide();
    CHECK(letters.name == "orders.dlq");
    CHECK(letters.partitions == 2);

    const TopicDescription made = place.broker.describe_topic("orders.dlq");
    const TopicDescription origin = place.broker.describe_topic("orders");
    CHECK(made.id == letters.id);
    CHECK(made.options.partitions == 2);
    CHECK(made.options.when_full == WhenFull::block);
    CHECK(made.options.records == 64);
    CHECK(made.record_bytes_max >= origin.record_bytes_max + kLetterHeadersBytesMax);
    CHECK(made.retained_payload_bytes >= 32 * 1024);

    const GroupDescription group = place.letters_group("orders.dlq");
    CHECK(group.gating);
    for (const GroupPartitionDescription& partition : group.partitions) {
        CHECK(partition.gates);
        CHECK(partition.lag.position == 0);
    }
}

TEST_CASE("A dead-letter topic is found again, by its name or by another group") {
    const Place place;
    const DeadLetterTopic first = place.provide();
    CHECK(place.provide().id == first.id);
    CHECK(place.provide("orders.dlq").id == first.id);
    const DeadLetterTopic other = place.provide("lost-and-found");
    CHECK(other.name == "lost-and-found");
    CHECK(other.id != first.id);
    CHECK(place.broker.list_topics() == std::vector<std::string>{"lost-and-found", "orders", "orders.dlq"});
}

TEST_CASE("Dead-letter topics of all sizes of origins have legal options") {
    for (const std::uint32_t slots : {1U, 2U, 32U, 1024U}) {
        for (const std::uint64_t payload : {std::uint64_t{0}, std::uint64_t{1} << 24, std::uint64_t{1} << 30}) {
            TopicOptions origin;
            origin.producer_slots = slots;
            origin.records = std::max<std::uint64_t>(kRecordsMin, 4 * slots);
            origin.payload_bytes = payload;
            const TopicOptions options = dead_letter_topic_options("t", origin);
            CHECK_NOTHROW(check_topic_options("t.dlq", options));
            CHECK(options.records <= 4096);
            CHECK(record_bytes_max(geometry_for(options)) >=
                  record_bytes_max(geometry_for(origin)) + kLetterHeadersBytesMax);
        }
    }
    TopicOptions largest;
    largest.producer_slots = 1;
    largest.payload_bytes = std::uint64_t{2} << 30;  // records of 1 GiB
    const auto refused = thrown_by([&] { return dead_letter_topic_options("films", largest); });
    CHECK(refused.code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.text,
               contains("films") && contains("1073741824") && contains(std::to_string(kLetterHeadersBytesMax)));
}

TEST_CASE("A dead-letter topic that would be named too long has to be named") {
    Place place;
    const std::string longest(kTopicNameMax, 'x');
    place.make(longest);
    const auto refused = place.refusal("", longest);
    CHECK(refused.code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.text, contains("253 bytes") && contains("249"));
    CHECK(place.provide("short", longest).name == "short");
    CHECK(place.refusal("a/b").code == ErrorCode::invalid_argument);
}

TEST_CASE("Letters do not go to the topic that they come from") {
    const Place place;
    const auto refused = place.refusal("orders");
    CHECK(refused.code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.text, contains("group 'billing' of topic 'orders'") && contains("to topic 'orders'") &&
                                 contains("the topic itself"));
}

TEST_CASE("Letters that would come back are refused, however long the way is") {
    Place place;
    for (const char* name : {"a", "b", "c"})
        place.make(name, dead_letter_topic_options("orders", Place::small()));
    SECTION("at once") {
        place.send_letters("a", "retry", "orders");
        const auto refused = place.refusal("a");
        CHECK(refused.code == ErrorCode::invalid_argument);
        CHECK_THAT(refused.text, contains("'a' (group 'retry') -> 'orders'"));
    }
    SECTION("over two others") {
        place.send_letters("a", "dead end", "nowhere");
        place.send_letters("a", "one", "b");
        place.send_letters("b", "round", "a");
        place.send_letters("b", "two", "c");
        place.send_letters("c", "three", "orders");
        const auto refused = place.refusal("a");
        CHECK(refused.code == ErrorCode::invalid_argument);
        CHECK_THAT(refused.text, contains("'a' (group 'one') -> 'b' (group 'two') -> 'c' (group 'three') -> 'orders'"));
        CHECK(place.refusal("b").code == ErrorCode::invalid_argument);
    }
    SECTION("a round that does not touch the topic is another matter") {
        place.send_letters("a", "one", "b");
        place.send_letters("b", "two", "a");
        CHECK(place.provide("a").name == "a");
    }
    SECTION("what is left of a group that is gone says nothing") {
        place.send_letters("a", "old", "orders", 1);
        CHECK(place.provide("a").name == "a");
    }
    SECTION("nor does a name that cannot be") {
        place.send_letters("a", "odd", std::string(300, 'x'));
        place.send_letters("a", "odder", "../orders");
        std::filesystem::create_directories(place.open("a")->directory() / "queues" / "7-7");
        CHECK(place.provide("a").name == "a");
    }
}

TEST_CASE("A dead-letter topic whose records are too small is refused with all sizes") {
    Place place;
    place.make("same");
    const auto refused = place.refusal("same");
    CHECK(refused.code == ErrorCode::invalid_argument);
    const std::uint64_t record = place.broker.describe_topic("orders").record_bytes_max;
    CHECK_THAT(refused.text, contains("group 'billing' of topic 'orders'") && contains("topic 'same'") &&
                                 contains("at most " + std::to_string(record)) &&
                                 contains(std::to_string(record + kLetterHeadersBytesMax)));
    TopicOptions larger = Place::small();
    larger.payload_bytes *= 2;
    place.make("larger", larger);
    CHECK(place.provide("larger").partitions == 2);
}

TEST_CASE("A dead-letter topic that is held exclusively is refused while it is") {
    Place place;
    place.make("x", dead_letter_topic_options("orders", Place::small()));
    {
        ProducerOptions exclusive;
        exclusive.exclusive = true;
        Producer producer(place.broker, "x", exclusive);
        producer.attach(1);
        const auto refused = place.refusal("x");
        CHECK(refused.code == ErrorCode::busy);
        CHECK_THAT(refused.text, contains("group 'billing' of topic 'orders'") && contains("topic 'x' partition 1") &&
                                     contains("pid " + std::to_string(::getpid())));
    }
    CHECK(place.provide("x").name == "x");

    test::Child([&] {
        Broker own(place.scratch.broker());
        ProducerOptions exclusive;
        exclusive.exclusive = true;
        Producer producer(own, "x", exclusive);
        producer.attach(0);
        ::_exit(0);
        return 0;
    }).wait();
    CHECK(place.provide("x").name == "x");  // whoever held it is dead
}

TEST_CASE("A dead-letter topic whose offsets no ticket can hold is refused") {
    Place place;
    TopicOptions far = dead_letter_topic_options("orders", Place::small());
    far.first_offset = work_table::kTicketMax + 1;
    place.make("far", far);
    const auto refused = place.refusal("far");
    CHECK(refused.code == ErrorCode::invalid_argument);
    CHECK_THAT(refused.text,
               contains("topic 'far' partition 0") && contains("4398046511104") && contains("4398046511103"));
}

TEST_CASE("A topic that overwrites keeps no letters for anybody") {
    Place place;
    TopicOptions options = dead_letter_topic_options("orders", Place::small());
    options.when_full = WhenFull::overwrite;
    place.make("ring", options);
    CHECK(place.provide("ring").name == "ring");
    CHECK(GroupAdmin(place.broker).list("ring").empty());
}

TEST_CASE("A dead-letter topic without a free group cannot keep letters, and says so") {
    Place place;
    TopicOptions options = dead_letter_topic_options("orders", Place::small());
    options.groups = 1;
    place.make("crowded", options);
    Consumer consumer(place.broker, test::group("someone"));
    consumer.subscribe("crowded");
    const auto refused = place.refusal("crowded");
    CHECK(refused.code == ErrorCode::limit);
    CHECK_THAT(refused.text, contains("ringmain.dlq") && contains("crowded") && contains("1 groups"));
}

TEST_CASE("Whoever may use a topic may use its dead-letter topic") {
    Place place;
    TopicOptions options = Place::small();
    options.access.mode = 0640;
    place.make("private", options);
    (void)place.provide("", "private");
    struct stat status {};
    REQUIRE(::stat((place.open("private.dlq")->directory() / "0.log").c_str(), &status) == 0);
    CHECK((status.st_mode & 07777) == 0640);
}

TEST_CASE("A dead-letter topic that this process may not write is refused with its path, owner and mode") {
    if (::geteuid() != 0)
        SKIP("needs root, to become somebody else");
    Place place;
    TopicOptions open_to_all = Place::small();
    open_to_all.access.mode = 0666;
    place.make("shared", open_to_all);
    TopicOptions roots = dead_letter_topic_options("shared", open_to_all);
    roots.access.mode = 0644;
    place.make("roots", roots);
    std::filesystem::permissions(place.scratch.broker() / "clients", std::filesystem::perms(0666));
    const int code =
        test::Child([&] {
            if (::setgid(65'534) != 0 || ::setuid(65'534) != 0)
                return 98;
            const Broker own(place.scratch.broker());
            const auto refused = thrown_by([&] {
                return provide_dead_letter_topic(own.impl(), *own.impl()->open_topic("shared"), "billing", "roots");
            });
            const bool told = refused.code == ErrorCode::permission_denied &&
                              refused.text.find("group 'billing' of topic 'shared'") != std::string::npos &&
                              refused.text.find("roots") != std::string::npos &&
                              refused.text.find("0644") != std::string::npos;
            if (!told)
                std::fprintf(stderr, "%s\n", refused.text.c_str());
            return told ? 0 : 1;
        }).wait();
    CHECK(code == 0);
}

TEST_CASE("Many who want the same dead-letter topic at once all get the one") {
    const Place place;
    std::vector<TopicId> ids(8);
    std::vector<std::thread> threads;
    for (TopicId& id : ids)
        threads.emplace_back([&place, &id] { id = place.provide().id; });
    for (std::thread& thread : threads)
        thread.join();
    for (const TopicId& id : ids)
        CHECK(id == ids.front());
    CHECK(place.letters_group("orders.dlq").gating);
}

TEST_CASE("Killed while it makes a dead-letter topic, at any system call, it leaves nothing in the way") {
    if (!test::can_trace())
        SKIP("needs the right to trace a child");
    const Place place;
    const auto provide = [&] {
        const Broker own(place.scratch.broker());
        (void)provide_dead_letter_topic(own.impl(), *own.impl()->open_topic("orders"), "billing", "");
    };
    std::uint64_t stop = 0;
    for (; test::run_killed_at(stop, provide); stop += 7) {
        const DeadLetterTopic letters = place.provide();
        REQUIRE(place.letters_group(letters.name).gating);
        Broker(place.broker).delete_topic(letters.name);
    }
    CHECK(stop > 100);
}
