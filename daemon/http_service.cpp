// The daemon's socket.
#include "http_service.hpp"

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "api_routes.hpp"
#include "http_server.hpp"
#include "http_sockets.hpp"
#include "log.hpp"
#include "metrics_collector.hpp"
#include "platform/directory_watch.hpp"
#include "topic_paths.hpp"

namespace ringmain::daemon {

namespace {

constexpr std::size_t kSocketEndpoint = 0;
constexpr std::chrono::milliseconds kLookPause{1000};  // at the socket, while it is lost or nobody tells of changes

class HttpService : public Service {
public:
    explicit HttpService(const ServiceContext& context)
        : context_(context),
          path_(keeper_socket_path(context.broker.directory())),
          metrics_(context.broker, context.keeper) {}
    ~HttpService() override { HttpService::stop(); }

    void start() override {
        const auto configuration = context_.configuration.get();
        const auto metrics = [this](std::chrono::steady_clock::time_point asked) { return metrics_.text(asked); };
        std::vector<HttpEndpoint> endpoints;
        file_ = std::make_unique<SocketFile>(path_, configuration->socket.access);
        const auto api = std::make_shared<HttpRouter>(api_handler(context_, metrics));
        endpoints.push_back({file_->listen(), true, api, work_of});
        if (const auto& port = configuration->metrics_listen) {
            ListeningPort listening = listen_on_port(port->host, port->port);
            context_.log.write({.event = "metrics_served",
                                .message = "metrics are served on http://" + listening.address + "/metrics"});
            const auto figures = std::make_shared<HttpRouter>(metrics_handler(context_, metrics));
            endpoints.push_back({std::move(listening.socket), false, figures, work_of});
        }
        server_ = std::make_unique<HttpServer>(std::move(endpoints));
        is_watched_ = watch_.watch(context_.broker.directory()).has_value();
        server_->watch(watch_.descriptor(), [this] { return look_after_socket(); });
        server_->start();
    }

    void stop() noexcept override {
        {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
            if (file_)
                file_->remove();
        }
        server_.reset();
        file_.reset();
    }

private:
    /// In the server's thread, when names in the broker directory have changed. Says when to come again, if nobody
    /// tells.
    std::optional<std::chrono::milliseconds> look_after_socket() noexcept {
        bool is_there = false;
        try {
            (void)watch_.changes();
            const std::lock_guard lock(mutex_);
            is_there = stopped_ || file_->is_there() || make_socket_anew();
        } catch (const std::exception& error) {
            tell_lost(error.what());
        }
        return is_there && is_watched_ ? std::nullopt : std::optional(kLookPause);
    }

    bool make_socket_anew() {
        auto next = std::make_unique<SocketFile>(path_, context_.configuration.get()->socket.access);
        server_->replace(kSocketEndpoint, next->listen());
        file_ = std::move(next);
        is_watched_ = watch_.watch(context_.broker.directory()).has_value();  // perhaps another directory by now
        lost_because_.clear();
        context_.log.write({.level = LogLevel::warning,
                            .event = "socket_made_anew",
                            .message = "the socket '" + path_.string() + "' was removed, and is made anew"});
        return true;
    }

    /// Once for each reason: it is tried until it can be made.
    void tell_lost(const std::string& why) noexcept {
        if (lost_because_ == why)
            return;
        try {
            lost_because_ = why;
            context_.log.write({.level = LogLevel::error,
                                .event = "socket_lost",
                                .message = "nobody can reach this daemon until its socket can be made again: " + why});
        } catch (const std::exception&) {
            lost_because_.clear();  // no memory: said the next time
        }
    }

    ServiceContext context_;
    std::filesystem::path path_;
    MetricsCollector metrics_;
    platform::DirectoryWatch watch_ = platform::DirectoryWatch::open();
    std::mutex mutex_;  // between the server's thread, which makes the file anew, and stop
    bool stopped_ = false;
    bool is_watched_ = false;   // the server's thread, once it runs
    std::string lost_because_;  // the server's thread
    std::unique_ptr<SocketFile> file_;
    std::unique_ptr<HttpServer> server_;
};

}  // namespace

std::unique_ptr<Service> make_http_service(const ServiceContext& context) {
    return std::make_unique<HttpService>(context);
}

}  // namespace ringmain::daemon
