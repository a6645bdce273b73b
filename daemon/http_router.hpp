// From the text of a request to the text of its answer. The only code here that knows cpp-httplib.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "http_call.hpp"
#include "http_intake.hpp"
#include "http_job.hpp"

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
    [[nodiscard]] std::string answer(const HttpJob& job) const;

    /// The text of an answer to what was not let through.
    [[nodiscard]] static std::string refuse(const HttpRefusal& refusal);

private:
    class Server;
    std::unique_ptr<Server> server_;
};

}  // namespace ringmain::daemon
