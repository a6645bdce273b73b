// Errors as answers.
#pragma once

#include <exception>

#include "http_call.hpp"
#include "http_intake.hpp"
#include "ringmain/error.hpp"

namespace ringmain::daemon {

[[nodiscard]] int status_of(ErrorCode code) noexcept;

/// The body is {code, object, message}; of another exception, code io.
[[nodiscard]] HttpAnswer answer_to(const std::exception& error);

/// Of a request that was not understood: the same body.
[[nodiscard]] HttpAnswer refusal_answer(const HttpRefusal& refusal);

}  // namespace ringmain::daemon
