// The public Broker: one directory, open in this process.
#include "ringmain/broker.hpp"

#include <cstdlib>
#include <utility>

#include "api_json.hpp"
#include "broker_impl.hpp"
#include "cell_dump.hpp"
#include "daemon_requests.hpp"
#include "error_about.hpp"
#include "record_deletion.hpp"
#include "topic_access.hpp"
#include "topic_description.hpp"
#include "topic_retention.hpp"
#include "topic_verification.hpp"

namespace ringmain {

namespace {

// A topic that is deleted and created by others all the time ends this; each round takes them milliseconds.
constexpr int kEnsureAttempts = 1000;

// To somebody who holds no handle, a topic that is deleted meanwhile has never been there.
template <class Look>
auto look_at(std::string_view topic, const Look& look) {
    try {
        return look();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::topic_deleted)
            throw;
        throw Error(ErrorCode::not_found, std::string(topic), error.what());
    }
}

[[noreturn]] void already_exists(std::string_view name, const std::filesystem::path& directory) {
    throw Error(ErrorCode::already_exists, std::string(name),
                "topic '" + std::string(name) + "' exists already in '" + directory.string() + "'");
}

}  // namespace

std::filesystem::path default_broker_directory() {
    const char* const configured = std::getenv("RINGMAIN_DIR");
    return configured != nullptr && *configured != '\0' ? configured : "/dev/shm/ringmain";
}

Broker::Broker(std::filesystem::path directory, Mode mode)
    : impl_(std::make_shared<Impl>(std::move(directory), mode)) {}

const std::filesystem::path& Broker::directory() const noexcept { return impl_->directory(); }

bool Broker::is_new() const noexcept { return impl_->is_new(); }

TopicDescription Broker::create_topic(std::string_view name, const TopicOptions& options,
                                      const std::function<bool()>& stop) {
    auto topic = create_topic_somehow(*impl_, name, options, stop);
    if (!topic)
        already_exists(name, directory());
    return std::move(*topic);
}

TopicDescription Broker::ensure_topic(std::string_view name, const TopicOptions& options) {
    for (int attempt = 0; attempt < kEnsureAttempts; ++attempt) {
        try {
            TopicDescription found = describe_topic(name);
            check_same_options(name, found.options, options);
            return found;
        } catch (const Error& error) {
            if (!is_gone(error))
                throw;
        }
        try {
            if (auto made = create_topic_somehow(*impl_, name, options))
                return std::move(*made);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::topic_deleted)
                throw;
        }
        // somebody was faster
    }
    throw Error(ErrorCode::not_ready, std::string(name),
                "topic '" + std::string(name) + "' is deleted again and again");
}

void Broker::delete_topic(std::string_view name) { delete_topic_somehow(*impl_, name); }

void Broker::set_access(std::string_view name, const TopicAccess& access) {
    check_topic_access(name, access);
    change_topic_somehow(*impl_, name, to_json(ChangeRequest{std::nullopt, access}), [&] {
        look_at(name, [&] { ringmain::set_access(*impl_->open_topic(name), access); });
    });
}

void Broker::set_retention(std::string_view name, const Retention& retention) {
    change_topic_somehow(*impl_, name, to_json(ChangeRequest{retention, std::nullopt}), [&] {
        look_at(name, [&] { ringmain::set_retention(*impl_->open_topic(name), retention); });
    });
}

RecordsDeleted Broker::delete_records(std::string_view name, std::uint32_t partition, std::uint64_t offset) {
    return delete_records_somehow(*impl_, name, partition, offset, [&] {
        return look_at(name, [&] { return ringmain::delete_records(*impl_->open_topic(name), impl_->clients(), partition, offset); });
    });
}

std::vector<std::string> Broker::list_topics() const { return impl_->list_topics(); }

TopicDescription Broker::describe_topic(std::string_view name) const {
    return look_at(name, [&] { return ringmain::describe_topic(*impl_->open_topic(name), impl_->clients()); });
}

VerifyReport Broker::verify(std::string_view topic) const {
    impl_->check_not_forked();
    return verify_topics(*impl_, topic);
}

CellDump Broker::dump(std::string_view topic, std::uint32_t partition, std::uint64_t offset) const {
    return look_at(topic, [&] { return dump_cell(*impl_->open_topic(topic), partition, offset); });
}

}  // namespace ringmain
