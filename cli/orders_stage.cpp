// The story as a screenplay, and the watch over the children while it plays.
#include "orders_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "demo_text.hpp"
#include "orders_roles.hpp"

namespace ringmain::cli::orders {

namespace {

using demo::grouped;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kTick{2};
constexpr microseconds kCatchEvery{300};  // between two attempts to catch a member at work
constexpr std::uint64_t kCaughtWith = 5;  // events that are handled and not committed

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

std::string names_of(std::uint32_t members) {
    std::string names;
    for (std::uint32_t member = 0; member < kMembers.size(); ++member) {
        if ((members >> member & 1U) != 0)
            names.append(names.empty() ? "" : " and ").append(kMembers[member].name);
    }
    return names;
}

}  // namespace

Stage::Stage(const Plan& plan, Records& records, demo::Narrator& narrator)
    : plan_(plan), records_(records), board_(*records.board), narrator_(narrator), waiting_(kTick, kPatience, [this] {
          check_on_everybody();
          show_progress();
      }) {}

StageFacts Stage::run() {
    raise_house();
    let_members_join();
    raise_printers();
    start_producers();
    watch_flaky_order();
    kill_printer();
    kill_one();
    stop_one();
    continue_it();
    mend_map();
    let_producers_end();
    let_groups_end();
    return facts_;
}

void Stage::raise_house() {
    house_ = demo::Child("house", board_.house.error, [this] { run_house(plan_, board_); });
    waiting_.until("the topic", kPatience, [&] { return board_.house.ready.load(std::memory_order_acquire); });
    narrator_.event(fmt::format("topic '{}': {} partitions of {} records, {:.1f} MiB in {}", kTopic, kPartitions,
                                grouped(plan_.topic_options.records),
                                static_cast<double>(load(board_.house.topic_bytes)) / 1048576.0,
                                plan_.broker.string()));
    narrator_.event(fmt::format("topic '{}': {} partitions, a label for each order; with its dead letters {:.1f} MiB",
                                kLabels, kLabelPartitions,
                                static_cast<double>(load(board_.house.label_bytes)) / 1048576.0));
}

void Stage::let_members_join() {
    members_.reserve(kMembers.size());
    for (std::uint32_t member = 0; member < kMembers.size(); ++member) {
        members_.emplace_back(kMembers[member].name, board_.members[member].error,
                              [this, member] { run_member(plan_, board_, records_.journals[member], member); });
    }
    waiting_.until("the sharing of the partitions", kPatience, [&] { return shared_out(); });
    narrator_.event(
        fmt::format("groups email ({} members, {} partitions each), inventory, analytics; nobody coordinates them",
                    kGroups[0].members, kPartitions / kGroups[0].members));
}

void Stage::start_producers() {
    producers_.reserve(plan_.options.producers);
    for (std::uint32_t index = 0; index < plan_.options.producers; ++index) {
        producers_.emplace_back(fmt::format("producer {}", index), board_.producers[index].error,
                                [this, index] { run_producer(plan_, board_, index); });
    }
    waiting_.until("the producers", kPatience, [&] {
        return std::all_of(board_.producers.begin(), board_.producers.begin() + plan_.options.producers,
                           [](const ProducerPanel& panel) { return panel.ready.load(std::memory_order_acquire); });
    });
    facts_.moments.started_ns = now_ns();
    board_.started_ns.store(facts_.moments.started_ns, std::memory_order_release);
    narrator_.start_clock();
    narrator_.event(fmt::format("{} producers place {} orders; each is placed, paid, packed and shipped",
                                plan_.options.producers, grouped(plan_.orders())));
}

void Stage::kill_one() {
    wait_for_moment("the moment of the kill", plan_.kill_after_ns);
    catch_at_work(kKilled);
    const MemberPanel& panel = board_.members[kKilled];
    const std::uint32_t partitions = panel.partitions.load(std::memory_order_relaxed);
    facts_.killed_uncommitted = load(panel.uncommitted);
    facts_.moments.killed_ns = now_ns();
    board_.killed_ns.store(facts_.moments.killed_ns, std::memory_order_relaxed);
    members_[kKilled].kill();
    narrator_.event(fmt::format("{} killed with SIGKILL in mid-work, {} events handled and not committed",
                                kMembers[kKilled].name, facts_.killed_uncommitted));
    watch_takeover(kKilled, facts_.moments.killed_ns, partitions);
}

void Stage::stop_one() {
    wait_for_moment("the moment of the stop", plan_.stop_after_ns);
    catch_at_work(kStopped);
    const MemberPanel& panel = board_.members[kStopped];
    facts_.moments.stopped_ns = now_ns();
    board_.stopped_ns.store(facts_.moments.stopped_ns, std::memory_order_relaxed);
    facts_.stopped_uncommitted = load(panel.uncommitted);
    facts_.stopped_in_hand = load(panel.in_hand);
    narrator_.event(fmt::format("{} stopped with SIGSTOP in mid-work, {} events handled and not committed, {} in hand",
                                kMembers[kStopped].name, facts_.stopped_uncommitted, facts_.stopped_in_hand));
    watch_takeover(kStopped, facts_.moments.stopped_ns, panel.partitions.load(std::memory_order_relaxed));
}

void Stage::continue_it() {
    wait_for_moment("the moment of the continuation", plan_.continue_after_ns);
    facts_.moments.continued_ns = now_ns();
    board_.continued_ns.store(facts_.moments.continued_ns, std::memory_order_relaxed);
    members_[kStopped].resume();
    waiting_.until("what the stopped member learns", kPatience, [&] { return members_[kStopped].ended(); });
    const auto entries = records_.journals[kStopped].entries();
    const auto from_ns = facts_.moments.continued_ns;
    narrator_.event(
        fmt::format("{} continued: handled {} more that it had in hand, {}was told that it is evicted, and left",
                    kMembers[kStopped].name, count_entries(entries, Entry::Kind::handled, from_ns),
                    count_entries(entries, Entry::Kind::fenced, from_ns) != 0 ? "could not commit, " : ""));
}

void Stage::let_producers_end() {
    waiting_.until("the end of the orders", nanoseconds(plan_.end_after_ns) + kPatience, [&] {
        return std::count_if(producers_.begin(), producers_.end(), [](demo::Child& child) { return !child.ended(); }) ==
               0;
    });
    facts_.produced_for_ns = static_cast<std::uint64_t>(narrator_.elapsed_ns());
    narrator_.event("all orders are shipped");
}

void Stage::let_groups_end() {
    waiting_.until("the end of the work of groups and printers", kPatience, [&] {
        waiting_.for_look("a look at the groups", board_.house.looks_wanted, board_.house.looks_taken);
        return lag() == 0;
    });
    board_.close.store(true, std::memory_order_release);
    waiting_.until("the members' end", kPatience, [&] {
        const auto at_work = [](demo::Child& child) { return !child.ended(); };
        return std::count_if(members_.begin(), members_.end(), at_work) == 0 &&
               std::count_if(printers_.begin(), printers_.end(), at_work) == 0;
    });
    board_.stop_keeping.store(true, std::memory_order_release);
    waiting_.until("the house's end", kPatience, [&] { return house_.ended(); });
    narrator_.event("every group has committed everything, and every label is printed");
}

/// Stops a member between two events of which it has committed neither, with more of them in its hands.
void Stage::catch_at_work(std::uint32_t member) {
    const MemberPanel& panel = board_.members[member];
    catch_child(fmt::format("{} at work", kMembers[member].name), members_[member],
                [&] { return load(panel.uncommitted) >= kCaughtWith && load(panel.in_hand) != 0; });
}

/// Stops a child while it does what it is to be caught at.
void Stage::catch_child(std::string_view what, demo::Child& child, const std::function<bool()>& at_work) const {
    waiting_.until(what, kPatience, [&] {
        const auto deadline = Clock::now() + kTick;
        while (Clock::now() < deadline) {
            if (at_work() && child.stop()) {
                if (at_work())
                    return true;
                child.resume();
            }
            std::this_thread::sleep_for(kCatchEvery);
        }
        return false;
    });
}

void Stage::watch_takeover(std::uint32_t member, std::int64_t signal_ns, std::uint32_t partitions) {
    const GroupPanel& group = board_.groups[kMembers[member].group];
    std::uint32_t owners = 0;
    waiting_.until("the take-over of its partitions", kPatience, [&] {
        owners = 0;
        for (std::uint32_t partition = 0; partition < kPartitions; ++partition) {
            if ((partitions >> partition & 1U) != 0)
                owners |= 1U << (group.owner[partition].load(std::memory_order_acquire) - 1);
        }
        return (owners >> member & 1U) == 0;
    });
    narrator_.event(fmt::format("its {} partitions are taken over by {} after {}", std::popcount(partitions),
                                names_of(owners), demo::duration(static_cast<std::uint64_t>(now_ns() - signal_ns))));
}

void Stage::wait_for_moment(std::string_view what, std::int64_t after_ns) {
    waiting_.until(what, nanoseconds(after_ns) + kPatience, [&] { return narrator_.elapsed_ns() >= after_ns; });
}

void Stage::check_on_everybody() {
    house_.ended();
    for (demo::Child& member : members_)
        member.ended();
    for (demo::Child& printer : printers_)
        printer.ended();
    for (demo::Child& producer : producers_)
        producer.ended();
}

void Stage::show_progress() {
    if (facts_.moments.started_ns == 0 || !narrator_.progress_due())
        return;
    std::string text = fmt::format("events {:>5}", grouped(published()));
    for (std::uint32_t group = 0; group < kGroups.size(); ++group)
        text += "  " + progress_of(group);
    text += fmt::format("  labels {:>5}", grouped(labels_printed()));
    narrator_.progress(text);
}

/// "email 1,234 (2+2+2)": events handled, and how many partitions each member holds.
std::string Stage::progress_of(std::uint32_t group) const {
    std::uint64_t handled = 0;
    std::array<std::uint32_t, kMembers.size()> held{};
    for (const auto& owner : board_.groups[group].owner) {
        if (const std::uint32_t member = owner.load(std::memory_order_relaxed); member != 0)
            ++held[member - 1];
    }
    std::string shares;
    for (std::uint32_t member = 0; member < kMembers.size(); ++member) {
        if (kMembers[member].group != group)
            continue;
        handled += load(board_.members[member].handled);
        shares += (shares.empty() ? "" : "+") + std::to_string(held[member]);
    }
    const bool alone = kGroups[group].members == 1;
    return fmt::format("{} {:>5}{}", kGroups[group].name, grouped(handled), alone ? "" : " (" + shares + ")");
}

/// Every partition of every group has an owner that lives, and no two members of a group differ by more than one.
bool Stage::shared_out() const noexcept {
    for (std::uint32_t member = 0; member < kMembers.size(); ++member) {
        const auto held = static_cast<std::uint32_t>(
            std::popcount(board_.members[member].partitions.load(std::memory_order_relaxed)));
        if (held != kPartitions / kGroups[kMembers[member].group].members)
            return false;
    }
    return true;
}

std::uint64_t Stage::published() const noexcept {
    std::uint64_t sum = 0;
    for (const ProducerPanel& panel : board_.producers)
        sum += load(panel.published);
    return sum;
}

std::uint64_t Stage::lag() const noexcept {
    std::uint64_t sum = 0;
    for (const GroupPanel& group : board_.groups)
        sum += load(group.lag);
    return sum + load(board_.queue.lag);
}

}  // namespace ringmain::cli::orders
