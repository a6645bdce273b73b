// Walking all files of a broker read-only, looking for contradictions.
#include "topic_verification.hpp"

#include <memory>
#include <string>

#include "error_about.hpp"
#include "group_verification.hpp"
#include "letters_verification.hpp"
#include "partition_verification.hpp"
#include "ringmain/error.hpp"
#include "work_verification.hpp"

namespace ringmain {

namespace {

void add_damage(VerifyReport& report, const Error& error) { report.damage.push_back({error.object(), error.what()}); }

void verify_partition_file(const TopicFiles& topic, std::uint32_t partition, VerifyReport& report) {
    try {
        const platform::Mapping file = topic.map_partition(partition, platform::Access::read_only);
        ++report.partitions;
        verify_partition(topic, partition, file, report);
        topic.check_whole(file, partition);
    } catch (const Error& error) {
        if (!is_gone(error))
            add_damage(report, error);
    }
}

void verify_topic(const std::shared_ptr<const TopicFiles>& topic, VerifyReport& report) {
    ++report.topics;
    verify_groups(*topic, report);
    topic->check_whole();
    verify_work(topic, report);
    verify_letters(*topic, report);
    for (std::uint32_t partition = 0; partition < topic->options().partitions; ++partition) {
        verify_partition_file(*topic, partition, report);
    }
}

}  // namespace

VerifyReport verify_topics(const Broker::Impl& broker, std::string_view topic) {
    VerifyReport report;
    const std::vector<std::string> names = topic.empty() ? broker.list_topics() : std::vector{std::string(topic)};
    for (const std::string& name : names) {
        try {
            verify_topic(broker.open_topic(name), report);
        } catch (const Error& error) {
            const bool unknown = is_gone(error) || error.code() == ErrorCode::invalid_argument;
            if (unknown && !topic.empty())
                throw;
            if (!unknown)
                add_damage(report, error);  // else deleted since it was listed
        }
    }
    return report;
}

}  // namespace ringmain
