// Retries as JSON.
#include "json_values.hpp"
#include "retry_report.hpp"

namespace ringmain::cli {

using Json = nlohmann::ordered_json;

Json backoff_to_json(const Backoff& backoff) {
    return {{"first_ms", backoff.first.count()},
            {"max_ms", backoff.max.count()},
            {"factor", backoff.factor},
            {"jitter", backoff.jitter}};
}

Json retries_to_json(const GroupDescription& group) {
    if (!group.retries)
        return nullptr;
    const RetryDescription& retries = *group.retries;
    return {{"attempts", number_or_null(retries.attempts)},
            {"backoff", backoff_to_json(retries.backoff)},
            {"exhausted", to_string(retries.exhausted)},
            {"dead_letter_topic", text_or_null(retries.dead_letter_topic)},
            {"dead_letters_gone", retries.dead_letters_gone},
            {"damage", text_or_null(retries.damage)}};
}

Json retries_to_json(const GroupPartitionDescription& partition) {
    if (!partition.retries)
        return nullptr;
    const RetryPartitionDescription& of = *partition.retries;
    return {{"waiting", of.waiting},         {"in_hand", of.in_hand},
            {"ending", of.ending},           {"finished", of.finished},
            {"redelivered", of.redelivered}, {"returned", of.returned},
            {"dead_lettered", of.dead_lettered}, {"skipped", of.skipped},
            {"lost", of.lost},               {"letters_refused", of.letters_refused}};
}

}  // namespace ringmain::cli
