// What the threads of a queue's crowd do, and the judgement of it.
#include "concurrency/work_crowd.hpp"

#include <algorithm>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

#include "concurrency/seed.hpp"
#include "concurrency/watchdog.hpp"
#include "partition_log/log_start.hpp"

namespace ringmain::test {

using namespace work_table;

namespace {

constexpr std::uint32_t kPointsMax = 30;
constexpr std::uint32_t kStops = 128;
constexpr std::size_t kBatch = 5;

}  // namespace

/// One thread's worker, life after life.
class WorkCrowd::Worker {
public:
    Worker(WorkCrowd& crowd, std::uint32_t actor)
        : crowd_(crowd), actor_(actor), random_(static_cast<std::minstd_rand::result_type>(derive_seed(crowd.seed_, actor) | 1)) {
        Fate::mine().hold_up(derive_seed(crowd.seed_, actor + 100), kStops);
    }

    void run() {
        while (!finished()) {
            if (!worker_ && !join()) {
                std::this_thread::yield();
                continue;
            }
            round();
        }
        if (worker_) crowd_.lives_->end(client_);
    }

private:
    [[nodiscard]] bool finished() const {
        return crowd_.published_.load(std::memory_order_acquire) && crowd_.work_.start() == crowd_.work_.log_end();
    }
    [[nodiscard]] bool happens(unsigned per_thousand) { return random_() % 1000 < per_thousand; }

    /// Runs `work`, or a part of it if the worker is to die now.
    template <class Work>
    bool survives(const Work& work) {
        const std::uint32_t points = happens(crowd_.deaths) ? 1 + static_cast<std::uint32_t>(random_() % kPointsMax) : 0;
        if (Fate::mine().survives(points, work)) return true;
        worker_.reset();
        crowd_.lives_->end(client_);
        crowd_.ended_.fetch_add(1, std::memory_order_relaxed);  // relaxed: read after the threads ended
        return false;
    }

    bool join() {
        client_ = crowd_.lives_->begin(actor_);
        std::optional<std::uint32_t> slot;
        if (!survives([&] { slot = take_slot(); })) return false;
        if (slot) {
            worker_ = std::make_unique<PlainWorker<M>>(crowd_.work_, *slot);
        } else {
            crowd_.lives_->end(client_);
        }
        return slot.has_value();
    }

    [[gnu::noinline]] std::optional<std::uint32_t> take_slot() {
        auto& work = crowd_.work_;
        const auto returning = [&work](std::uint32_t slot, std::uint64_t dead) {
            (void)return_records(work.work(), work.shape.rules, slot, [&] { return work.workers.owner(slot) == dead; }, work.now());
            return true;
        };
        return work.workers.join(client_, crowd_.lives_->is_dead(), returning);
    }

    void round() {
        Acquired acquired;
        PlainWorker<M>& worker = *worker_;
        const std::size_t count = 1 + random_() % kBatch;
        if (!survives([&] { acquired = worker.acquire(count); })) return;
        crowd_.lost_told_.fetch_add(std::exchange(worker.records.lost_records, 0), std::memory_order_relaxed);  // relaxed: as above
        const std::uint64_t in_hand = crowd_.in_hand_.fetch_add(acquired.records, std::memory_order_acq_rel) + acquired.records;
        std::uint64_t most = crowd_.in_hand_max_.load(std::memory_order_acquire);
        while (in_hand > most && !crowd_.in_hand_max_.compare_exchange_weak(most, in_hand, std::memory_order_acq_rel)) {
        }
        crowd_.work_.pass(acquired.records == 0 ? 7 : random_() % 2);
        if (acquired.records == 0) std::this_thread::yield();
        for (std::size_t i = 0; i < acquired.records; ++i) {
            crowd_.in_hand_.fetch_sub(1, std::memory_order_acq_rel);
            const HeldRecord held = worker.records.held[i];
            if (held.item.id != held.offset) crowd_.fault("offset " + std::to_string(held.offset) + " came with another record");
            if (!answer(held)) return;
        }
    }

    /// False: it died.
    bool answer(HeldRecord held) {
        const auto draw = crowd_.forgetful ? random_() % 100 : 0;
        if (draw < 70) return ack(held);
        if (draw < 74) return true;  // forgotten
        if (draw < 78) crowd_.work_.pass(random_() % (2 * crowd_.work_.shape.rules.lock_ms));  // perhaps too late
        if (draw < 80) return ack(held);
        PlainWorker<M>& worker = *worker_;
        return survives([&] {
            if (draw < 88) return (void)worker.nack(held, random_() % 2 == 0 ? std::optional<std::uint64_t>(random_() % 9) : std::nullopt);
            if (draw < 92) return (void)worker.release(held);
            if (draw < 96) return (void)worker.reject(held);
            (void)worker.renew(held, 1 + random_() % 20);
        });
    }

