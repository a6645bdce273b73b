// The processes of a run: started, struck, buried and replaced, each by its id.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "life.hpp"
#include "support/child.hpp"

namespace ringmain::nemesis {

/// How many of each role.
struct Roster {
    std::uint32_t producers = 8;
    std::uint32_t members = 4;
    std::uint32_t workers = 4;
    std::uint32_t readers = 2;
    std::uint32_t keepers = 1;
    std::uint32_t daemons = 1;
    Canary canary = Canary::none;  // of the first process of the role that it is of
};

/// A place that one process after another has.
struct Post {
    enum class State : std::uint8_t { vacant, running, stopped, dying };
    Role role = Role::producer;
    std::uint32_t index = 0;
    std::uint32_t slot = 0;
    State state = State::vacant;
    std::uint32_t life = 0;
    std::uint64_t when = 0;  // vacant: not to be filled before; stopped: to be continued then
    std::optional<test::Child> child{};
};

class Crew {
public:
    Crew(Arena& arena, std::uint64_t seed, const Roster& roster);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    /// Buries the dead and fills vacant places.
    void upkeep();
    /// One signal: to one that has been stopped for long enough, else to one that is inside of a call, if there is one
    /// soon.
    void strike(std::mt19937_64& random);
    /// Lets all finish what is there, in order: producers, readers, members and workers, then the undisturbed.
    /// False: somebody does not come to an end (the history says who).
    [[nodiscard]] bool finish();

    [[nodiscard]] std::uint64_t signals() const noexcept { return signals_; }
    [[nodiscard]] std::uint64_t kills() const noexcept { return kills_; }
    [[nodiscard]] std::uint32_t lives() const noexcept { return next_life_ - 1; }

private:
    void fill(Post& post, bool drain = false);
    void bury(Post& post);
    Post* victim(std::mt19937_64& random);
    void kill(Post& post);
    void stop(Post& post, std::uint64_t until);
    void go_on(Post& post);
    bool end(std::initializer_list<Role> roles);
    bool drain(Role role);
    void note(Event::Kind kind, const Post& post, std::uint8_t extra = 0);

    Arena& arena_;
    std::mt19937_64 seeds_;
    Canary canary_;
    Journal journal_;
    std::vector<Post> posts_;
    std::uint32_t next_life_ = 2;  // the nemesis itself is life 1
    std::uint64_t signals_ = 0;
    std::uint64_t kills_ = 0;
};

}  // namespace ringmain::nemesis
