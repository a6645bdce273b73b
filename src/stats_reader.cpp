// The public StatsReader: one look at everything, part by part.
#include "ringmain/stats.hpp"

#include "platform/clock.hpp"
#include "stats_reader_impl.hpp"

namespace ringmain {

static_assert(kReaderGatesMax == layout::kGatesMax);
static_assert(kProducerNamesMax == layout::kProducerNamesMax);
static_assert(kBrokerClientsMax == layout::kClientsMax);

BrokerStats StatsReader::Impl::take(const StatsOptions& options) {
    broker_->check_not_forked();
    BrokerStats stats;
    stats.taken_ns = platform::realtime_ns();
    stats.taken_monotonic_ns = platform::monotonic_ns();
    stats.directory = broker_->directory().string();
    forget_lost_topics();
    work_leftovers_ = 0;
    for (const std::string& name : options.topics.empty() ? names() : options.topics) {
        TopicStats topic = look_at_topic(name, options);
        const bool gone = topic.error_code == ErrorCode::not_found || topic.error_code == ErrorCode::topic_deleted;
        if (gone && options.topics.empty())
            continue;  // deleted since it was listed
        stats.topics_bytes += topic.description.bytes;
        stats.topics.push_back(std::move(topic));
    }
    stats.clients_readable = broker_->clients().readable();
    stats.clients = clients(stats.topics, options);
    stats.leftovers = leftovers();
    stats.keeper = keeper();
    stats.file_system = file_system();
    return stats;
}

StatsReader::StatsReader(const Broker& broker) : impl_(std::make_unique<Impl>(broker.impl())) {}
StatsReader::StatsReader(StatsReader&&) noexcept = default;
StatsReader& StatsReader::operator=(StatsReader&&) noexcept = default;
StatsReader::~StatsReader() = default;

BrokerStats StatsReader::take(const StatsOptions& options) { return impl_->take(options); }

std::string_view to_string(ProcessState state) noexcept {
    switch (state) {
        case ProcessState::running:
            return "running";
        case ProcessState::stopped:
            return "stopped";
        case ProcessState::unknown:
            break;
    }
    return "unknown";
}

}  // namespace ringmain
