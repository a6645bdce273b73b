// The daemon's socket.
#include "http_service.hpp"

#include <optional>

#include "api_routes.hpp"
#include "http_server.hpp"
#include "http_sockets.hpp"
#include "log.hpp"
#include "metrics_collector.hpp"
#include "topic_paths.hpp"

namespace ringmain::daemon {

namespace {

class HttpService : public Service {
public:
    explicit HttpService(const ServiceContext& context) : context_(context), metrics_(context.broker, context.keeper) {}
    ~HttpService() override { HttpService::stop(); }

    void start() override {
        const auto configuration = context_.configuration.get();
        const auto metrics = [this] { return metrics_.text(); };
        std::vector<HttpEndpoint> endpoints;
        file_.emplace(keeper_socket_path(context_.broker.directory()), configuration->socket.access);
        endpoints.push_back(
            {file_->listen(), true, std::make_shared<HttpRouter>(api_handler(context_, metrics)), work_of});
        if (const auto& port = configuration->metrics_listen) {
            ListeningPort listening = listen_on_port(port->host, port->port);
            context_.log.write({.event = "metrics_served",
                                .message = "metrics are served on http://" + listening.address + "/metrics"});
            endpoints.push_back({std::move(listening.socket), false,
                                 std::make_shared<HttpRouter>(metrics_handler(context_, metrics)), work_of});
        }
        server_.emplace(std::move(endpoints));
        server_->start();
    }

    void stop() noexcept override {
        if (file_)
            file_->remove();
        server_.reset();
        file_.reset();
    }

private:
    ServiceContext context_;
    MetricsCollector metrics_;
    std::optional<SocketFile> file_;
    std::optional<HttpServer> server_;
};

}  // namespace

std::unique_ptr<Service> make_http_service(const ServiceContext& context) {
    return std::make_unique<HttpService>(context);
}

}  // namespace ringmain::daemon
