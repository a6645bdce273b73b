// Scenarios of retention: keepers that come after each other, or believe so, beside a producer and a reader.
#include <chrono>

#include "explore/log_stage.hpp"
#include "recovery/attachment.hpp"
#include "retention/retention.hpp"

namespace ringmain::explore {

namespace {

// Two keepers work at once: the lock file was replaced under one that was stopped. What is deleted was old enough by
// the clock of whoever deleted it, and nothing else; also if one of them dies, and another goes on from its marks.
class TwoKeepers : public LogStage {
public:
    explicit TwoKeepers(const Retention& limits)
        : LogStage({.records = 8, .producer_slots = 1}, {.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 2}, 3),
          limits_(limits) {}
    void begin() override {
        LogStage::begin();
        now_ = kStepNs;
        began_.fill(0);
    }
    void thread(unsigned index) override {
        if (index == 0) {
            Shared publisher = shared_publisher(0);
            for (std::uint64_t offset = 0; offset < kRecords; ++offset) {
                began_[offset] = now_;
                require(publish(publisher, 10 + offset, 1) == Sent::published, "a producer is refused");
            }
            return;
        }
        keep(3);
    }
    void finish() override {
        LogStage::finish();
        if (!proven_dead(1))
            return;
        keep(6);
        LogStage::finish();
        require(log_.control->log_start.load(std::memory_order_relaxed) + kept() ==
                    log_.control->log_end.load(std::memory_order_relaxed),
                "after a keeper's death another one does not delete what is to go");
    }

private:
    static constexpr std::uint64_t kStepNs = 100'000'000;
    static constexpr std::uint64_t kRecords = 3;

    void keep(unsigned steps) {
        retention::PartitionRetention<M> keeper(log_);
        for (unsigned step = 0; step < steps; ++step) {
            const retention::Moment moment{now_ += kStepNs, 1};
            check(keeper.step([this] { return limits_; }, moment, 4), moment.now_ns);
        }
    }
    /// Records that stay: one is as many bytes as are kept, and in the end all are old.
    [[nodiscard]] std::uint64_t kept() const noexcept { return limits_.age.count() != 0 ? 0 : 1; }
    void check(const retention::Expired& done, std::uint64_t now) const {
        const auto age_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(limits_.age).count());
        for (std::uint64_t offset = done.from; offset < done.target; ++offset) {
            require(offset < kRecords && began_[offset] != 0, "a keeper deletes what is not there");
            if (age_ns != 0)
                require(now - began_[offset] >= age_ns, "a keeper deletes what is not old enough");
        }
        const std::uint64_t end = newest(&log_.control->log_end);
        if (limits_.records != 0 && done.target != done.from)
            require(end - done.target >= limits_.records, "a keeper deletes more than the limit says");
        if (limits_.bytes != 0 && done.target != done.from)
            require((end - done.target) * 8 >= limits_.bytes, "a keeper deletes more than the limit says");
    }

