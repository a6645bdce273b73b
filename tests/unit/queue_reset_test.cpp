// Resets of queues: new words for each partition, and nothing that the old ones could do to anybody's records.
#include "dead_letter_log.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/queue_place.hpp"
#include "topic_paths.hpp"
#include "work_creation.hpp"
#include "work_settings.hpp"

using namespace ringmain;
using test::contains;
using test::QueuePlace;
using test::TestWorker;
using test::thrown_by;

namespace {

using Offsets = std::vector<std::uint64_t>;

/// Topic t with 20 and 10 records; queue q, whose worker had 0 to 3 of partition 0, and has 2 and 3 still.
struct Place : QueuePlace {
    explicit Place(WhenFull when_full = WhenFull::overwrite, bool gating = false) : QueuePlace(when_full) {
        QueueOptions options = plain();
        options.gating = gating;
        admin->create("t", "q", options);
        topic->publish(0, 20);
        topic->publish(1, 10);
        worker.emplace(broker, "t", "q");
        locks = worker->acquire(4);
        REQUIRE(locks.size() == 4);
        for (int i = 0; i < 2; ++i) REQUIRE(worker->ack(locks[static_cast<std::size_t>(i)]) == work_table::Answer::done);
    }
    [[nodiscard]] Offsets positions() {
        Offsets offsets;
        for (const auto& partition : admin->describe("t", "q").partitions) offsets.push_back(partition.lag.position);
        return offsets;
    }
    [[nodiscard]] std::vector<std::string> files() const { return names_in(work_of("q")); }
    std::optional<TestWorker> worker;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> locks;
};

}  // namespace

TEST_CASE("A reset makes new words: locks of the time before are none any more, and everything from the target on comes again") {
    Place place;
    const ResetPlan plan = place.admin->plan("t", "q", ResetTarget::at(1));
    CHECK((plan.partitions[0].target == 1 && plan.partitions[0].position == 2));
    CHECK(place.positions() == Offsets{2, 0});
    const auto before = place.files();
    const auto done = place.admin->execute(plan, true);
    REQUIRE(done.size() == 2);
    CHECK((done[0].committed == 1 && done[0].generation == plan.partitions[0].generation + 1));
    CHECK(place.positions() == Offsets{1, 1});
    CHECK(place.files().size() == before.size());
    CHECK(place.files() != before);

    CHECK(place.worker->ack(place.locks[2]) == work_table::Answer::fenced);
    CHECK(place.worker->acquire(1).empty());
    place.worker->reopen(0);
    CHECK(place.worker->ack(place.locks[3]) != work_table::Answer::done);
    const auto again = place.worker->acquire(3);
    REQUIRE(again.size() == 3);
    CHECK((again[0].first == 1 && again[2].first == 3));
    const auto partition = place.admin->describe("t", "q").partitions[0];
    CHECK((partition.acquired == 3 && partition.finished == 0 && partition.redelivered == 0));
}

TEST_CASE("A queue with workers is reset only by force, and a plan of other times is refused") {
    Place place;
    const ResetPlan plan = place.admin->plan("t", "q", ResetTarget::earliest());
    const auto busy = thrown_by([&] { return place.admin->execute(plan); });
    CHECK(busy.code == ErrorCode::busy);
    CHECK_THAT(busy.text, contains("worker 0") && contains("to reset it all the same, force it"));
    REQUIRE(place.worker->ack(place.locks[2]) == work_table::Answer::done);
    place.worker->leave();
    const auto moved = thrown_by([&] { return place.admin->execute(plan); });
    CHECK(moved.code == ErrorCode::busy);
    CHECK_THAT(moved.text, contains("partition 0 was at 2 and is at 3"));
    place.admin->execute(place.admin->plan("t", "q", ResetTarget::earliest()));
    CHECK(place.positions() == Offsets{0, 0});
    place.admin->remove("t", "q");
    CHECK(thrown_by([&] { return place.admin->execute(plan); }).code == ErrorCode::not_found);
    place.admin->create("t", "q", QueuePlace::plain());
    CHECK(thrown_by([&] { return place.admin->execute(plan, true); }).code == ErrorCode::mismatch);
}

