// Scenarios of doorbells: readers that sleep, whoever has to wake them, and requests to close a ticket.
#include <algorithm>
#include <memory>

#include "explore/log_stage.hpp"
#include "partition_log/doorbell.hpp"

namespace ringmain::explore {

namespace {

/// Who pays for the order of store and load: the sleeper by a barrier in all threads, or both by a fence of their own,
/// where the kernel refuses.
enum class Paid : std::uint8_t { by_sleepers, by_both };

class DoorbellStage : public LogStage {
public:
    DoorbellStage(Paid paid, const Bounds& bounds, unsigned sleepers, unsigned threads)
        : LogStage({.records = 4, .producer_slots = threads}, bounds, threads), sleepers_(sleepers), paid_(paid) {}

    void begin() override {
        LogStage::begin();
        waits_at_ = {};
        answers_ = {};
        announced_ = wakes_ = 0;
    }
    void finish() override {
        LogStage::finish();
        require(wakes_ <= announced_, "one announcement is answered by two wake-ups");
        if (one_died_answering())
            return;  // it may have cleared the bit, and woken nobody: sleeps are bounded for its sake
        bool all_rang = true;
        for (unsigned thread = sleepers_; thread < threads(); ++thread)
            all_rang = all_rang && !fell(thread);
        if (!all_rang) {
            Shared publisher = shared_publisher(0);
            publish_and_ring(publisher, 30);
        }
        for (unsigned thread = 0; thread < sleepers_; ++thread)
            require(!asleep(thread) || !is_decided(waits_at_[thread]),
                    "a reader sleeps where it has something to read");
    }

protected:
    using Bell = partition_log::Doorbell<M>;
    [[nodiscard]] Bell doorbell() const noexcept { return Bell(*log_.readers); }

    /// As PartitionProducer::after.
    void publish_and_ring(Shared& publisher, std::uint64_t id) {
        (void)publish(publisher, id, 1);
        if (paid_ == Paid::by_both)
            M::fence(std::memory_order_seq_cst);
        Bell bell = doorbell();
        if (bell.quiet())
            return;
        const unsigned thread = running_thread();
        answers_[thread] = true;
        bell.answer(log_, [this, &bell] { wake(bell); });
        answers_[thread] = false;
    }
    void wake(Bell& bell) {
        ++wakes_;
        wake_sleepers(bell.futex_word());
    }
    /// Reads until `until` offsets are read, and sleeps as Consumer::Impl::sleep does when there is nothing.
    void consume(unsigned thread, std::uint64_t until) {
        std::uint64_t& offset = waits_at_[thread];
        while ((offset = read_from(offset, Open::wait)) < until) {
            before_sleep(offset);
            sleep(offset);
        }
    }
    virtual void before_sleep(std::uint64_t /*offset*/) {}
    /// False: it did not have to, as the topic is gone.
    bool sleep(std::uint64_t offset) {
        const partition_log::Reader<M> reader(log_);
        Bell bell = doorbell();
        ++announced_;
        const std::uint32_t expected = bell.announce_sleeper();
        if (paid_ == Paid::by_sleepers) {
            barrier_everywhere();
        } else {
            M::fence(std::memory_order_seq_cst);
        }
        if (!bell.quiet() && bell.gone())
            return false;
        if (!reader.is_decided(offset))
            sleep_on(bell.futex_word(), expected);
        return true;
    }
    /// Without a thread, in finish, as if by the first.
    [[nodiscard]] unsigned running_thread() const noexcept {
        const unsigned thread = this_thread();
        return thread < threads() ? thread : 0;
    }
    [[nodiscard]] bool one_died_answering() const noexcept {
        return std::find(answers_.begin(), answers_.end(), true) != answers_.end();
    }
    [[nodiscard]] bool is_decided(std::uint64_t offset) const {
        return partition_log::decided(newest(&log_.cell(offset).word), offset);
    }

