// Creation of topics within what the broker's quotas allow.
#include "topic_quotas.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "broker_impl.hpp"
#include "ringmain/error.hpp"

namespace ringmain::daemon {

namespace {

namespace fs = std::filesystem;

std::uint64_t bytes_of_files_in(const fs::path& directory) noexcept {
    std::uint64_t bytes = 0;
    std::error_code ignored;  // what goes away meanwhile takes nothing any more
    for (fs::directory_iterator entry(directory, ignored), end; entry != end; entry.increment(ignored)) {
        const std::uint64_t size = entry->file_size(ignored);
        if (!ignored)
            bytes += size;
    }
    return bytes;
}

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
    throw Error(ErrorCode::limit, std::string(name), fmt::format("topic '{}' is not created: {}", name, why));
}

[[noreturn]] void refuse_existing(std::string_view name, const fs::path& directory) {
    throw Error(ErrorCode::already_exists, std::string(name),
                fmt::format("topic '{}' exists already in '{}'", name, directory.string()));
}

// Only to say so rather than that a quota is used up: the creation decides.
bool exists(const Broker::Impl& broker, std::string_view name) {
    try {
        (void)broker.open_topic(name);
        return true;
    } catch (const Error&) {
        return false;
    }
}

}  // namespace

/// What a creation may take, from the check to its end.
class TopicQuotas::Reservation {
public:
    Reservation(TopicQuotas& quotas, std::string_view name, std::uint64_t bytes) : quotas_(quotas), name_(name) {
        const std::lock_guard lock(quotas_.mutex_);
        quotas_.check(name, bytes);
        Reserved& reserved = quotas_.reserved_[name_];
        ++reserved.creations;
        reserved.bytes = std::max(reserved.bytes, bytes);
    }
    Reservation(const Reservation&) = delete;
    Reservation& operator=(const Reservation&) = delete;
    ~Reservation() {
        const std::lock_guard lock(quotas_.mutex_);
        const auto reserved = quotas_.reserved_.find(name_);
        if (--reserved->second.creations == 0)
            quotas_.reserved_.erase(reserved);
    }

private:
    TopicQuotas& quotas_;
    std::string name_;
};

TopicDescription TopicQuotas::create_topic(std::string_view name, const TopicOptions& options,
                                           const std::function<bool()>& stop, const std::optional<TopicId>& id) {
    check_topic_name(name);
    check_topic_options(name, options);
    if (exists(*broker_.impl(), name))
        refuse_existing(name, broker_.directory());
    const Reservation reservation(*this, name, topic_bytes(options));
    if (!broker_.impl()->try_create_topic(name, options, stop, id))
        refuse_existing(name, broker_.directory());
    return broker_.describe_topic(name);
}

QuotaUsage TopicQuotas::usage() const {
    const std::lock_guard lock(mutex_);
    return used();
}

QuotaUsage TopicQuotas::used() const {
    QuotaUsage used;
    for (const auto& [name, reserved] : reserved_) {
        ++used.topics;
        used.bytes += reserved.bytes;
    }
    for (const std::string& name : broker_.list_topics()) {
        if (reserved_.contains(name))
            continue;  // others see it a moment before its creation has ended
        ++used.topics;
        used.bytes += bytes_of_files_in(broker_.directory() / "topics" / name);
    }
    return used;
}

void TopicQuotas::check(std::string_view name, std::uint64_t needed) const {
    const Quotas quotas = configuration_.get()->quotas;
    if (quotas.topic_bytes && needed > *quotas.topic_bytes)
        refuse(name, fmt::format("it takes {} bytes, and quotas.topic_bytes is {}", needed, *quotas.topic_bytes));
    if (!quotas.topics && !quotas.bytes)
        return;
    const QuotaUsage used = this->used();
    if (quotas.topics && used.topics >= *quotas.topics)
        refuse(name, fmt::format("there are {} topics, and quotas.topics is {}", used.topics, *quotas.topics));
    if (quotas.bytes && (used.bytes > *quotas.bytes || needed > *quotas.bytes - used.bytes)) {
        refuse(name, fmt::format("it takes {} bytes, the topics take {} already, and quotas.bytes is {}", needed,
                                 used.bytes, *quotas.bytes));
    }
}

}  // namespace ringmain::daemon
