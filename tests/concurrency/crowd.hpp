// A log and everybody who uses it, each in a thread, on one mapping.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "concurrency/history.hpp"
#include "concurrency/publishing.hpp"
#include "concurrency/reading.hpp"
#include "ringmain/topic_options.hpp"
#include "support/plain_log.hpp"

namespace ringmain::test {

/// A number of records that suits the build: fewer under ThreadSanitizer. RINGMAIN_SCALE multiplies it.
[[nodiscard]] std::uint64_t scaled(std::uint64_t records);

/// A reader that holds a gate on a block log, lets go of it now and then, and comes back.
struct GatedReading {
    unsigned drops = 1;  // in a thousand steps
    unsigned deaths = 1;
};

struct PlainReading {
    Reading reading = Reading::copy;
    bool closes = true;
};

class Crowd {
public:
    /// Prints the seed under `name`.
    Crowd(std::string name, const PlainShape& shape);

    std::vector<Habits> producers;
    std::vector<PlainReading> readers;
    std::vector<GatedReading> gated;
    unsigned closers = 0;
    unsigned keepers = 1;
    unsigned deleters = 0;
    std::optional<Retention> retention;

    /// Everybody at once, until each producer has published `records_each` and the readers are at the end.
    void run(std::uint64_t records_each);

    [[nodiscard]] const std::vector<std::string>& faults() const noexcept { return faults_; }
    [[nodiscard]] std::uint64_t acknowledged() const noexcept;
    [[nodiscard]] std::uint64_t deaths() const noexcept;
    [[nodiscard]] const std::vector<ReaderHistory>& reader_histories() const noexcept { return reader_histories_; }
    [[nodiscard]] const PlainLog<MortalMemory>& log() const noexcept { return log_; }

private:
    void run_readers(std::vector<std::thread>& threads);
    void run_others(std::vector<std::thread>& threads);
    void run_gated(std::size_t index);

    std::string name_;
    std::uint64_t seed_;
    PlainLog<MortalMemory> log_;
    std::unique_ptr<Lives> lives_;
    std::atomic<bool> published_{false};
    std::atomic<bool> done_{false};
    std::vector<ProducerHistory> producer_histories_;
    std::vector<ReaderHistory> reader_histories_;
    std::vector<ReaderHistory> gated_histories_;
    std::vector<std::string> faults_;
};

}  // namespace ringmain::test
