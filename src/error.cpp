// The one exception type.
#include "ringmain/error.hpp"

#include <system_error>
#include <utility>

namespace ringmain {

std::string_view to_string(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::not_found:
            return "not_found";
        case ErrorCode::already_exists:
            return "already_exists";
        case ErrorCode::not_ready:
            return "not_ready";
        case ErrorCode::version_mismatch:
            return "version_mismatch";
        case ErrorCode::corrupt:
            return "corrupt";
        case ErrorCode::no_space:
            return "no_space";
        case ErrorCode::permission_denied:
            return "permission_denied";
        case ErrorCode::limit:
            return "limit";
        case ErrorCode::invalid_argument:
            return "invalid_argument";
        case ErrorCode::mismatch:
            return "mismatch";
        case ErrorCode::busy:
            return "busy";
        case ErrorCode::forked:
            return "forked";
        case ErrorCode::topic_deleted:
            return "topic_deleted";
        case ErrorCode::interrupted:
            return "interrupted";
        case ErrorCode::io:
            return "io";
    }
    return "unknown";
}

namespace {

std::string text_of(const std::string& message, int system_error) {
    if (system_error == 0)
        return message;
    return message + ": " + std::generic_category().message(system_error) + " (errno " + std::to_string(system_error) +
           ")";
}

}  // namespace

Error::Error(ErrorCode code, std::string object, const std::string& message, int system_error)
    : std::runtime_error(text_of(message, system_error)),
      code_(code),
      system_error_(system_error),
      object_(std::move(object)) {}

}  // namespace ringmain
