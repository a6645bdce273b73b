// All topics that a keeper looks after: taken up when they appear, let go when they are deleted or their files change.
#include "kept_topics.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "platform/files.hpp"
#include "ringmain/error.hpp"
#include "topic_name.hpp"
#include "topic_paths.hpp"
#include "topic_removal.hpp"

namespace ringmain {

namespace {

constexpr std::int64_t kNamesNs = 250'000'000;          // how long a new topic may go unnoticed where nobody tells
constexpr std::int64_t kToldNamesNs = 5'000'000'000;    // where somebody does
constexpr std::int64_t kTurnNs = 400'000'000;           // in which each directory that is not watched is looked at once
constexpr std::int64_t kSweepNs = 250'000'000;
constexpr std::int64_t kIdleSweepNs = 1'000'000'000;
constexpr std::int64_t kRetryNs = 250'000'000;          // what cannot be opened: doubled each time
constexpr std::int64_t kRetryMaxNs = 4'000'000'000;
constexpr std::size_t kLooksPerStep = 16;               // at the files of topics whose directories changed
constexpr std::size_t kLetGoPerStep = 4;                // topics: their memory may be freed by that

}  // namespace

KeptTopics::KeptTopics(std::shared_ptr<Broker::Impl> broker, platform::DirectoryWatch watch)
    : broker_(std::move(broker)), watch_(std::move(watch)) {
    watch_broker();
}

void KeptTopics::watch_broker() noexcept {
    directory_watched_ = watch_.watch(broker_->directory() / ".");
    watch_.hear_reads_of(broker_->clients().path());  // a client that comes knocks there
}

bool KeptTopics::listen() try {
    if (watch_.descriptor() < 0) return false;
    platform::DirectoryWatch::Changes changes = watch_.changes();
    changes.everything |= std::exchange(missed_, false);
    const bool own = changes.everything ||
                     std::find(changes.directories.begin(), changes.directories.end(), directory_watched_) != changes.directories.end();
    if (own) watch_broker();  // perhaps another directory by now
    names_told_ |= own;
    hear(changes);
    return own;
} catch (...) {
    missed_ = true;  // no memory: what was read is not told again
    throw;
}

void KeptTopics::hear(const platform::DirectoryWatch::Changes& changes) {
    for (const int number : changes.directories) {
        names_told_ |= number == names_watched_;
        if (const auto topic = watched_.find(number); topic != watched_.end()) told_.insert(topic->second);
    }
    if (!changes.everything) return;
    for (const auto& [name, entry] : topics_) told_.insert(name);
}

void KeptTopics::step(KeeperStep& step) {
    let_go_of_deleted(step);
    let_go_of_damaged(step);
    look_at_files(step);
    farewells_.step(step);
    if (names_are_due(step)) find_names(step);
    take_up_some(step);
    step_all(step);
    sweep(step);
    if (!waiting_.empty() || !told_.empty()) ++step.report.unfinished;
}

void KeptTopics::step_all(KeeperStep& step) {
    partitions_ = 0;
    unreadable_partitions_ = 0;
    for (auto& [name, entry] : topics_) {
        entry.topic.step(step);
        if (!entry.told && entry.topic.complete()) tell_found(name, entry, step);
        partitions_ += entry.topic.partitions();
        unreadable_partitions_ += entry.topic.unreadable_partitions();
    }
}

void KeptTopics::tell_found(const std::string& name, Entry& entry, KeeperStep& step) {
    entry.told = true;
    const bool back = unreadable_.erase(name) != 0;
    const auto kind = back ? KeeperEventKind::topic_recovered : KeeperEventKind::topic_found;
    step.events.tell([&] { return KeeperEvent{kind, name, {}, {}, entry.topic.partitions()}; });
}

KeptTopics::Topics::iterator KeptTopics::let_go(Topics::iterator one) {
    if (one->second.watched) unwatch(*one->second.watched);
    return topics_.erase(one);
}

void KeptTopics::let_go_of_deleted(KeeperStep& step) {
    std::size_t let_go_of = 0;
    for (auto one = topics_.begin(); one != topics_.end() && let_go_of < kLetGoPerStep;) {
        if (!one->second.topic.deleted()) {
            ++one;
            continue;
        }
        ++let_go_of;
        const std::string name = one->first;
        one = let_go(one);
        step.events.tell([&] { return KeeperEvent{KeeperEventKind::topic_gone, name, {}, {}}; });
    }
    if (let_go_of == 0) return;
    if (let_go_of == kLetGoPerStep) ++step.report.unfinished;
    step.changed = true;
    names_told_ = true;          // another topic may have the name
    swept_ns_ = std::nullopt;    // and the dead one may be there still
}

/// Others may write into the files: nothing that they say by now is believed.
void KeptTopics::let_go_of_damaged(KeeperStep& step) {
    for (auto one = topics_.begin(); one != topics_.end();) {
        if (!one->second.topic.trouble()) {
            ++one;
            continue;
        }
        const std::string name = one->first;
        one = let_go(one);
        step.changed = true;
        waiting_.insert(name);  // opening it says what is wrong
    }
}

void KeptTopics::look_at_files(KeeperStep& step) {
    for (std::size_t looks = 0; looks < kLooksPerStep && !told_.empty(); ++looks) {
        look_at_file_of(told_.extract(told_.begin()).value(), step);
    }
    look_in_turn(step);
}

/// All directories that are not watched, once each time that the turn is over.
void KeptTopics::look_in_turn(KeeperStep& step) {
    const auto unwatched = std::count_if(topics_.begin(), topics_.end(), [](const auto& one) { return !one.second.watched; });
    if (unwatched == 0) return;
    const std::int64_t passed_ns = turned_ns_ ? std::clamp<std::int64_t>(step.now_ns - *turned_ns_, 0, kTurnNs) : kTurnNs;
    const auto due = static_cast<std::size_t>(unwatched * passed_ns / kTurnNs);
    if (due == 0 && turned_ns_ && step.now_ns >= *turned_ns_) return;  // nobody's share of the turn is over yet
    turned_ns_ = step.now_ns;
    std::vector<std::string> changed;
    auto one = topics_.lower_bound(next_in_turn_);
    for (std::size_t passed = 0, looks = 0; passed < topics_.size() && looks < due; ++passed, ++one) {
        if (one == topics_.end()) one = topics_.begin();
        if (one->second.watched) continue;
        ++looks;
        changed.push_back(one->first);
    }
    next_in_turn_ = one == topics_.end() ? std::string() : one->first;
    for (const std::string& name : changed) look_at_file_of(name, step);
}

void KeptTopics::look_at_file_of(const std::string& name, KeeperStep& step) {
    const auto one = topics_.find(name);
    if (one == topics_.end()) return;
    if (one->second.topic.deleted()) return;  // its end is told as such
    const auto changed = one->second.topic.find_changed_file();
    if (!changed) return one->second.topic.look_at_partitions(step);
    using How = KeptTopic::ChangedFile::How;
    step.changed = true;
    if (changed->how != How::truncated) {  // that is told by the attempt to open it
        const auto kind = changed->how == How::missing ? KeeperEventKind::file_missing : KeeperEventKind::file_replaced;
        step.events.tell([&] { return KeeperEvent{kind, name, {}, changed->path.string()}; });
        farewells_.add(one->second.topic.files(), step);
    }
    let_go(one);
    waiting_.insert(name);  // what is there now may be a whole topic
}

bool KeptTopics::names_are_due(const KeeperStep& step) const {
    if (names_told_ || !is_recent(named_ns_, step.now_ns, names_watched_ ? kToldNamesNs : kNamesNs)) return true;
    return std::any_of(unreadable_.begin(), unreadable_.end(), [&](const auto& one) {
        return !is_recent(one.second.tried_ns, step.now_ns, one.second.pause_ns);
    });
}

void KeptTopics::find_names(KeeperStep& step) try {
    names_told_ = false;
    named_ns_ = step.now_ns;
    names_watched_ = watch_.watch(topics_path(broker_->directory()));  // before the look
    std::set<std::string> there;
    for (std::string& name : platform::names_in(topics_path(broker_->directory()))) {
        if (is_topic_name(name)) there.insert(std::move(name));
    }
    forget_unreadable(there, step);
    for (const std::string& name : there) {
        const auto unreadable = unreadable_.find(name);
        const bool lately = unreadable != unreadable_.end() && is_recent(unreadable->second.tried_ns, step.now_ns, unreadable->second.pause_ns);
        if (!lately && !topics_.contains(name)) waiting_.insert(name);
    }
} catch (const Error&) {
    // may not be listed: what is known goes on, and the next look tries again
}

void KeptTopics::forget_unreadable(const std::set<std::string>& there, KeeperStep& step) {
    for (auto one = unreadable_.begin(); one != unreadable_.end();) {
        if (there.contains(one->first)) {
            ++one;
            continue;
        }
        step.events.tell([&] { return KeeperEvent{KeeperEventKind::topic_gone, one->first, {}, {}}; });
        one = unreadable_.erase(one);
    }
}

void KeptTopics::take_up_some(KeeperStep& step) {
    while (!waiting_.empty() && step.grant_file()) take_up(waiting_.extract(waiting_.begin()).value(), step);
}

/// The number of the topic's directory. A directory has one number, under whatever name: a topic that had it is looked at.
std::optional<int> KeptTopics::watch(const std::string& name) {
    // a reader that waits for a closing and has no right to write knocks at a file of the topic
    const auto number = watch_.watch(topics_path(broker_->directory()) / name, platform::DirectoryWatch::Reads::heard);
    if (!number) return std::nullopt;
    std::string& owner = watched_[*number];
    if (const auto other = topics_.find(owner); other != topics_.end() && owner != name) {
        other->second.watched.reset();
        told_.insert(owner);
    }
    owner = name;
    return number;
}

void KeptTopics::unwatch(int number) {
    watched_.erase(number);
    watch_.forget(number);
}

/// A topic that cannot be opened (damaged, other layout, without the rights) does not stop the others.
void KeptTopics::take_up(const std::string& name, KeeperStep& step) {
    const std::optional<int> number = watch(name);  // before the files are opened: what changes later is told
    try {
        topics_.insert_or_assign(name, Entry{KeptTopic(broker_->open_topic(name)), number});
        step.changed = true;
    } catch (const Error& error) {
        if (number) unwatch(*number);
        note_failure(name, error, step);
    }
}

/// What is not found was deleted meanwhile, unless something lies there that is no topic.
void KeptTopics::note_failure(const std::string& name, const Error& error, KeeperStep& step) try {
    const std::filesystem::path path = topics_path(broker_->directory()) / name;
    const bool gone = error.code() == ErrorCode::not_found || error.code() == ErrorCode::topic_deleted;
    if (!gone) return note_unreadable(name, error.what(), step);
    if (state_of_name(path) == NameState::foreign) note_unreadable(name, "'" + path.string() + "' exists and is not a topic", step);
} catch (const Error& further) {
    note_unreadable(name, further.what(), step);
}

void KeptTopics::note_unreadable(const std::string& name, const std::string& reason, KeeperStep& step) {
    Unreadable& one = unreadable_[name];
    one.tried_ns = step.now_ns;
    one.pause_ns = std::clamp(one.pause_ns * 2, kRetryNs, kRetryMaxNs);
    if (one.reason == reason) return;
    one.reason = reason;
    step.changed = true;
    step.events.tell([&] { return KeeperEvent{KeeperEventKind::topic_unreadable, name, {}, reason}; });
}

/// Topics that are kept are known to live: no file of theirs is looked at.
void KeptTopics::sweep(KeeperStep& step) try {
    if (std::exchange(swept_deaths_, step.deaths) != step.deaths) swept_ns_.reset();
    if (is_recent(swept_ns_, step.now_ns, step.changed ? kSweepNs : kIdleSweepNs)) return;
    swept_ns_ = step.now_ns;
    const auto known = [this](const std::string& name) { return topics_.contains(name); };
    const std::uint64_t swept = broker_->sweep_leftovers(known, step.files_left);
    if (step.files_left == 0) {
        swept_ns_.reset();  // the next step goes on
        ++step.report.unfinished;
    }
    step.report.swept_directories += swept;
    if (swept != 0) step.events.tell([&] { return KeeperEvent{KeeperEventKind::leftovers_swept, {}, {}, {}, swept}; });
} catch (const Error&) {
    // may not be listed: the next sweep tries again
}

}  // namespace ringmain
