// The topics of the broker, over the socket.
#pragma once

#include <memory>
#include <mutex>

#include "api_json.hpp"
#include "http_call.hpp"
#include "service.hpp"
#include "topic_files.hpp"

namespace ringmain::daemon {

/// Each answers one kind of request to "/v1/topics..." and throws Error for what becomes an error's answer.
class ApiTopics {
public:
    explicit ApiTopics(const ServiceContext& context) : context_(context) {}

    [[nodiscard]] HttpAnswer list() const;
    [[nodiscard]] HttpAnswer describe(const std::string& topic) const;
    [[nodiscard]] HttpAnswer create(const HttpCall& call, const std::string& topic) const;
    [[nodiscard]] HttpAnswer remove(const HttpCall& call, const std::string& topic) const;
    [[nodiscard]] HttpAnswer change(const HttpCall& call, const std::string& topic) const;
    [[nodiscard]] HttpAnswer delete_records(const HttpCall& call, const std::string& topic,
                                            const std::string& partition) const;

private:
    [[nodiscard]] ChangeRequest apply_change(const Peer& peer, const HttpCall& call, const TopicFiles& topic) const;

    ServiceContext context_;
    std::shared_ptr<std::mutex> changing_ = std::make_shared<std::mutex>();
};

}  // namespace ringmain::daemon
