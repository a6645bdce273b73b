// Fibres: the stack is made by makecontext; afterwards only registers are changed, without system calls.
#include "explore/fibre.hpp"

#include <ucontext.h>

namespace ringmain::explore {

Fibre::Fibre() : stack_(new std::byte[kStackBytes]) {}

void Fibre::start() noexcept {
    ended_ = false;
    on_stack_ = waiting_;  // abandoned work is overwritten: the stack is made anew
}

bool Fibre::resume() noexcept {
    if (on_stack_) {
        change(outside_, inside_);
    } else {
        on_stack_ = true;
        begin(outside_);
    }
    return ended_;
}

void Fibre::pause() noexcept { change(inside_, outside_); }

void Fibre::run() {
    for (;;) {
        waiting_ = false;
        work_();
        ended_ = waiting_ = true;
        change(inside_, outside_);
    }
}

void Fibre::enter(unsigned high, unsigned low) {
    const std::uint64_t address = std::uint64_t{high} << 32 | low;
    reinterpret_cast<Fibre*>(address)->run();
}

[[gnu::noinline]] void Fibre::begin(Place& from) noexcept {
    if (__builtin_setjmp(from) != 0)
        return;
    waiting_ = false;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stack_.get();
    context.uc_stack.ss_size = kStackBytes;
    context.uc_link = nullptr;
    const auto address = reinterpret_cast<std::uint64_t>(this);
    makecontext(&context, reinterpret_cast<void (*)()>(&Fibre::enter), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
    setcontext(&context);
}

[[gnu::noinline]] void Fibre::change(Place& from, Place& to) noexcept {
    if (__builtin_setjmp(from) == 0)
        jump(to);
}

[[gnu::noinline]] void Fibre::jump(Place& to) noexcept { __builtin_longjmp(to, 1); }

}  // namespace ringmain::explore
