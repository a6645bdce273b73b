// The threads that answer requests: users take turns, and what waits is dropped at the end.
#include "daemon/http_workers.hpp"

#include <condition_variable>
#include <mutex>
#include <string>

#include "support/catch.hpp"

using namespace ringmain::daemon;

namespace {

constexpr uid_t kGreedy = 1;
constexpr uid_t kModest = 2;

/// One thread that is kept busy until all jobs are there.
class Place {
public:
    Place() {
        workers.start(1);
        workers.add(WorkKind::look, kGreedy, [this] {
            std::unique_lock lock(mutex_);
            busy_ = true;
            changed_.notify_all();
            changed_.wait(lock, [this] { return begun_; });
        });
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return busy_; });
    }
    void add(const PeerUser& user, char name) {
        ++jobs_;
        workers.add(WorkKind::look, user, [this, name] {
            const std::lock_guard lock(mutex_);
            order_ += name;
            changed_.notify_all();
        });
    }
    std::string run() {
        std::unique_lock lock(mutex_);
        begun_ = true;
        changed_.notify_all();
        changed_.wait(lock, [this] { return order_.size() == jobs_; });
        return order_;
    }

    HttpWorkers workers;

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool busy_ = false;
    bool begun_ = false;
    std::size_t jobs_ = 0;
    std::string order_;
};

}  // namespace

TEST_CASE("Users who wait take turns, each in the order in which he came") {
    Place place;
    for (const char name : {'1', '2', '3', '4'})
        place.add(kGreedy, name);
    place.add(kModest, 'a');
    place.add(std::nullopt, 'A');
    place.add(kModest, 'b');
    CHECK(place.run() == "1aA2b34");
}

TEST_CASE("Jobs of one kind do not wait for those of the other") {
    Place place;
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    place.workers.add(WorkKind::change, kGreedy, [&] {
        const std::lock_guard lock(mutex);
        done = true;
        changed.notify_all();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
    CHECK(place.run().empty());
}

TEST_CASE("What waits when the threads are stopped is not done") {
    Place place;
    CHECK(place.run().empty());
    place.workers.stop();
    bool done = false;
    place.workers.add(WorkKind::look, kModest, [&] { done = true; });
    place.workers.stop();
    CHECK_FALSE(done);
}
