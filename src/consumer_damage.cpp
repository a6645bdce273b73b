// Partitions that are assigned and cannot be read: told once, set aside, and taken back when they can.
#include <algorithm>
#include <string>
#include <utility>

#include "consumer_impl.hpp"
#include "damage.hpp"
#include "error_about.hpp"
#include "platform/clock.hpp"

namespace ringmain {

namespace {

constexpr std::uint64_t kAgainUs = 1'000'000;  // how often what was set aside is looked at

}  // namespace

std::shared_ptr<PartitionCursor> Consumer::Impl::open(const std::shared_ptr<const TopicFiles>& topic,
                                                      std::uint32_t partition, GroupMember* bystander) const {
    const std::size_t index = find(topic->name(), partition);
    if (index != cursors_.size() && cursors_[index]->topic().id() == topic->id() && !cursors_[index]->gone())
        return cursors_[index];
    if (bystander != nullptr)
        return bystander->open(partition);
    auto cursor = std::make_shared<PartitionCursor>(topic, partition);
    check_sound(*cursor);
    return cursor;
}

/// A damaged partition is none of the others' business. If there is nothing but damage, that is the answer.
Consumer::Impl::Found Consumer::Impl::find_all(const std::shared_ptr<const TopicFiles>& topic, std::uint32_t first,
                                               std::uint32_t count, GroupMember* bystander) {
    Found found;
    for (std::uint32_t partition = first; partition < first + count; ++partition) {
        try {
            auto cursor = open(topic, partition, bystander);
            const std::size_t index = find(topic->name(), partition);
            const bool known = index != cursors_.size() && cursors_[index] == cursor;
            if (known)
                check_sound(*cursor);
            (known ? found.moved : found.fresh).push_back(std::move(cursor));
        } catch (const Error& error) {
            if (!is_damage(error) || found.damaged.size() + 1 == count)
                throw;
            found.damaged.push_back(partition);
        }
    }
    return found;
}

void Consumer::Impl::set_aside(std::shared_ptr<const TopicFiles> topic, std::uint32_t partition, Position from,
                               bool told) {
    aside_.push_back({std::move(topic), partition, from, told});
    const std::size_t index = find(aside_.back().topic->name(), partition);
    if (index == cursors_.size())
        return;
    cursors_[index]->drop_gate();
    cursors_.erase(cursors_.begin() + static_cast<std::ptrdiff_t>(index));
    next_ = 0;
    if (readiness_)
        readiness_->disarm();
}

void Consumer::Impl::forget_aside(std::string_view topic, std::uint32_t partition) {
    const auto one = std::find_if(aside_.begin(), aside_.end(), [&](const Aside& aside) {
        return aside.partition == partition && aside.topic->name() == topic;
    });
    if (one == aside_.end())
        return;
    past_topics_.push_back(one->topic);  // a failure may name it still
    aside_.erase(one);
}

/// Makes the next poll or visit tell what is untold.
void Consumer::Impl::note_aside() noexcept {
    const auto note = [this](const TopicFiles& topic, std::uint32_t partition) {
        last_status_ = Status::corrupt;
        last_failure_ = {topic.name(), partition, Status::corrupt};
    };
    for (const Aside& one : aside_) {
        if (!one.told)
            note(*one.topic, one.partition);
    }
    for (const auto& member : members_) {
        if (const auto partition = member->untold_damage())
            note(member->topic(), *partition);
    }
}

void Consumer::Impl::tell_aside() {
    for (Aside& one : aside_) {
        if (!std::exchange(one.told, true))
            fail(one.topic->name(), one.partition, Status::corrupt);
    }
    for (const auto& member : members_) {
        while (const auto partition = member->untold_damage()) {
            member->note_told(*partition);
            fail(member->topic().name(), *partition, Status::corrupt);
        }
    }
}

void Consumer::Impl::begin_anew() {
    forget_failures();
    tell_aside();
}

/// After a look that found damage.
void Consumer::Impl::move_damaged_aside() {
    bool members_changed = false;
    for (std::size_t index = 0; index < cursors_.size();) {
        const std::shared_ptr<PartitionCursor> cursor = cursors_[index];
        if (!failed(*cursor, Status::corrupt)) {
            ++index;
            continue;
        }
        GroupMember* const member = member_of(cursor->topic().name());
        if (member != nullptr && member->role() == GroupMember::Role::member) {
            member->set_aside(cursor->partition());
            member->note_told(cursor->partition());
            members_changed = true;
            ++index;
            continue;
        }
        if (member != nullptr)
            member->set_aside(cursor->partition());
        // the position outlives what the log says by now; the topic is kept by what is set aside
        set_aside(cursor->topic_files(), cursor->partition(), Position::at(cursor->position()), true);
    }
    if (members_changed)
        read_what_is_held();
}

bool Consumer::Impl::take_back(const Aside& aside) {
    try {
        GroupMember* const bystander = member_of(aside.topic->name());
        auto cursor = open(aside.topic, aside.partition, bystander);
        cursor->seek(aside.from);
        cursors_.reserve(cursors_.size() + 1);
        if (!gate_name_.empty())
            hold_all({&cursor, 1}, gate_name_);
        cursors_.push_back(std::move(cursor));
        return true;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::topic_deleted)
            return false;
        fail(aside.topic->name(), aside.partition, Status::topic_deleted);
        return true;
    }
}

/// Looks at what was set aside, once in a while.
void Consumer::Impl::take_back() {
    const bool any_member =
        std::any_of(members_.begin(), members_.end(), [](const auto& member) { return member->damaged(); });
    if (aside_.empty() && !any_member)
        return;
    const std::uint64_t now = platform::ticks();
    if (now - taken_back_ticks_ < kAgainUs * platform::ticks_per_us())
        return;
    taken_back_ticks_ = now;
    for (std::size_t index = 0; index < aside_.size();) {
        const Aside one = aside_[index];
        if (!take_back(one)) {
            ++index;
            continue;
        }
        forget_aside(one.topic->name(), one.partition);
        if (readiness_)
            readiness_->disarm();
    }
    for (const auto& member : members_)
        member->take_back();
}

void Consumer::Impl::check_not_aside(std::string_view topic, std::uint32_t partition) const {
    const bool here = std::any_of(aside_.begin(), aside_.end(), [&](const Aside& one) {
        return one.partition == partition && one.topic->name() == topic;
    });
    if (!here)
        return;
    throw error_about(ErrorCode::corrupt, partition_text(topic, partition),
                      "is damaged and is not read now; run 'ringmain verify'");
}

}  // namespace ringmain
