// What is done by the daemon if one listens, and here if none does.
//
// An answer can be lost: the daemon may end, or stop, when it has been asked. Then nobody knows whether it did it, and
// a stopped one may still do it. So a topic to be made has an id that is chosen here, and a topic to be deleted is
// named with its id: what was done is found out by looking, and what comes late meets another topic's id and does
// nothing.
#include "daemon_requests.hpp"

#include "api_json.hpp"
#include "daemon_client.hpp"
#include "error_about.hpp"
#include "platform/random.hpp"
#include "platform/umask.hpp"
#include "topic_description.hpp"
#include "topic_name.hpp"

namespace ringmain {

namespace {

using Outcome = DaemonClient::Outcome;

// Each lost answer is the death of a daemon.
constexpr int kAttempts = 16;

constexpr int kStatusGood = 200;
constexpr int kStatusCreated = 201;

std::string target_of(std::string_view topic) {
    return "/v1/topics/" + std::string(topic);
}  // a legal name needs no escapes

// Nothing: there is no topic of that name, or none that may be read.
std::optional<TopicId> id_of(const Broker::Impl& broker, std::string_view name) {
    try {
        return broker.open_topic(name)->id();
    } catch (const Error&) {
        return std::nullopt;
    }
}

// `act`, and why it could not be left to the daemon if it may not be done here either.
template <class Act>
auto in_its_place(const DaemonClient& daemon, const Act& act) {
    try {
        return act();
    } catch (const Error& error) {
        if (error.code() != ErrorCode::permission_denied)
            throw;
        throw Error(ErrorCode::not_ready, error.object(),
                    daemon.silence() + ", and this process may not do without it: " + error.what());
    }
}

[[noreturn]] void lost_too_often(std::string_view name, const std::filesystem::path& directory) {
    throw error_about(
        ErrorCode::not_ready, "topic '" + std::string(name) + "'",
        "could not be dealt with: one daemon of '" + directory.string() + "' after the other ended meanwhile");
}

// A topic that is there, or was a moment ago.
TopicDescription describe_made(const Broker::Impl& broker, std::string_view name) {
    try {
        return describe_topic(*broker.open_topic(name), broker.clients());
    } catch (const Error& error) {
        if (error.code() != ErrorCode::not_found)
            throw;
        throw Error(ErrorCode::topic_deleted, std::string(name),
                    "topic '" + std::string(name) + "' was made, and deleted by somebody else at once");
    }
}

class Creation {
public:
    Creation(Broker::Impl& broker, std::string_view name, const TopicOptions& options,
             const std::function<bool()>& stop)
        : broker_(broker),
          daemon_(broker.directory()),
          name_(name),
          options_(options),
          stop_(stop),
          id_(platform::random_id()) {}

    std::optional<TopicDescription> run() {
        const std::string body = to_json(CreationRequest{options_, id_, platform::current_umask()});
        for (int attempt = 0; attempt < kAttempts; ++attempt) {
            switch (daemon_.ask("PUT", target_of(name_), body, stop_)) {
                case Outcome::absent:
                    return directly();
                case Outcome::silent:
                case Outcome::left:
                    return in_its_place(daemon_, [this] { return directly(); });
                case Outcome::answered:
                    if (!is_ended())
                        return answered();
                    break;  // not by us: the daemon itself was told to stop
                case Outcome::lost:
                    break;
            }
            if (id_of(broker_, name_) == id_)
                return described();
        }
        lost_too_often(name_, broker_.directory());
    }

private:
    [[nodiscard]] bool is_ended() const {
        return daemon_.reply().status != kStatusCreated && !(stop_ && stop_()) &&
               error_from_json(daemon_.reply().status, daemon_.reply().body).code() == ErrorCode::interrupted;
    }

    std::optional<TopicDescription> directly() {
        if (broker_.try_create_topic(name_, options_, stop_, id_))
            return described();
        return if_ours();
    }

    // A daemon that answered too late, or ended, may have made it.
    std::optional<TopicDescription> if_ours() {
        if (id_of(broker_, name_) == id_)
            return described();
        return std::nullopt;
    }

    std::optional<TopicDescription> answered() {
        const platform::HttpReply& reply = daemon_.reply();
        if (reply.status == kStatusCreated) {
            try {
                return described();
            } catch (const Error& error) {
                if (error.code() != ErrorCode::permission_denied)
                    throw;
                return description_from_json(reply.body);
            }
        }
        const Error error = error_from_json(reply.status, reply.body);
        if (error.code() == ErrorCode::already_exists)
            return if_ours();
        if (error.code() == ErrorCode::permission_denied)
            return directly();
        throw error;
    }