TEST_CASE("A reset that was killed half-way is finished by the same plan, which leaves alone what it did already") {
    Place place;
    place.worker->leave();
    const ResetPlan plan = place.admin->plan("t", "q", ResetTarget::earliest());
    const auto& groups = place.topic->groups();
    WorkFiles& files = place.worker->files();
    SECTION("before the partition's word was moved") {
        make_words(place.topic->files(), "0-1-7", files.part(0).geometry, plan.partitions[0].generation + 1);
        CHECK(place.files().size() == 4);
    }
    SECTION("before the old file was removed") {
        make_words(place.topic->files(), "0-1-7", files.part(0).geometry, plan.partitions[0].generation + 1);
        group_table::PartitionWord word = groups.word(files.group().slot, 0);
        REQUIRE(groups.change_word(files.group().slot, 0, word, {0, true, false, word.generation + 1, group_table::kQueueOwner}));
    }
    place.admin->execute(plan);
    CHECK(place.positions() == Offsets{0, 0});
    const auto generation = files.generation_now(0);
    TestWorker next(place.broker, "t", "q");
    const auto locks = next.acquire(2);
    REQUIRE(locks.size() == 2);
    CHECK(next.ack(locks[1]) == work_table::Answer::done);
    place.admin->execute(plan, true);
    CHECK(files.generation_now(0) == generation);
    CHECK(next.ack(locks[0]) == work_table::Answer::done);
}

TEST_CASE("A reset waits for no worker: one that stopped in the middle of everything finds out when it goes on") {
    Place place;
    place.admin->execute(place.admin->plan("t", "q", ResetTarget::latest()), true);
    CHECK(place.positions() == Offsets{20, 10});
    CHECK(place.worker->nack(place.locks[2]) == work_table::Answer::fenced);
    CHECK(place.worker->ack(place.locks[3]) == work_table::Answer::fenced);
    CHECK(place.positions() == Offsets{20, 10});
}

TEST_CASE("A queue that gates is not reset below the floor, and gates where it is put") {
    Place place(WhenFull::block, true);
    place.worker->leave();
    (void)partition_log::raise(place.topic->log(0).control->gate_floor, 7, std::memory_order_release);
    const ResetPlan plan = place.admin->plan("t", "q", ResetTarget::at(6));
    CHECK((plan.partitions[0].target == 7 && plan.partitions[0].clamp == ResetClamp::log_start));
    place.admin->execute(plan);
    CHECK(place.positions() == Offsets{7, 6});
    CHECK(place.admin->describe("t", "q").partitions[0].gates);
}

TEST_CASE("A reset decides the dead letters that are under way: those that are there stay, and no ticket stays open") {
    QueuePlace place;
    place.admin->create("t", "q");
    place.topic->publish(0, 5);
    TestWorker worker(place.broker, "t", "q");
    const auto locks = worker.acquire(2);
    REQUIRE(locks.size() == 2);
    const auto memory = worker.work(0);
    const layout::WorkSettings& settings = worker.files().settings();
    DeadLetterLogs logs(place.broker.impl(), worker.files().handle(), "q", {letters_id(settings), std::string(letters_name(settings)), settings.letters_partitions});
    DeadLetterLog letters(logs, 0, memory.reader());
    for (const auto& [offset, word] : locks) {  // a worker that dies after one was committed, and before the other
        const work_table::LetterOf letter{offset, 1, work_table::LetterReason::rejected};
        REQUIRE(letters.prepare(letter) == Status::ok);
        const auto ticket = letters.take_ticket();
        REQUIRE(ticket.status == Status::ok);
        REQUIRE(memory.change(offset, word, work_table::intent_word(letter.reason, 1, ticket.offset, memory.lap(offset))));
        if (offset == 0) REQUIRE(letters.commit_at(ticket.offset, letter) == work_table::Sent::committed);
    }
    CHECK(place.admin->describe("t", "q").partitions[0].ending == 2);
    place.admin->execute(place.admin->plan("t", "q", ResetTarget::at(1)), true);
    CHECK(place.admin->describe("t", "q").partitions[0].lag.position == 1);
    const VerifyReport report = place.broker.verify("t.dlq");
    CHECK((report.records == 1 && report.skipped == 1 && report.open == 0));
    CHECK(letters.commit_at(1, {1, 1, work_table::LetterReason::rejected}) == work_table::Sent::closed);
    CHECK(memory.word_of(0) == work_table::done_word(0, work_table::DoneReason::dead));
}

TEST_CASE("Words that announce letters of a queue that has none do not keep it from being reset") {
    Place place;
    const auto memory = place.worker->work(0);
    REQUIRE(memory.change(2, memory.word_of(2), work_table::intent_word(work_table::LetterReason::rejected, 1, 5, memory.lap(2))));
    place.admin->execute(place.admin->plan("t", "q", ResetTarget::latest()), true);
    CHECK(place.positions() == Offsets{20, 10});
}