    bool ack(const HeldRecord& held) {
        Answered answered;
        Fates& fates = crowd_.fates_[held.offset - crowd_.first()];
        PlainWorker<M>& worker = *worker_;
        if (!survives([&] { answered = worker.ack(held); })) {
            fates.maybe.fetch_add(1, std::memory_order_relaxed);  // relaxed: read after the threads ended
            return false;
        }
        if (answered.answer == Answer::done) fates.acked.fetch_add(1, std::memory_order_relaxed);  // relaxed: as above
        return true;
    }

    WorkCrowd& crowd_;
    std::uint32_t actor_;
    std::minstd_rand random_;
    std::uint64_t client_ = 0;
    std::unique_ptr<PlainWorker<M>> worker_;
};

WorkCrowd::WorkCrowd(std::string name, const WorkShape& shape) : name_(std::move(name)), seed_(seed_for(name_)), work_(shape) {}

void WorkCrowd::fault(const std::string& what) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    if (faults_.size() < 20) faults_.push_back(what);
}

void WorkCrowd::be_producer(std::uint64_t records) {
    std::minstd_rand random(static_cast<std::minstd_rand::result_type>(derive_seed(seed_, 77) | 1));
    while (work_.log_end() < first() + records) {
        WorkItem item{.id = work_.log_end()};
        if (forgetful && random() % 16 == 0) item.delay_ms = static_cast<std::uint32_t>(random() % 30);
        if (forgetful && random() % 64 == 0) item.ttl_ms = static_cast<std::uint32_t>(1 + random() % 60);
        if (work_.publish(item) == ~std::uint64_t{0}) std::this_thread::yield();
        // not faster than the workers, or everything is lost before anybody sees it
        while (!work_.shape.log.block && work_.log_end() > work_.start() + work_.shape.window && random() % 64 != 0) std::this_thread::yield();
        if (random() % 1000 < retention) partition_log::delete_before(work_.host_log, work_.log_end() - random() % work_.shape.log.records % (work_.log_end() - first() + 1));
    }
    published_.store(true, std::memory_order_release);
}

void WorkCrowd::run(std::uint64_t records) {
    const Watchdog watchdog(name_);
    fates_ = std::vector<Fates>(records + 1);
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < work_.shape.workers; ++i) threads.emplace_back([this, i] { Worker(*this, i).run(); });
    be_producer(records);
    for (std::thread& thread : threads) thread.join();
    judge();
}

void WorkCrowd::judge() {
    std::vector<std::uint32_t> letters(fates_.size());
    for (std::uint64_t at = work_.shape.letters.first_offset; at < work_.letters_end(); ++at) {
        const auto letter = work_.letter(at);
        if (letter && letter->offset - first() < letters.size()) ++letters[letter->offset - first()];
    }
    std::uint64_t missing = 0;
    for (std::uint64_t offset = first(); offset < work_.log_end(); ++offset) {
        const std::uint64_t nth = offset - first();
        const std::uint32_t acked = fates_[nth].acked.load(std::memory_order_acquire);
        const std::uint32_t maybe = fates_[nth].maybe.load(std::memory_order_acquire);
        const std::string who = "offset " + std::to_string(offset);
        if (acked > 1) fault(who + " was acked " + std::to_string(acked) + " times");
        if (letters[nth] > 1) fault(who + " has " + std::to_string(letters[nth]) + " letters");
        if (acked != 0 && letters[nth] != 0) fault(who + " was acked, and has a letter");
        if (acked == 0 && maybe == 0 && letters[nth] == 0) ++missing;
        acked_total_ += acked;
        dead_total_ += letters[nth];
    }
    lost_total_ = WorkView<M>::value(work_.control().lost);
    const bool may_lose = retention != 0 || !work_.shape.log.block;
    if (!may_lose && (missing != 0 || lost_total_ != 0)) fault(std::to_string(missing) + " records were lost");
    if (may_lose && missing > lost_total_ + ended_lives()) fault(std::to_string(missing) + " records are missing, and " + std::to_string(lost_total_) + " lost");
    if (deaths == 0 && lost_told_.load(std::memory_order_acquire) != lost_total_) fault("not every loss was told, or some twice");
    std::cout << name_ << ": " << acked_total_ << " acked, " << dead_total_ << " dead letters, " << lost_total_ << " lost, " << ended_lives()
              << " deaths, " << WorkView<M>::value(work_.control().expired) << " locks ran out\n";
}

}  // namespace ringmain::test
