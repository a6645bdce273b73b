// Starting, striking and replacing processes.
#include "crew.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;
using State = Post::State;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::chrono::seconds kPatience{90};  // only for what hangs

bool is_disturbed(Role role) { return role != Role::auditor && role != Role::admin; }

Role role_of(Canary canary) {
    switch (canary) {
        case Canary::member_commits_first:
            return Role::member;
        case Canary::reader_drops:
            return Role::reader;
        case Canary::producer_lies:
            return Role::producer;
        case Canary::worker_acks_for_others:
            return Role::worker;
        default:
            return Role::nemesis;
    }
}

int be_daemon(const std::string& directory, const std::string& output) {
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::execl(RINGMAIN_DAEMON_PATH, RINGMAIN_DAEMON_PATH, "-d", directory.c_str(), nullptr);
    return 97;
}

int live(const Job& job) {
    switch (job.role) {
        case Role::producer:
            return live_as_producer(job);
        case Role::member:
            return live_as_member(job);
        case Role::worker:
            return live_as_worker(job);
        case Role::reader:
            return live_as_reader(job);
        case Role::auditor:
            return live_as_auditor(job);
        case Role::admin:
            return live_as_admin(job);
        default:
            return live_as_keeper(job);
    }
}

}  // namespace

Crew::Crew(Arena& arena, std::uint64_t seed, const Roster& roster)
    : arena_(arena),
      seeds_(seed),
      canary_(roster.canary),
      journal_(arena.histories(), Role::nemesis, 0, 1, std::size_t{1} << 22) {
    const auto add = [&](Role role, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i)
            posts_.push_back({.role = role, .index = i, .slot = static_cast<std::uint32_t>(posts_.size())});
    };
    add(Role::auditor, 2);
    add(Role::admin, 1);
    add(Role::keeper, roster.keepers);
    add(Role::daemon, roster.daemons);
    add(Role::member, roster.members);
    add(Role::worker, roster.workers);
    add(Role::reader, roster.readers);
    add(Role::producer, roster.producers);
    upkeep();
}

/// Those that are stopped would not be ended by anything but SIGKILL, which Child sends.
Crew::~Crew() = default;

void Crew::note(Kind kind, const Post& post, std::uint8_t extra) {
    journal_.note({.kind = kind, .extra = extra, .aux = post.life});
}

void Crew::fill(Post& post, bool drain) {
    Job job{arena_.directory(), arena_.histories(), &arena_.control(), post.role, post.index,
            next_life_++,       post.slot,          seeds_(),          drain};
    if (post.role == role_of(canary_) && post.index == 0 && !drain)
        job.canary = canary_;
    post.life = job.life;
    arena_.control().busy.at(post.slot).store(false, std::memory_order_relaxed);  // relaxed: a hint
    post.child.emplace(
        [&] { return job.role == Role::daemon ? be_daemon(arena_.directory(), arena_.output()) : live(job); });
    post.state = State::running;
}

void Crew::bury(Post& post) {
    siginfo_t info{};
    const auto pid = static_cast<id_t>(post.child->pid());
    if (::waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
        return;
    const int code = post.child->wait();
    if (post.state != State::dying)  // a daemon ends at once when another keeper is there
        note(Kind::exited, post, post.role == Role::daemon ? 0 : static_cast<std::uint8_t>(code));
    post.child.reset();
    post.state = State::vacant;
    post.when = now_ns() + (post.role == Role::daemon ? 200 * kMs : 0);
}

void Crew::upkeep() {
    for (Post& post : posts_) {
        if (post.state != State::vacant)
            bury(post);
        if (post.state == State::vacant && now_ns() >= post.when)
            fill(post);
    }
}

Post* Crew::victim(std::mt19937_64& random) {
    std::vector<Post*> running;
    for (Post& post : posts_) {
        if (post.state == State::running && is_disturbed(post.role))
            running.push_back(&post);
    }
    if (running.empty())
        return nullptr;
    std::shuffle(running.begin(), running.end(), random);
    if (random() % 4 == 0)
        return running.front();
    for (int looks = 0; looks < 20; ++looks) {
        for (Post* one : running) {
            if (arena_.control().busy.at(one->slot).load(std::memory_order_relaxed))  // relaxed: a hint
                return one;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(60));
    }
    return running.front();
}

void Crew::strike(std::mt19937_64& random) {
    for (Post& post : posts_) {
        if (post.state == State::stopped && now_ns() >= post.when)
            return go_on(post);
    }
    Post* const one = victim(random);
    if (one == nullptr)
        return;
    const auto stopped =
        std::count_if(posts_.begin(), posts_.end(), [](const Post& p) { return p.state == State::stopped; });
    if (random() % 100 < 40 || stopped > 6)
        return kill(*one);
    const std::uint64_t time = random() % 16 == 0 ? 300 + random() % 900 : random() % 60;
    stop(*one, now_ns() + time * kMs);
    if (random() % 10 == 0)
        kill(*one);  // while it is stopped
}

void Crew::kill(Post& post) {
    note(Kind::killed, post);
    post.child->signal(SIGKILL);
    post.state = State::dying;
    ++signals_;
    ++kills_;
}

void Crew::stop(Post& post, std::uint64_t until) {
    note(Kind::stopped, post);
    post.child->signal(SIGSTOP);
    post.state = State::stopped;
    post.when = until;
    ++signals_;
}

void Crew::go_on(Post& post) {
    post.child->signal(SIGCONT);
    note(Kind::continued, post);
    post.state = State::running;
    ++signals_;
}

/// Waits until those have ended that were told to.
bool Crew::end(std::initializer_list<Role> roles) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    for (;;) {
        bool all = true;
        for (Post& post : posts_) {
            if (std::find(roles.begin(), roles.end(), post.role) == roles.end() || post.state == State::vacant)
                continue;
            bury(post);
            all = all && post.state == State::vacant;
        }
        if (all)
            return true;
        if (std::chrono::steady_clock::now() > deadline)
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    for (const Post& post : posts_) {
        if (post.state != State::vacant && std::find(roles.begin(), roles.end(), post.role) != roles.end())
            note(Kind::failed, post);
    }
    return false;
}

/// One that goes on until nothing is left.
bool Crew::drain(Role role) {
    const auto post = std::find_if(posts_.begin(), posts_.end(), [&](const Post& one) { return one.role == role; });
    if (post == posts_.end())
        return true;
    fill(*post, true);
    return end({role});
}

bool Crew::finish() {
    for (Post& post : posts_) {
        if (post.state == State::stopped)
            go_on(post);
    }
    // From here on one keeper, which nobody disturbs, so that what the dead held comes back.
    const auto is_keeper = [](const Post& post) { return post.role == Role::keeper || post.role == Role::daemon; };
    for (Post& post : posts_) {
        if (is_keeper(post) && post.state == State::running)
            kill(post);
    }
    if (!end({Role::keeper, Role::daemon}))
        return false;
    for (Post& post : posts_) {
        if (post.role == Role::keeper)
            fill(post, true);
    }
    const auto set = [](std::atomic<bool>& flag) { flag.store(true, std::memory_order_release); };
    set(arena_.control().stop_producing);
    if (!end({Role::producer}))
        return false;
    set(arena_.control().stop_reading);
    if (!end({Role::member, Role::worker, Role::reader}) || !drain(Role::member) || !drain(Role::worker))
        return false;
    set(arena_.control().stop_auditing);
    return end({Role::auditor, Role::admin, Role::keeper});
}

}  // namespace ringmain::nemesis
