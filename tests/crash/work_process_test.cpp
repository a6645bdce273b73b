// Workers of a queue as processes, one killed with SIGKILL again and again and replaced: nothing is lost, and only what the
// killed ones held comes twice.
//
// RINGMAIN_QUEUE_RECORDS and RINGMAIN_QUEUE_KILL_MS make it the long run: 1,000,000 records, a kill every 100 ms.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "concurrency/seed.hpp"
#include "crash/shared_bytes.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/plain_work.hpp"

using namespace ringmain;
using namespace ringmain::test;
using namespace ringmain::work_table;
using namespace std::chrono_literals;

namespace {

using Host = platform::HostMemory;

constexpr std::uint32_t kWorkers = 8;
constexpr std::size_t kBatch = 16;
constexpr std::uint32_t kLivesMax = 4096;

/// What is known of each record, and who is proven dead; in shared memory.
struct Ledger {
    struct Entry {
        std::atomic<std::uint16_t> handed_out;
        std::atomic<std::uint16_t> acked;
    };
    std::atomic<std::uint64_t> acked_all;
    std::array<std::atomic<std::uint32_t>, kLivesMax> dead;
    Entry entries[1];  // as many as there are records

    [[nodiscard]] static std::size_t bytes(std::uint64_t records) { return sizeof(Ledger) + records * sizeof(Entry); }
};

std::uint64_t now_ms() {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

class Crew {
public:
    explicit Crew(std::uint64_t records)
        : records_(records), bytes_(plain_work_bytes(shape()) + Ledger::bytes(records)), view_(bytes_.data(), shape()),
          ledger_(reinterpret_cast<Ledger*>(bytes_.data() + plain_work_bytes(shape()))) {
        view_.format();
        for (std::uint32_t i = 0; i < kWorkers; ++i) workers_.push_back(hire(i));
        producer_ = std::make_unique<Child>([this] { return be_producer(); });
    }

    void kill_and_replace(std::uint32_t index) {
        workers_[index].child->kill();
        ledger_->dead[workers_[index].life].store(1, std::memory_order_release);
        workers_[index] = hire(index);
        ++kills_;
    }

    void finish() {
        CHECK(producer_->wait(600s) == 0);
        for (auto& worker : workers_) CHECK(worker.child->wait(600s) == 0);
        std::uint64_t repeated = 0;
        std::uint64_t unheard = 0;  // its ack may have been given: the start is behind it
        for (std::uint64_t offset = 0; offset < records_; ++offset) {
            const std::uint32_t handed_out = ledger_->entries[offset].handed_out.load(std::memory_order_acquire);
            const std::uint32_t acked = ledger_->entries[offset].acked.load(std::memory_order_acquire);
            if (acked > 1 || handed_out == 0) FAIL_CHECK("offset " << offset << ": acked " << acked << ", handed out " << handed_out);
            repeated += handed_out - 1;
            unheard += acked == 0 ? 1 : 0;
        }
        std::cout << records_ << " records, " << kills_ << " kills, " << repeated << " handed out again, " << unheard
                  << " acks whose worker did not live to count them\n";
        CHECK(view_.start() == records_);
        CHECK(repeated <= kills_ * kBatch);
        CHECK(unheard <= kills_);
        CHECK(view_.letters_end() == 0);
        CHECK(WorkView<Host>::value(view_.control().lost) == 0);
        CHECK(WorkView<Host>::value(view_.control().expired) == 0);
        CHECK(WorkView<Host>::value(view_.control().returned) <= kills_ * kBatch);
    }

    [[nodiscard]] std::uint64_t acked() const { return ledger_->acked_all.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t records() const { return records_; }

private:
    struct Hired {
        std::unique_ptr<Child> child;
        std::uint32_t life = 0;
    };

    static WorkShape shape() {
        WorkShape shape;
        shape.log = {.records = 1 << 13, .block = true};
        shape.window = 1 << 13;
        shape.workers = kWorkers + 2;
        shape.letters.producer_slots = kWorkers + 2;
        shape.gating = true;
        shape.now = now_ms();
        shape.rules.lock_ms = 600'000;  // only proof of death returns a record
        shape.rules.backoff_first_ms = 0;
        shape.rules.delivery_limit = 0;
        return shape;
    }

    Hired hire(std::uint32_t index) {
        const std::uint32_t life = next_life_++;
        REQUIRE(life < kLivesMax);
        return {std::make_unique<Child>([this, life, index] { return be_worker(std::uint64_t{life} << 32 | (index + 1)); }), life};
    }

    int be_producer() {
        for (std::uint64_t next = 0; next < records_;) {
            if (view_.publish({.id = next}) == ~std::uint64_t{0}) {
                std::this_thread::sleep_for(100us);
            } else {
                ++next;
            }
        }
        return 0;
    }

    int be_worker(std::uint64_t client) {
        const auto is_dead = [this](std::uint64_t other) {
            return ledger_->dead[(other >> 32) % kLivesMax].load(std::memory_order_acquire) != 0;
        };
        const auto returning = [this](std::uint32_t slot, std::uint64_t owner) {
            (void)return_records(view_.work(), view_.shape.rules, slot, [&] { return view_.workers.owner(slot) == owner; }, now_ms());
            return true;
        };
        const auto slot = view_.workers.join(client, is_dead, returning);
        if (!slot) return 2;
        PlainWorker<Host> worker(view_, *slot);
        while (view_.start() < records_) {
            view_.board->now.store(now_ms(), std::memory_order_release);
            const Acquired acquired = worker.acquire(kBatch);
            for (std::size_t i = 0; i < acquired.records; ++i)
                ledger_->entries[worker.records.held[i].offset].handed_out.fetch_add(1, std::memory_order_relaxed);  // relaxed: read at the end
            for (std::size_t i = 0; i < acquired.records; ++i) {
                handle();
                if (worker.ack(worker.records.held[i]).answer != Answer::done) return 3;
                ledger_->entries[worker.records.held[i].offset].acked.fetch_add(1, std::memory_order_relaxed);  // relaxed: as above
            }
            ledger_->acked_all.fetch_add(acquired.records, std::memory_order_acq_rel);
            if (acquired.records == 0) reap(is_dead, returning);
        }
        view_.workers.leave(*slot, client);
        return 0;
    }

    /// Takes about a microsecond, so that workers are slower than the producer, and are killed with records in their hands.
    static void handle() noexcept {
        for (int i = 0; i < 1'500; ++i) asm volatile("" : : : "memory");
    }

    /// As a keeper does: records of the dead return at once.
    template <class IsDead, class Returning>
    void reap(const IsDead& is_dead, const Returning& returning) {
        for (std::uint32_t slot = 0; slot < view_.workers.count(); ++slot) {
            const std::uint64_t owner = view_.workers.owner(slot);
            if (owner == 0 || !is_dead(owner)) continue;
            returning(slot, owner);
            view_.workers.free(slot, owner);
        }
        std::this_thread::sleep_for(200us);
    }

    std::uint64_t records_;
    crash::SharedBytes bytes_;
    WorkView<Host> view_;
    Ledger* ledger_;
    std::vector<Hired> workers_;
    std::unique_ptr<Child> producer_;
    std::uint32_t next_life_ = 1;
    std::uint64_t kills_ = 0;
};

}  // namespace

TEST_CASE("eight workers of a queue, killed one after the other and replaced, lose nothing and repeat only what the killed held") {
    const std::uint64_t records = from_environment("RINGMAIN_QUEUE_RECORDS", 200'000);
    const std::uint64_t every_ms = from_environment("RINGMAIN_QUEUE_KILL_MS", 0);
    const auto begin = std::chrono::steady_clock::now();
    Crew crew(records);
    std::uint32_t next = 0;
    // by time, or twenty times by progress
    for (std::uint64_t kills = 1; crew.acked() < records - records / 20; ++kills) {
        if (every_ms != 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(every_ms));
        } else {
            while (crew.acked() < kills * records / 21 && crew.acked() < records - records / 20) std::this_thread::sleep_for(1ms);
        }
        crew.kill_and_replace(next++ % kWorkers);
    }
    crew.finish();
    std::cout << std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count() << " ms\n";
}
