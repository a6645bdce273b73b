// Errors as answers.
#include "api_errors.hpp"

#include "api_json.hpp"

namespace ringmain::daemon {

int status_of(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::not_found:
            return 404;
        case ErrorCode::topic_deleted:
            return 410;
        case ErrorCode::already_exists:
        case ErrorCode::mismatch:
        case ErrorCode::busy:
        case ErrorCode::version_mismatch:
            return 409;
        case ErrorCode::invalid_argument:
            return 400;
        case ErrorCode::permission_denied:
            return 403;
        case ErrorCode::limit:
            return 429;
        case ErrorCode::not_ready:
        case ErrorCode::interrupted:
            return 503;
        case ErrorCode::no_space:
            return 507;
        case ErrorCode::corrupt:
        case ErrorCode::forked:
        case ErrorCode::io:
            break;
    }
    return 500;
}

HttpAnswer answer_to(const std::exception& error) {
    if (const auto* const known = dynamic_cast<const Error*>(&error))
        return {status_of(known->code()), to_json(*known) + "\n"};
    return answer_to(Error(ErrorCode::io, "request", std::string("the request failed: ") + error.what()));
}

HttpAnswer refusal_answer(const HttpRefusal& refusal) {
    constexpr int kNotFound = 404;
    constexpr int kTooMany = 429;
    ErrorCode code = ErrorCode::invalid_argument;
    if (refusal.status == kNotFound)
        code = ErrorCode::not_found;
    if (refusal.status == kTooMany)
        code = ErrorCode::limit;
    return {refusal.status, to_json(Error(code, "request", refusal.why)) + "\n"};
}

}  // namespace ringmain::daemon
