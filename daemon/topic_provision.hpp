// Brings the topics of a broker to what the configuration wants, without touching their records.
#pragma once

#include <functional>

#include "configuration.hpp"
#include "log.hpp"
#include "ringmain/broker.hpp"
#include "topic_quotas.hpp"

namespace ringmain::daemon {

class TopicProvision {
public:
    /// `stop`: asked every few milliseconds of a creation; true gives up.
    TopicProvision(const Broker& broker, TopicQuotas& quotas, Log& log, std::function<bool()> stop)
        : broker_(broker), quotas_(quotas), log_(log), stop_(std::move(stop)) {}

    /// Creates what is missing, and changes retention and access where they are others. What cannot be done is a line
    /// in the log; the other topics are gone on with. Throws nothing of that.
    void apply(const std::vector<TopicPlan>& plans);
    /// Says which topics are in the configuration no longer; they stay as they are.
    void note_vanished(const std::vector<TopicPlan>& before, const std::vector<TopicPlan>& now);

private:
    void apply(const TopicPlan& plan);
    void create(const TopicPlan& plan);
    void set_retention(const TopicPlan& plan, const Retention& found);
    void set_access(const TopicPlan& plan, const TopicAccess& found);

    Broker broker_;
    TopicQuotas& quotas_;
    Log& log_;
    std::function<bool()> stop_;
};

}  // namespace ringmain::daemon
