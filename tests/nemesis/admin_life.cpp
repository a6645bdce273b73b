// The admin: looks at the committed offsets now and then, and resets groups and queues while they work.
#include <cstring>
#include <vector>

#include "life.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/queue_admin.hpp"

namespace ringmain::nemesis {

namespace {

using Kind = Event::Kind;

class AdminLife : Life {
public:
    explicit AdminLife(const Job& job) : Life(job, std::size_t{1} << 22), groups_(broker_), queues_(broker_) {}

    int live() {
        while (!is_set(control().stop_auditing)) {
            const auto topic = static_cast<std::uint8_t>(below(kPublished));
            const bool stream = Arena::rules()[topic].use == TopicUse::stream;
            sample(topic, stream ? kGroup : kQueue);
            if (!is_set(control().stop_reading) && one_of(stream ? 12 : 40))
                reset(topic, stream);
            pause(std::chrono::milliseconds(20));
        }
        return 0;
    }

private:
    void sample(std::uint8_t topic, const char* name) {
        for (const GroupPartitionDescription& one : groups_.describe(kTopicNames[topic], name, {false, 0}).partitions)
            note({.kind = Kind::sampled,
                  .topic = topic,
                  .partition = static_cast<std::uint8_t>(one.lag.partition),
                  .aux = one.generation,
                  .id = one.lag.log_end,
                  .offset = one.lag.position});
    }

    ResetTarget target() {
        if (one_of(4))
            return ResetTarget::earliest();
        return ResetTarget::shifted(static_cast<std::int64_t>(below(200)) - 180);
    }

    void reset(std::uint8_t topic, bool stream) {
        if (stream) {
            const ResetPlan plan = groups_.plan(kTopicNames[topic], kGroup, target());
            for (const PartitionResetDone& one : groups_.execute(plan, true))
                note_reset(topic, one, one.committed, kGroup);
            return;
        }
        const auto back = ResetTarget::shifted(-static_cast<std::int64_t>(below(100)));
        const ResetPlan plan = queues_.plan(kTopicNames[topic], kQueue, back);
        for (const PartitionResetDone& one : execute(plan))
            note_reset(topic, one, plan.partitions.at(one.partition).target, kQueue);
    }

    /// Refused while dead letters are under way: then the same plan again, for some partitions may be done already.
    std::vector<PartitionResetDone> execute(const ResetPlan& plan) {
        for (int tries = 0;; ++tries) {
            try {
                return queues_.execute(plan, true);
            } catch (const Error& error) {
                if (error.code() != ErrorCode::busy || tries == kTriesMax)
                    throw;
                pause(std::chrono::milliseconds(5));
            }
        }
    }

    /// Records below the log end of this moment may have been delivered before, and come again.
    void note_reset(std::uint8_t topic, const PartitionResetDone& done, std::uint64_t from, const char* name) {
        const std::uint64_t end = groups_.lag(kTopicNames[topic], name, {false, 0}).at(done.partition).log_end;
        note({.kind = Kind::reset,
              .topic = topic,
              .partition = static_cast<std::uint8_t>(done.partition),
              .aux = done.generation,
              .id = end,
              .offset = from});
    }

    static constexpr int kTriesMax = 1'000;
    GroupAdmin groups_;
    QueueAdmin queues_;
};

}  // namespace

int live_as_admin(const Job& job) { return AdminLife(job).live(); }

}  // namespace ringmain::nemesis
