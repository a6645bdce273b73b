// Running a crowd, and judging what it did.
#include "concurrency/crowd.hpp"

#include <iostream>
#include <thread>

#include "concurrency/gated_reading.hpp"
#include "concurrency/housekeeping.hpp"
#include "concurrency/watchdog.hpp"

namespace ringmain::test {

namespace {

constexpr std::uint32_t kKeeperActor = 100;
constexpr std::uint32_t kGatedActor = 200;
constexpr std::uint32_t kReaderActor = 300;

}  // namespace

std::uint64_t scaled(std::uint64_t records) {
#if defined(RINGMAIN_TSAN)
    records /= 4;
#endif
    return records * from_environment("RINGMAIN_SCALE", 1);
}

Crowd::Crowd(std::string name, const PlainShape& shape)
    : name_(std::move(name)), seed_(seed_for(name_)), log_(shape), lives_(std::make_unique<Lives>()) {}

void Crowd::run(std::uint64_t records_each) {
    const Watchdog watchdog(name_);
    producer_histories_.resize(producers.size());
    reader_histories_.resize(readers.size());
    gated_histories_.resize(gated.size());
    std::vector<std::thread> others;
    run_readers(others);
    run_others(others);
    std::vector<std::thread> publishing;
    for (std::uint32_t i = 0; i < producers.size(); ++i) {
        publishing.emplace_back([this, i, records_each] {
            Publishing producer(log_.log, *lives_, i, producers[i], seed_);
            producer.run(records_each);
            producer_histories_[i] = producer.take_history();
        });
    }
    for (std::thread& thread : publishing)
        thread.join();
    published_.store(true, std::memory_order_release);
    // readers first: they may need the keepers to come to the end
    for (std::size_t i = 0; i < readers.size() + gated.size(); ++i)
        others[i].join();
    done_.store(true, std::memory_order_release);
    for (std::size_t i = readers.size() + gated.size(); i < others.size(); ++i)
        others[i].join();

    std::vector<ReaderHistory> all = reader_histories_;
    all.insert(all.end(), gated_histories_.begin(), gated_histories_.end());
    faults_ = judge(producer_histories_, all);
    std::cout << name_ << ": " << summary(producer_histories_, all) << '\n';
}

void Crowd::run_readers(std::vector<std::thread>& threads) {
    for (std::uint32_t i = 0; i < readers.size(); ++i) {
        threads.emplace_back([this, i] {
            Fate::mine().hold_up(derive_seed(seed_, kReaderActor + i), 64);
            FollowingReader<MortalMemory> reader(log_.log, log_.log.first_offset, readers[i].reading,
                                                 readers[i].closes);
            reader.follow(published_);
            reader_histories_[i] = reader.take_history();
        });
    }
    for (std::uint32_t i = 0; i < gated.size(); ++i) {
        threads.emplace_back([this, i] {
            GatedReader reader(log_.log, *lives_, kGatedActor + i, gated[i], seed_);
            reader.follow(published_);
            gated_histories_[i] = reader.take_history();
        });
    }
}

void Crowd::run_others(std::vector<std::thread>& threads) {
    for (std::uint32_t i = 0; i < keepers; ++i) {
        threads.emplace_back([this, i] { keep_house(log_.log, *lives_, kKeeperActor + i, seed_, done_); });
    }
    for (std::uint32_t i = 0; i < closers; ++i) {
        threads.emplace_back([this, i] { close_at_random(log_.log, derive_seed(seed_, 400 + i), done_); });
    }
    for (std::uint32_t i = 0; i < deleters; ++i) {
        threads.emplace_back([this, i] { delete_at_random(log_.log, derive_seed(seed_, 500 + i), done_); });
    }
    if (retention)
        threads.emplace_back([this] { retain(log_.log, *retention, derive_seed(seed_, 600), done_); });
}

std::uint64_t Crowd::acknowledged() const noexcept {
    std::uint64_t count = 0;
    for (const ProducerHistory& history : producer_histories_)
        count += history.records.size();
    return count;
}

std::uint64_t Crowd::deaths() const noexcept {
    std::uint64_t count = 0;
    for (const ProducerHistory& history : producer_histories_)
        count += history.deaths;
    return count;
}

}  // namespace ringmain::test