    [[nodiscard]] TopicDescription described() const { return describe_made(broker_, name_); }

    Broker::Impl& broker_;
    DaemonClient daemon_;
    std::string_view name_;
    const TopicOptions& options_;
    const std::function<bool()>& stop_;
    TopicId id_;
};

// True: the daemon answered that it is done. False: it cannot be asked, may not be asked by this user, or did not
// answer.
bool done_by_daemon(DaemonClient& daemon, std::string_view method, const std::string& target, const std::string& body) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const Outcome outcome = daemon.ask(method, target, body);
        if (outcome == Outcome::lost)
            continue;  // once more does no harm
        if (outcome != Outcome::answered)
            return false;
        if (daemon.reply().status == kStatusGood)
            return true;
        const Error error = error_from_json(daemon.reply().status, daemon.reply().body);
        if (error.code() == ErrorCode::interrupted)
            continue;
        if (error.code() == ErrorCode::permission_denied)
            return false;
        throw error;
    }
    return false;
}

// `directly`, or the daemon when that may not be done. If neither may, the error is the one that names the file.
template <class Act>
bool done_directly(const Act& directly, DaemonClient& daemon, std::string_view method, const std::string& target,
                   const std::string& body) {
    try {
        directly();
        return true;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::permission_denied || !done_by_daemon(daemon, method, target, body))
            throw;
        return false;
    }
}

}  // namespace

std::optional<TopicDescription> create_topic_somehow(Broker::Impl& broker, std::string_view name,
                                                     const TopicOptions& options, const std::function<bool()>& stop) {
    broker.check_not_forked();
    check_topic_name(name);
    check_topic_options(name, options);
    if (!broker.is_kept_here())
        return Creation(broker, name, options, stop).run();
    if (!broker.try_create_topic(name, options, stop))
        return std::nullopt;
    return describe_made(broker, name);
}

void delete_topic_somehow(Broker::Impl& broker, std::string_view name) {
    broker.check_not_forked();
    check_topic_name(name);
    if (broker.is_kept_here())
        return broker.delete_topic(name);
    DaemonClient daemon(broker.directory());
    std::optional<TopicId> id;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const auto found = id_of(broker, name);
        if (id && found != id)
            return;  // by a daemon whose answer was lost
        id = found;
        switch (daemon.ask("DELETE", target_of(name) + (id ? "?id=" + to_string(*id) : ""))) {
            case Outcome::absent:
                return broker.delete_topic(name);
            case Outcome::silent:
            case Outcome::left:
                return in_its_place(daemon, [&] { broker.delete_topic(name); });
            case Outcome::lost:
                continue;
            case Outcome::answered:
                break;
        }
        if (daemon.reply().status == kStatusGood)
            return;
        const Error error = error_from_json(daemon.reply().status, daemon.reply().body);
        if (error.code() == ErrorCode::permission_denied)
            return broker.delete_topic(name);
        if (error.code() != ErrorCode::interrupted && error.code() != ErrorCode::mismatch)
            throw error;
        id.reset();  // deleted and made again meanwhile by others: the one that is there now is meant
    }
    lost_too_often(name, broker.directory());
}

void change_topic_somehow(Broker::Impl& broker, std::string_view name, const std::string& body,
                          const std::function<void()>& directly) {
    broker.check_not_forked();
    check_topic_name(name);
    if (broker.is_kept_here())
        return directly();
    DaemonClient daemon(broker.directory());
    (void)done_directly(directly, daemon, "PATCH", target_of(name), body);
}

RecordsDeleted delete_records_somehow(Broker::Impl& broker, std::string_view name, std::uint32_t partition,
                                      std::uint64_t offset, const std::function<RecordsDeleted()>& directly) {
    broker.check_not_forked();
    check_topic_name(name);
    if (broker.is_kept_here())
        return directly();
    DaemonClient daemon(broker.directory());
    RecordsDeleted deleted;
    const std::string target = target_of(name) + "/partitions/" + std::to_string(partition) + "/delete-records";
    if (!done_directly([&] { deleted = directly(); }, daemon, "POST", target, deletion_to_json(offset)))
        deleted = records_deleted_from_json(daemon.reply().body);
    return deleted;
}

}  // namespace ringmain
