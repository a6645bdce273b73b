// From the text of a request to the text of its answer. The only code here that knows cpp-httplib.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http_call.hpp"
#include "http_intake.hpp"

namespace ringmain::daemon {

class HttpRouter {
public:
    /// Answers a call; what it throws becomes an answer, too (`answer_to`).
    using Handler = std::function<HttpAnswer(const HttpCall&)>;

    explicit HttpRouter(Handler handler);
    ~HttpRouter();
    HttpRouter(const HttpRouter&) = delete;
    HttpRouter& operator=(const HttpRouter&) = delete;

    /// Requires a request that an HttpIntake has let through. Thread safety: from any thread.
    [[nodiscard]] std::string answer(const std::string& request, const std::optional<Peer>& peer,
                                     const std::atomic<bool>& called_off) const;

    /// The text of an answer to what was not let through.
    [[nodiscard]] static std::string refuse(const HttpRefusal& refusal);

private:
    class Server;
    std::unique_ptr<Server> server_;
};

}  // namespace ringmain::daemon
