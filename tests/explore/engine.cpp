// The running of threads: which goes on, which dies, what a violation ends.
#include "explore/engine.hpp"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace ringmain::explore {

Engine* Engine::current_ = nullptr;

Engine::Engine(Scenario& scenario) : scenario_(scenario) {
    if (scenario.threads() > kThreadsMax)
        std::abort();
    for (const Region& region : scenario.regions()) {
        std::memset(region.at, 0, region.bytes);
        memory_.share(region);
    }
    for (const Calm& calm : scenario.calm())
        memory_.keep_calm(calm);
    for (unsigned i = 0; i < scenario.threads(); ++i)
        threads_[i].fibre.set_work([this, i] { scenario_.thread(i); });
    current_ = this;
    scenario.set_up();
}

Engine::~Engine() { current_ = nullptr; }

bool Engine::run() {
    const Bounds& bounds = scenario_.bounds();
    preemptions_left_ = bounds.preemptions;
    deaths_left_ = bounds.deaths;
    stops_left_ = bounds.stops;
    steps_ = 0;
    violated_ = false;
    trace_.clear();
    memory_.forget(scenario_.threads(), bounds.stale);
    executing_ = true;
    scenario_.begin();
    run_threads();
    if (!violated_)
        scenario_.finish();
    executing_ = false;
    if (choices_.misfit() && !violated_)
        violate("the replay's word does not fit this execution");
    return !violated_;
}

void Engine::run_threads() {
    for (unsigned i = 0; i < scenario_.threads(); ++i) {
        threads_[i].state = State::ready;
        threads_[i].fibre.start();
    }
    next_ = kNobody;
    while (!violated_) {
        if (next_ == kNobody) {
            std::array<unsigned, kThreadsMax> ready;
            const unsigned count = others_ready(ready);
            if (count == 0)
                break;
            next_ = ready[choices_.pick(count, ChoiceKind::next)];
        }
        running_ = std::exchange(next_, kNobody);
        Thread& thread = threads_[running_];
        if (thread.fibre.resume())
            thread.state = State::ended;
        running_ = kNobody;
    }
    steps_total_ += steps_;
}

unsigned Engine::others_ready(std::array<unsigned, kThreadsMax>& others) const noexcept {
    unsigned count = 0;
    for (unsigned i = 0; i < scenario_.threads(); ++i) {
        if (i != running_ && threads_[i].state == State::ready)
            others[count++] = i;
    }
    return count;
}

void Engine::go_on_with(unsigned thread) {
    next_ = thread;
    threads_[running_].fibre.pause();
}

void Engine::abandon() {
    threads_[running_].fibre.pause();
    std::abort();  // abandoned work is never resumed
}

void Engine::violate(std::string what) {
    violated_ = true;
    violation_ = std::move(what);
    if (tracing_)
        trace_.push_back("VIOLATION: " + violation_);
}

void Engine::require(bool holds, const char* what) {
    if (holds || violated_)
        return;
    violate(what);
    if (!outside())
        abandon();
}

void Engine::step() {
    if (++steps_ > scenario_.bounds().steps_max) {
        violate("no progress: more than " + std::to_string(scenario_.bounds().steps_max) + " steps");
        abandon();
    }
    if (memory_.is_nearly_full()) {
        violate("no progress: more writes than an execution may have");
        abandon();
    }
    if ((scenario_.bounds().mortal >> running_ & 1U) != 0)
        may_fall();
    if (preemptions_left_ != 0)
        may_be_preempted();
}

void Engine::may_fall() {
    const unsigned dies = deaths_left_ != 0 ? 1 : 0;
    const unsigned stops = stops_left_ != 0 ? 1 : 0;
    const unsigned picked = choices_.pick(1 + dies + stops, ChoiceKind::death);
    if (picked == 0)
        return;
    Thread& thread = threads_[running_];
    if (picked == dies) {
        --deaths_left_;
        thread.state = State::dead;
        note("dies");
    } else {
        --stops_left_;
        thread.state = State::stopped;
        note("stops for ever");
    }
    abandon();
}

void Engine::may_be_preempted() {
    std::array<unsigned, kThreadsMax> others;
    const unsigned count = others_ready(others);
    const unsigned picked = choices_.pick(1 + count, ChoiceKind::preempt);
    if (picked == 0)
        return;
    --preemptions_left_;
    note("is preempted");
    go_on_with(others[picked - 1]);
}

bool Engine::give_way() {
    step();
    std::array<unsigned, kThreadsMax> others;
    const unsigned count = others_ready(others);
    if (count == 0)
        return false;
    go_on_with(others[choices_.pick(count, ChoiceKind::next)]);
    return true;
}

// In the kernel each processor is fenced at a time of its own.
void Engine::barrier_everywhere() {
    const auto fenced = [this](unsigned thread) {
        step();
        memory_.fence(thread, std::memory_order_seq_cst);
        note("fences thread " + std::to_string(thread));
    };
    fenced(running_);
    for (unsigned i = 0; i < scenario_.threads(); ++i) {
        if (i != running_ && threads_[i].state != State::dead)
            fenced(i);
    }
    fenced(running_);
}

void Engine::sleep_on(const void* word, std::uint32_t expected) {
    step();
    if (static_cast<std::uint32_t>(newest(word)) != expected) {
        note("does not sleep: the word has changed");
        return;
    }
    note("sleeps");
    threads_[running_].state = State::asleep;
    threads_[running_].sleeps_on = word;
    threads_[running_].fibre.pause();
}

void Engine::wake_sleepers(const void* word) {
    if (!outside())
        step();
    for (unsigned i = 0; i < scenario_.threads(); ++i) {
        if (threads_[i].state != State::asleep || threads_[i].sleeps_on != word)
            continue;
        threads_[i].state = State::ready;
        note("wakes thread " + std::to_string(i));
    }
}

bool Engine::fell(unsigned thread) const noexcept {
    return threads_[thread].state == State::dead || threads_[thread].state == State::stopped;
}

bool Engine::proven_dead(unsigned thread) {
    if (outside())
        return threads_[thread].state == State::dead;
    step();
    const bool dead = threads_[thread].state == State::dead;
    if (dead)
        memory_.join(running_, thread);
    note("asks the kernel about thread " + std::to_string(thread) + (dead ? ": dead" : ": not dead"));
    return dead;
}

void require(bool holds, const char* what) { Engine::current()->require(holds, what); }
unsigned this_thread() noexcept { return Engine::current()->this_thread(); }
bool proven_dead(unsigned thread) { return Engine::current()->proven_dead(thread); }
bool fell(unsigned thread) noexcept { return Engine::current()->fell(thread); }
bool ended(unsigned thread) noexcept { return Engine::current()->ended(thread); }
bool give_way() { return Engine::current()->give_way(); }
void barrier_everywhere() { Engine::current()->barrier_everywhere(); }
void sleep_on(const void* word, std::uint32_t expected) { Engine::current()->sleep_on(word, expected); }
void wake_sleepers(const void* word) { Engine::current()->wake_sleepers(word); }
bool asleep(unsigned thread) noexcept { return Engine::current()->asleep(thread); }
unsigned choose(unsigned count) { return Engine::current()->choose(count); }
std::uint64_t newest(const void* address) { return Engine::current()->newest(address); }
void note(const std::string& text) { Engine::current()->note(text); }

}  // namespace ringmain::explore
