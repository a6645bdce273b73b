// A keeper in a process of its own: works when it gets the lock, and tries again when another one has it.
#include <optional>

#include "life.hpp"
#include "ringmain/keeper.hpp"

namespace ringmain::nemesis {

namespace {

class KeeperLife : Life {
public:
    explicit KeeperLife(const Job& job) : Life(job) {}

    int live() {
        while (!is_set(control().stop_auditing) && !is_over()) {
            if (keeper_ || claim())
                work();
            pause(std::chrono::milliseconds(keeper_ ? 5 : 20));
        }
        return 0;
    }

private:
    bool claim() {
        try {
            keeper_.emplace(broker_);
            return true;
        } catch (const Error& error) {
            if (error.code() != ErrorCode::busy)
                throw;
            return false;
        }
    }

    void work() {
        (void)inside([&] { return keeper_->do_work(std::chrono::steady_clock::now().time_since_epoch()); });
        if (!keeper_->statistics().keeping)
            fail(700);
    }

    std::optional<Keeper> keeper_;
};

}  // namespace

int live_as_keeper(const Job& job) { return KeeperLife(job).live(); }

}  // namespace ringmain::nemesis