    Retention limits_;
    std::uint64_t now_ = 0;
    std::array<std::uint64_t, kRecords> began_{};
};

// Whoever sees a start that was moved sees the end that it was moved below: a sound log contradicts itself to nobody.
class StartAndEnd : public LogStage {
public:
    StartAndEnd() : LogStage({.records = 8, .producer_slots = 1}, {.preemptions = 3, .stale = 2}, 3) {}
    void thread(unsigned index) override {
        if (index == 0) {
            Shared publisher = shared_publisher(0);
            require(publish(publisher, 10, 1) == Sent::published, "a producer is refused");
        } else if (index == 1) {
            (void)partition_log::delete_before(log_, log_.control->log_end.load(std::memory_order_acquire));
        } else {
            require(partition_log::check_control(log_).sound(), "a sound log is found to contradict itself");
        }
    }
};

// A log that is lapped is never found to be further ahead of its start than it may be: whoever sees its end sees the start
// that made room for it.
class LappedStart : public LogStage {
public:
    LappedStart() : LogStage({.records = 2, .producer_slots = 1}, {.preemptions = 3, .stale = 2}, 2) {}
    void thread(unsigned index) override {
        if (index == 1)
            return require(partition_log::check_control(log_).sound(), "a sound log is found to contradict itself");
        Shared publisher = shared_publisher(0);
        for (std::uint64_t id = 1; id <= 5; ++id)
            require(publish(publisher, id, 1) == Sent::published, "a producer is refused");
    }
};

// Records of different sizes in a ring of two cells, and a keeper that counts them: of what it deletes the newest had more
// than the limit from itself on. What is lapped under its eyes counts for nothing, never for another record.
class CountedWhileLapped : public LogStage {
public:
    CountedWhileLapped() : LogStage({.records = 2, .producer_slots = 1}, {.preemptions = 3, .stale = 2}, 2) {}
    void thread(unsigned index) override {
        if (index == 0) {
            Shared publisher = shared_publisher(0);
            for (std::uint64_t offset = 0; offset < kWords.size(); ++offset)
                require(publish(publisher, 1 + offset, kWords[offset]) == Sent::published, "a producer is refused");
            return;
        }
        Retention limits;
        limits.bytes = kLimit;
        retention::PartitionRetention<M> keeper(log_);
        for (unsigned step = 0; step < 3; ++step)
            check(keeper.step([&] { return limits; }, {100 + step, 1}, 4));
    }

private:
    static constexpr std::array<unsigned, 5> kWords = {4, 4, 1, 1, 1};
    static constexpr std::uint64_t kLimit = 16;

    void check(const retention::Expired& done) const {
        if (done.target == done.from)
            return;
        std::uint64_t bytes = 0;
        for (std::uint64_t offset = done.target - 1; offset < newest(&log_.control->log_end); ++offset)
            bytes += kWords[offset] * sizeof(std::uint64_t);
        require(bytes > kLimit, "a keeper deletes what the limit keeps");
    }
};

// Records are deleted as soon as they are there, while a producer attaches: it finds nothing that cannot be.
class DeletedWhileAttaching : public LogStage {
public:
    DeletedWhileAttaching() : LogStage({.records = 2}, {.preemptions = 3, .stale = 2}, 3) {}
    void set_up() override {
        LogStage::set_up();
        log_.producers[1].owner.store(0, std::memory_order_relaxed);
    }
    void thread(unsigned index) override {
        if (index == 0) {
            Shared publisher = shared_publisher(0);
            (void)publish(publisher, 10, 1);
        } else if (index == 1) {
            (void)partition_log::delete_before(log_, partition_log::Reader<M>(log_).log_end());
        } else {
            recovery::Attachment<M, IsDead> attachment(log_, owner_of(2), is_dead_);
            const recovery::Attached attached = attachment.attach_shared();
            require(attached.outcome == recovery::AttachOutcome::attached, "a producer is refused");
        }
    }

private:
    IsDead is_dead_;
};

std::unique_ptr<Scenario> by_age() {
    Retention limits;
    limits.age = std::chrono::milliseconds(200);
    return std::make_unique<TwoKeepers>(limits);
}
std::unique_ptr<Scenario> by_bytes() {
    Retention limits;
    limits.bytes = 8;
    return std::make_unique<TwoKeepers>(limits);
}
std::unique_ptr<Scenario> by_records() {
    Retention limits;
    limits.records = 1;
    return std::make_unique<TwoKeepers>(limits);
}
const Registered counted_while_lapped{"retention.counted_while_lapped",
                                      [] { return std::make_unique<CountedWhileLapped>(); }};
const Registered lapped_start{"retention.lapped_start", [] { return std::make_unique<LappedStart>(); }};
const Registered deleted_while_attaching{"retention.deleted_while_attaching",
                                         [] { return std::make_unique<DeletedWhileAttaching>(); }};
const Registered keepers_by_age{"retention.by_age", by_age};
const Registered keepers_by_bytes{"retention.by_bytes", by_bytes};
const Registered keepers_by_records{"retention.by_records", by_records};
const Registered start_and_end{"retention.start_and_end", [] { return std::make_unique<StartAndEnd>(); }};

}  // namespace

}  // namespace ringmain::explore
