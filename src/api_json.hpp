// The JSON that the daemon's API speaks, as both of its sides need it. docs/api.md describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ringmain/broker.hpp"
#include "ringmain/error.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

// Reading: text is input. A member that is not known, is of the wrong type or does not fit throws Error
// invalid_argument with its name, its value and its range.

struct CreationRequest {
    TopicOptions options;
    std::optional<TopicId> id;           ///< Chosen by who asks, to know the topic again when the answer is lost.
    std::optional<std::uint32_t> umask;  ///< Of who asks, for what `options.access` does not say.
};
[[nodiscard]] std::string to_json(const CreationRequest& request);
/// What the text does not say is as in `defaults`. An empty text is an empty object.
[[nodiscard]] CreationRequest creation_from_json(std::string_view topic, std::string_view text,
                                                 const TopicOptions& defaults);

struct ChangeRequest {
    std::optional<Retention> retention;
    std::optional<TopicAccess> access;
};
[[nodiscard]] std::string to_json(const ChangeRequest& request);
/// What the text does not say of a retention is as in `current`.
[[nodiscard]] ChangeRequest change_from_json(std::string_view topic, std::string_view text, const Retention& current);

/// {"before": offset}
[[nodiscard]] std::string deletion_to_json(std::uint64_t offset);
[[nodiscard]] std::uint64_t deletion_from_json(std::string_view topic, std::string_view text);
[[nodiscard]] std::string to_json(const RecordsDeleted& deleted);
[[nodiscard]] RecordsDeleted records_deleted_from_json(std::string_view text);

/// {"code", "object", "message"}, and "system_error" if there is one.
[[nodiscard]] std::string to_json(const Error& error);
/// The same error again; of a text that is none, Error io that shows it.
[[nodiscard]] Error error_from_json(int status, std::string_view text);

/// A topic as `describe` shows it, without its clients and gates: for those who may not read its files.
[[nodiscard]] TopicDescription description_from_json(std::string_view text);

/// 32 hexadecimal digits, as to_string(TopicId) writes them.
[[nodiscard]] std::optional<TopicId> topic_id_from(std::string_view text) noexcept;

}  // namespace ringmain
