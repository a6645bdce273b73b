// What a keeper told its listener, for tests to look at.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ringmain/keeper.hpp"

namespace ringmain::test {

class Told {
public:
    /// For a keeper; may outlive this object.
    [[nodiscard]] std::function<void(const KeeperEvent&)> listener() const {
        return [events = events_](const KeeperEvent& event) { events->push_back(event); };
    }
    [[nodiscard]] const std::vector<KeeperEvent>& all() const noexcept { return *events_; }
    [[nodiscard]] std::vector<KeeperEvent> of(KeeperEventKind kind) const {
        std::vector<KeeperEvent> some;
        std::copy_if(events_->begin(), events_->end(), std::back_inserter(some), [kind](const KeeperEvent& event) { return event.kind == kind; });
        return some;
    }
    [[nodiscard]] std::size_t count(KeeperEventKind kind) const { return of(kind).size(); }
    /// The one event of the kind; an empty one if there are more or none.
    [[nodiscard]] KeeperEvent only(KeeperEventKind kind) const {
        const auto some = of(kind);
        return some.size() == 1 ? some.front() : KeeperEvent{};
    }
    /// What happened, by kind and topic, in order.
    [[nodiscard]] std::string story() const {
        std::string text;
        for (const KeeperEvent& event : *events_) text += std::string(text.empty() ? "" : ", ") + std::string(to_string(event.kind)) + (event.topic.empty() ? "" : " " + event.topic);
        return text;
    }
    void forget() const { events_->clear(); }

private:
    std::shared_ptr<std::vector<KeeperEvent>> events_ = std::make_shared<std::vector<KeeperEvent>>();
};

}  // namespace ringmain::test
