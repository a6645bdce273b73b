// Scenarios of a partition's log: publishing, closing, late writers, batches, laps.
#include <algorithm>

#include "explore/log_stage.hpp"

namespace ringmain::explore {

namespace {

// Two producers and a reader that closes what is open, on a ring of two cells: every record is a lap.
class PublishOverwrite : public LogStage {
public:
    PublishOverwrite() : LogStage({.records = 2}, {.preemptions = 3, .stale = 2}, 3) {}
    void thread(unsigned index) override {
        if (index == 2) {
            (void)read_from(0, Open::close);
            return;
        }
        Shared publisher = shared_publisher(index);
        (void)publish(publisher, 10 * (index + 1));
        if (index == 0)
            (void)publish(publisher, 11);
    }
};

// The same; a producer, or the reader that closes, dies or stops anywhere. Nobody waits for it, and nothing that was
// answered is lost. After a death all cells come back.
class PublishDying : public LogStage {
public:
    explicit PublishDying(std::uint64_t first_offset = 0)
        : LogStage({.records = 2, .first_offset = first_offset},
                   {.preemptions = 2, .stale = 1, .deaths = 1, .stops = 1, .mortal = 5}, 3) {}
    void thread(unsigned index) override {
        if (index == 2) {
            (void)read_from(shape_.first_offset, Open::close);
            return;
        }
        Shared publisher = shared_publisher(index);
        (void)publish(publisher, 10 * (index + 1));
        if (index == 1)
            (void)publish(publisher, 21);
    }
    void finish() override {
        LogStage::finish();
        check_goes_on(1);
    }
};

// Producers of a block topic with two tickets of slack: room is made by moving log_start, which no gate holds. One may
// die anywhere, with its ticket.
class PublishBlock : public LogStage {
public:
    PublishBlock()
        : LogStage({.records = 4, .block = true, .published = 2},
                   {.preemptions = 2, .stale = 2, .deaths = 1, .mortal = 1}, 3) {}
    void thread(unsigned index) override {
        if (index == 2) {
            (void)read_from(0, Open::close);
            return;
        }
        Shared publisher = shared_publisher(index);
        // others may take the room that was made; alone, a producer has it
        while (publish(publisher, 10 * (index + 1)) != Sent::published) {
        }
        while (index == 0 && publish(publisher, 11) != Sent::published) {
        }
    }
    void finish() override {
        LogStage::finish();
        check_goes_on(1);
    }
};

// A reader reads slowly what one producer overwrites again and again.
class ReadLapped : public LogStage {
public:
    ReadLapped() : LogStage({.records = 2, .producer_slots = 1, .published = 2}, {.preemptions = 3, .stale = 3}, 2) {}
    void thread(unsigned index) override {
        if (index == 1) {
            (void)read_from(0, Open::wait);
            return;
        }
        Shared publisher = shared_publisher(index);
        for (std::uint64_t id = 10; id < 13; ++id)
            (void)publish(publisher, id);
    }
};

// A closed ticket's holder is late, a keeper gives its cell back, another producer is a lap ahead. One of the first two
// or who closes may die.
class LateRelease : public LogStage {
public:
    LateRelease() : LogStage({.records = 2}, {.preemptions = 3, .stale = 1, .deaths = 1, .mortal = 13}, 4) {}
    void thread(unsigned index) override {
        if (index == 2) {
            close_what_is_open();
        } else if (index == 3) {
            release_cells();
        } else {
            Shared publisher = shared_publisher(index);
            (void)publish(publisher, 10 * (index + 1));
            if (index == 1)
                (void)publish(publisher, 21);
        }
    }
    void finish() override {
        LogStage::finish();
        check_goes_on(1);
    }

private:
    void close_what_is_open() const {
        const std::uint64_t end = partition_log::Reader<M>(log_).log_end();
        for (std::uint64_t offset = end < 2 ? 0 : end - 2; offset < end; ++offset)
            (void)partition_log::close_ticket(log_, offset);
    }
};

// A batch, of which somebody closes tickets, beside another producer. Who publishes it may die in its midst.
class PublishBatch : public LogStage {
public:
    PublishBatch()
        : LogStage({.records = 4, .batch_records_max = 3, .published = 3},
                   {.preemptions = 2, .stale = 2, .deaths = 1, .mortal = 1}, 3) {}
    void thread(unsigned index) override {
        Shared publisher = shared_publisher(index == 0 ? 0 : 1);
        if (index == 0)
            publish_batch(publisher);
        if (index == 1)
            (void)publish(publisher, 20);
        if (index == 2)
            (void)read_from(2, Open::close);
    }
    void finish() override {
        LogStage::finish();
        check_goes_on(1);
    }

private:
    void publish_batch(Shared& publisher) {
        const std::array values{Value(10, 2), Value(11, 2), Value(12, 2)};
        std::array<partition_log::RecordParts, 3> parts;
        std::array<std::uint64_t, 3> offsets{};
        for (std::size_t i = 0; i < values.size(); ++i) {
            parts[i] = values[i].parts();
            oracle_.starts(10 + i);
        }
        const partition_log::BatchPublished batch = publisher.publish_batch(parts, offsets);
        require(batch.status == Status::ok || batch.status == Status::exhausted, "a batch fails");
        require(std::is_sorted(offsets.begin(), offsets.begin() + static_cast<std::ptrdiff_t>(batch.count)),
                "a batch is out of order");
        for (std::size_t i = 0; i < batch.count; ++i)
            oracle_.published(10 + i, offsets[i]);
    }
};

const Registered publish_overwrite{"log.publish_overwrite", [] { return std::make_unique<PublishOverwrite>(); }};
const Registered publish_dying{"log.publish_dying", [] { return std::make_unique<PublishDying>(); }};
// The first two records are below the boundary.
constexpr std::uint64_t kFarOffset = (std::uint64_t{1} << 61) - 2;
const Registered publish_far{"log.publish_far", [] { return std::make_unique<PublishDying>(kFarOffset); }};
const Registered publish_block{"log.publish_block", [] { return std::make_unique<PublishBlock>(); }};
const Registered read_lapped{"log.read_lapped", [] { return std::make_unique<ReadLapped>(); }};
const Registered late_release{"log.late_release", [] { return std::make_unique<LateRelease>(); }};
const Registered publish_batch{"log.publish_batch", [] { return std::make_unique<PublishBatch>(); }};

}  // namespace

}  // namespace ringmain::explore
