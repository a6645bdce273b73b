// The one exception type, thrown by set-up calls only (open, create, attach, assign, seek).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ringmain/export.hpp"

namespace ringmain {

enum class ErrorCode : std::uint8_t {
    not_found,          ///< No such broker directory, topic, partition or group.
    already_exists,     ///< The topic exists.
    not_ready,          ///< The object is being created or deleted at this moment; try again.
    version_mismatch,   ///< Files of another layout; both versions are in the text.
    corrupt,            ///< A file contradicts itself.
    no_space,           ///< The file system lacks room; needed and free bytes are in the text.
    permission_denied,  ///< Path, owner and mode are in the text.
    limit,              ///< A fixed table is full; its name and size are in the text.
    invalid_argument,   ///< A value is outside its range; the range is in the text.
    mismatch,           ///< The object exists with other options or another type.
    busy,               ///< Somebody else holds it exclusively; the holder is in the text.
    forked,             ///< The object was inherited through fork().
    topic_deleted,      ///< The topic behind this handle was deleted.
    interrupted,        ///< The caller asked to stop; nothing was done.
    io,                 ///< Any other failure of the operating system; errno is in the text.
};

/// The name of a code, as written in the enumeration.
RINGMAIN_API std::string_view to_string(ErrorCode code) noexcept;

/// Thrown by set-up calls. `what()` names the object, the value and the limit.
class RINGMAIN_API Error : public std::runtime_error {
public:
    Error(ErrorCode code, std::string object, const std::string& message, int system_error = 0);

    [[nodiscard]] ErrorCode code() const noexcept { return code_; }
    /// The path, topic or option that the error is about.
    [[nodiscard]] const std::string& object() const noexcept { return object_; }
    /// errno of the failed system call, or 0.
    [[nodiscard]] int system_error() const noexcept { return system_error_; }

private:
    ErrorCode code_;
    int system_error_;
    std::string object_;
};

}  // namespace ringmain
