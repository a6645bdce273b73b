// The production memory policy with a hook in the named points between two steps: a test acts there as another process.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "platform/memory.hpp"

namespace ringmain::test {

struct HookedMemory : platform::HostMemory {
    using Hook = std::function<void(std::string_view point)>;

    static void point(const char* name) noexcept {
        if (!hook_)
            return;
        // what runs inside the hook is somebody else: it is not hooked
        Hook hook = std::exchange(hook_, nullptr);
        hook(name);
        if (!hook_)
            hook_ = std::move(hook);
    }

    /// While it lives, `hook` runs at every named point of this thread.
    class Scope {
    public:
        explicit Scope(Hook hook) { hook_ = std::move(hook); }
        ~Scope() { hook_ = nullptr; }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
    };

    /// A hook that acts once, at the first arrival at `name`.
    [[nodiscard]] static Hook once_at(std::string_view name, std::function<void()> act) {
        return [name, act = std::move(act), done = false](std::string_view point) mutable {
            if (done || point != name)
                return;
            done = true;
            act();
        };
    }

private:
    static inline thread_local Hook hook_;
};

}  // namespace ringmain::test