    std::array<std::uint64_t, kThreadsMax> waits_at_{};
    std::array<bool, kThreadsMax> answers_{};
    unsigned announced_ = 0;
    unsigned wakes_ = 0;

private:
    unsigned sleepers_;
    Paid paid_;
};

// One reader sleeps, two producers publish, and one of the three may die anywhere.
class Sleeper : public DoorbellStage {
public:
    explicit Sleeper(Paid paid) : DoorbellStage(paid, {.preemptions = 3, .stale = 3, .deaths = 1, .mortal = 7}, 1, 3) {}
    void thread(unsigned index) override {
        if (index == 0) {
            consume(0, 2);
            return;
        }
        Shared publisher = shared_publisher(index);
        publish_and_ring(publisher, index);
    }
};

// Two readers sleep, one of whom may die: what it announced costs one wake-up, and the other one nothing.
class TwoSleepers : public DoorbellStage {
public:
    explicit TwoSleepers(Paid paid)
        : DoorbellStage(paid, {.preemptions = 4, .stale = 2, .deaths = 1, .mortal = 1}, 2, 3) {}
    void thread(unsigned index) override {
        if (index < 2) {
            consume(index, 2);
            return;
        }
        Shared publisher = shared_publisher(2);
        publish_and_ring(publisher, 1);
        publish_and_ring(publisher, 2);
    }
};

// A topic is deleted, or damage is found, while a reader goes to sleep and a producer wakes it.
class SleeperOfDeleted : public DoorbellStage {
public:
    SleeperOfDeleted() : DoorbellStage(Paid::by_sleepers, {.preemptions = 4, .stale = 3}, 1, 3) {}
    void thread(unsigned index) override {
        Bell bell = doorbell();
        if (index == 0) {
            bell.request_close(0);
            waits_at_[0] = read_from(0, Open::wait);
            while (sleep(waits_at_[0]))
                waits_at_[0] = read_from(waits_at_[0], Open::wait);
            require(!bell.quiet() && bell.gone(), "what is gone comes back");
            require(bell.deleted() != bell.damaged(), "it is gone for another reason");
        } else if (index == 1) {
            Shared publisher = shared_publisher(1);
            publish_and_ring(publisher, 1);
        } else {
            const std::uint64_t flag = choose(2) == 0 ? layout::kTopicDeleted : layout::kPartitionDamaged;
            log_.readers->doorbell.fetch_or(flag, std::memory_order_release);
            if (bell.take_sleepers())
                wake(bell);
        }
    }
    void finish() override {
        DoorbellStage::finish();
        require(!asleep(0), "a reader sleeps on a topic that is gone");
    }
};

// A ticket is open, as its holder is slow or dies. A reader that may not close it asks for it.
class CloseAsker : public DoorbellStage {
public:
    CloseAsker(Paid paid, const Bounds& bounds, unsigned threads) : DoorbellStage(paid, bounds, 1, threads) {}
    void begin() override {
        DoorbellStage::begin();
        asked_ = kNoGate;
    }

protected:
    void before_sleep(std::uint64_t offset) override {
        if (log_.control->log_end.load(std::memory_order_acquire) <= offset)
            return;
        doorbell().request_close(offset);
        asked_ = offset;
    }
    /// What was asked for is decided, or the next who looks decides it. If one died who had the request in hand, it is
    /// made again.
    void check_asked() {
        Bell bell = doorbell();
        if (asked_ == kNoGate || is_decided(asked_))
            return;
        if (one_died_answering())
            bell.request_close(asked_);
        require(bell.serve_close_request(log_) && is_decided(asked_), "a request to close is lost");
    }

    std::uint64_t asked_ = kNoGate;  // the last offset; kNoGate: none
};

// And sleeps: who publishes next closes the ticket, and then wakes the reader.
class CloseServed : public CloseAsker {
public:
    explicit CloseServed(Paid paid) : CloseAsker(paid, {.preemptions = 3, .stale = 3, .deaths = 1, .mortal = 2}, 3) {}
    void thread(unsigned index) override {
        if (index == 0) {
            consume(0, 2);
            return;
        }
        Shared publisher = shared_publisher(index);
        publish_and_ring(publisher, index);
    }
    void finish() override {
        const std::uint64_t word = newest(&log_.cell(waits_at_[0]).word);
        require(one_died_answering() || !asleep(0) || !is_decided(waits_at_[0]) ||
                    partition_log::state_of(word) == partition_log::CellState::committed,
                "a reader sleeps over the closing that it asked for");
        check_asked();
        CloseAsker::finish();
    }
};

// The same without a publish: two keepers look for requests, one of whom may die.
class CloseKept : public CloseAsker {
public:
    CloseKept() : CloseAsker(Paid::by_sleepers, {.preemptions = 3, .stale = 3, .deaths = 1, .mortal = 6}, 4) {}
    void begin() override {
        CloseAsker::begin();
        closed_ = 0;
    }
    void thread(unsigned index) override {
        Bell bell = doorbell();
        if (index == 0) {
            while ((waits_at_[0] = read_from(waits_at_[0], Open::wait)) == 0) {
                before_sleep(0);
                if (!give_way())
                    return;
            }
        } else if (index == 1) {
            Shared publisher = shared_publisher(1);
            (void)publish(publisher, 1, 1);
        } else if (bell.close_requested()) {
            answers_[index] = true;
            closed_ += bell.serve_close_request(log_) ? 1U : 0U;
            answers_[index] = false;
        }
    }
    void finish() override {
        require(closed_ <= 1, "two say that they closed one ticket");
        check_asked();
        CloseAsker::finish();
    }

private:
    unsigned closed_ = 0;
};

// Requests of two tickets, one close behind the other: the second is not taken for one that cannot be.
class CloseLast : public DoorbellStage {
public:
    CloseLast() : DoorbellStage(Paid::by_sleepers, {.preemptions = 4, .stale = 2}, 0, 3) {}
    void thread(unsigned index) override {
        Bell bell = doorbell();
        if (index == 0) {
            partition_log::Tickets<M> tickets(log_, 0);
            bell.request_close(tickets.take());
            bell.request_close(tickets.take());
        } else if (bell.close_requested()) {
            (void)bell.serve_close_request(log_);
        }
    }
    void finish() override {
        if (!is_decided(1))
            (void)doorbell().serve_close_request(log_);
        require(is_decided(1), "the last request to close is lost");
    }
};

const Registered sleeper{"doorbell.sleeper", [] { return std::make_unique<Sleeper>(Paid::by_sleepers); }};
const Registered fenced{"doorbell.fenced", [] { return std::make_unique<Sleeper>(Paid::by_both); }};
const Registered two_sleepers{"doorbell.two_sleepers", [] { return std::make_unique<TwoSleepers>(Paid::by_sleepers); }};
const Registered deleted{"doorbell.deleted", [] { return std::make_unique<SleeperOfDeleted>(); }};
const Registered close_served{"doorbell.close_served", [] { return std::make_unique<CloseServed>(Paid::by_sleepers); }};
const Registered close_fenced{"doorbell.close_fenced", [] { return std::make_unique<CloseServed>(Paid::by_both); }};
const Registered close_kept{"doorbell.close_kept", [] { return std::make_unique<CloseKept>(); }};
const Registered close_last{"doorbell.close_last", [] { return std::make_unique<CloseLast>(); }};

}  // namespace

}  // namespace ringmain::explore
