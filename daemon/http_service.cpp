// The daemon's socket.
#include "http_service.hpp"

#include <filesystem>
#include <mutex>

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

class HttpService : public Service {
public:
    explicit HttpService(const ServiceContext& context)
        : context_(context),
          path_(keeper_socket_path(context.broker.directory())),
          metrics_(context.broker, context.keeper) {}
    ~HttpService() override { HttpService::stop(); }

    void start() override {
        const auto configuration = context_.configuration.get();
        const auto metrics = [this] { return metrics_.text(); };
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
        if (watch_.watch(context_.broker.directory()))
            server_->watch(watch_.descriptor(), [this] { look_after_socket(); });
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
    /// In the server's thread, when names in the broker directory have changed.
    void look_after_socket() noexcept {
        try {
            (void)watch_.changes();
            const std::lock_guard lock(mutex_);
            if (stopped_ || file_->is_there())
                return;
            auto next = std::make_unique<SocketFile>(path_, context_.configuration.get()->socket.access);
            server_->replace(kSocketEndpoint, next->listen());
            file_ = std::move(next);
            context_.log.write({.level = LogLevel::warning,
                                .event = "socket_made_anew",
                                .message = "the socket '" + path_.string() + "' was removed, and is made anew"});
        } catch (const std::exception& error) {
            context_.log.write({.level = LogLevel::error,
                                .event = "socket_lost",
                                .message = std::string("nobody can reach this daemon any more: ") + error.what()});
        }
    }

    ServiceContext context_;
    std::filesystem::path path_;
    MetricsCollector metrics_;
    platform::DirectoryWatch watch_ = platform::DirectoryWatch::open();
    std::mutex mutex_;  // between the server's thread, which makes the file anew, and stop
    bool stopped_ = false;
    std::unique_ptr<SocketFile> file_;
    std::unique_ptr<HttpServer> server_;
};

}  // namespace

std::unique_ptr<Service> make_http_service(const ServiceContext& context) {
    return std::make_unique<HttpService>(context);
}

}  // namespace ringmain::daemon
