// Runs one execution of a scenario: fibres for threads, a step for every atomic operation, a choice wherever two
// executions can differ.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "explore/choices.hpp"
#include "explore/fibre.hpp"
#include "explore/scenario.hpp"
#include "explore/sites.hpp"
#include "explore/weak_memory.hpp"

namespace ringmain::explore {

/// Where an operation acts, and who called it.
struct Access {
    const void* address;
    unsigned bytes;
    Caller caller;
};

class Engine {
public:
    /// The one that runs now: the memory policy asks it. Null outside of explorers.
    [[nodiscard]] static Engine* current() noexcept { return current_; }

    explicit Engine(Scenario& scenario);
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    [[nodiscard]] Choices& choices() noexcept { return choices_; }
    [[nodiscard]] Sites& sites() noexcept { return sites_; }

    /// One execution. True: nothing was violated.
    bool run();
    [[nodiscard]] const std::string& violation() const noexcept { return violation_; }
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_total_; }

    /// Steps are written down from here on.
    void trace(bool on) noexcept { tracing_ = on; }
    [[nodiscard]] const std::vector<std::string>& traced() const noexcept { return trace_; }

    // What the memory policy calls. Outside of threads they see the last value of everything.
    std::uint64_t load(const Access& access, std::memory_order order);
    void store(const Access& access, std::uint64_t value, std::memory_order order);
    std::uint64_t change(const Access& access, Operation operation, WeakMemory::Change how, std::uint64_t operand,
                         std::memory_order order);
    bool compare_exchange(const Access& access, const WeakMemory::Exchange& exchange);
    bool compare_exchange_16(const Access& low, const void* high, platform::Halves& expected, platform::Halves desired);
    void fence(std::memory_order order, const Caller& caller);
    void copy_in(std::byte* shared, const std::byte* from, std::size_t bytes, const Caller& caller);
    void copy_out(std::byte* to, const std::byte* shared, std::size_t bytes, const Caller& caller);
    void point(const char* name);

    // What scenarios call.
    void require(bool holds, const char* what);
    [[nodiscard]] unsigned this_thread() const noexcept { return running_; }
    [[nodiscard]] bool proven_dead(unsigned thread);
    [[nodiscard]] bool fell(unsigned thread) const noexcept;
    [[nodiscard]] bool ended(unsigned thread) const noexcept { return threads_[thread].state == State::ended; }
    bool give_way();
    void barrier_everywhere();
    void sleep_on(const void* word, std::uint32_t expected);
    void wake_sleepers(const void* word);
    [[nodiscard]] bool asleep(unsigned thread) const noexcept { return threads_[thread].state == State::asleep; }
    [[nodiscard]] unsigned choose(unsigned count) { return choices_.pick(count, ChoiceKind::scenario); }
    [[nodiscard]] std::uint64_t newest(const void* address);
    void note(const std::string& text);

private:
    static constexpr unsigned kNobody = kThreadsMax;
    enum class State : std::uint8_t { ready, asleep, ended, dead, stopped };
    struct Thread {
        Fibre fibre;
        State state = State::ready;
        const void* sleeps_on = nullptr;
    };

    void run_threads();
    void violate(std::string what);
    [[noreturn]] void abandon();
    void step();
    WeakMemory::Location step_at(const void* address);
    void may_fall();
    void may_be_preempted();
    [[nodiscard]] unsigned others_ready(std::array<unsigned, kThreadsMax>& others) const noexcept;
    void go_on_with(unsigned thread);
    [[nodiscard]] bool outside() const noexcept { return running_ == kNobody; }
    Site& reach(const Caller& caller, Operation operation, std::memory_order order);

    [[nodiscard]] std::uint64_t seen_outside(const Access& access);
    void write_outside(const Access& access, std::uint64_t value);
    [[nodiscard]] std::uint64_t part(const Access& access, std::uint64_t word) const noexcept;
    void tell(const Site& site, const void* address, const std::string& what);
    void tell_change(const Site& site, const void* address, std::uint64_t from, std::uint64_t to,
                     std::memory_order order);
    bool split_exchange(const Site& site, const Access& access, WeakMemory::Location location,
                        const WeakMemory::Exchange& exchange);

    static Engine* current_;

    Scenario& scenario_;
    Choices choices_;
    Sites sites_;
    WeakMemory memory_{choices_};
    std::array<Thread, kThreadsMax> threads_;
    unsigned running_ = kNobody;
    unsigned next_ = kNobody;
    bool executing_ = false;
    std::string violation_;
    bool violated_ = false;
    unsigned preemptions_left_ = 0;
    unsigned deaths_left_ = 0;
    unsigned stops_left_ = 0;
    unsigned steps_ = 0;
    std::uint64_t steps_total_ = 0;
    bool tracing_ = false;
    std::vector<std::string> trace_;
};

}  // namespace ringmain::explore
