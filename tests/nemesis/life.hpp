// What the lives of all roles have: a history, a flag that says when to strike, and chance.
#pragma once

#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "arena.hpp"
#include "journal.hpp"

namespace ringmain::nemesis {

/// Planted faults of clients: a run with one of them has to be reported.
enum class Canary : std::uint8_t {
    none,
    member_commits_first,    // before it processes, and dies
    reader_drops,            // one record of a poll, without a word
    producer_lies,           // acknowledges what it does not publish
    worker_acks_for_others,  // takes a refused ack for done, and acks what it has acked already
};

struct Job {
    std::filesystem::path broker;
    std::filesystem::path histories;
    Control* control = nullptr;
    Role role = Role::producer;
    std::uint32_t index = 0;
    std::uint32_t life = 0;
    std::uint32_t slot = 0;
    std::uint64_t seed = 0;
    bool drain = false;  // works until nothing is left
    Canary canary = Canary::none;
};

class Life {
public:
    explicit Life(const Job& job, std::size_t events_max = std::size_t{1} << 18)
        : job_(job),
          random_(job.seed),
          journal_(job.histories, job.role, job.index, job.life, events_max),
          broker_(job.broker),
          ends_at_(std::chrono::steady_clock::now() + std::chrono::milliseconds(500 + below(8'000))) {}

protected:
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
    bool one_of(std::uint32_t n) { return below(n) == 0; }
    void note(const Event& event) noexcept { journal_.note(event); }
    [[nodiscard]] Control& control() const noexcept { return *job_.control; }
    /// A call that waits for nothing: a good moment to strike.
    template <class Call>
    auto inside(const Call& call) {
        const Busy busy(job_.control->busy.at(job_.slot));
        return call();
    }
    /// Notes an answer that may never be. `what` is for the reader of the source.
    void fail(std::uint32_t what, std::uint8_t topic = 0, std::uint8_t partition = 0,
              std::uint64_t offset = 0) noexcept {
        note({.kind = Event::Kind::failed, .topic = topic, .partition = partition, .aux = what, .offset = offset});
    }
    /// Everybody makes place for a successor after a while; who drains stays.
    [[nodiscard]] bool is_over() const noexcept {
        return journal_.nearly_full() || (!job_.drain && std::chrono::steady_clock::now() > ends_at_);
    }
    static bool is_set(const std::atomic<bool>& flag) noexcept { return flag.load(std::memory_order_acquire); }
    static void pause(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }

    Job job_;
    std::mt19937_64 random_;
    Journal journal_;
    Broker broker_;
    std::chrono::steady_clock::time_point ends_at_;
};

/// Each lives one life; its exit code.
int live_as_producer(const Job& job);
int live_as_member(const Job& job);
int live_as_worker(const Job& job);
int live_as_reader(const Job& job);
int live_as_auditor(const Job& job);
int live_as_admin(const Job& job);
int live_as_keeper(const Job& job);

}  // namespace ringmain::nemesis
