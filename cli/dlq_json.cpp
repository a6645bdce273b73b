// Dead letters as JSON.
#include "dlq_report.hpp"
#include "json_values.hpp"
#include "record_json.hpp"

namespace ringmain::cli {

namespace {

using Json = nlohmann::ordered_json;

Json reasons_to_json(const LetterGroupSummary& group) {
    Json json;
    for (const auto reason : {DeadLetterReason::limit, DeadLetterReason::rejected, DeadLetterReason::expired,
                              DeadLetterReason::worker_died})
        json[std::string(to_string(reason))] = group.by_reason.at(static_cast<std::size_t>(reason));
    return json;
}

Json group_to_json(const LetterGroupSummary& group) {
    return {{"topic", group.topic},
            {"group", group.group},
            {"letters", group.letters},
            {"by_reason", reasons_to_json(group)},
            {"oldest_ns", number_or_null(group.oldest_ns)},
            {"newest_ns", number_or_null(group.newest_ns)}};
}

Json summary_to_json(const DeadLetterSummary& topic) {
    Json groups = Json::array();
    for (const LetterGroupSummary& group : topic.groups)
        groups.push_back(group_to_json(group));
    return {{"dead_letter_topic", topic.topic},
            {"when_full", to_string(topic.when_full)},
            {"letters", topic.letters},
            {"others", topic.others},
            {"bytes", topic.bytes},
            {"oldest_ns", number_or_null(topic.oldest_ns)},
            {"newest_ns", number_or_null(topic.newest_ns)},
            {"room", topic.room},
            {"lost", topic.lost},
            {"replayed", topic.replayed},
            {"purged", topic.purged},
            {"groups", std::move(groups)}};
}

Json letter_members(const DeadLetter& letter) {
    return {{"topic", std::string(letter.topic)},
            {"topic_id", to_string(letter.topic_id)},
            {"partition", letter.partition},
            {"offset", letter.offset},
            {"ts_ns", letter.timestamp_ns ? Json(*letter.timestamp_ns) : Json(nullptr)},
            {"attempts", letter.attempts},
            {"group", std::string(letter.group)},
            {"reason", std::string(to_string(letter.reason))},
            {"first_error", text_or_null(letter.first_error)},
            {"last_error", text_or_null(letter.last_error)},
            {"value_lost", letter.value_lost}};
}

}  // namespace

std::string letters_to_json(const std::vector<DeadLetterSummary>& topics) {
    Json array = Json::array();
    for (const DeadLetterSummary& topic : topics)
        array.push_back(summary_to_json(topic));
    return line(array);
}

std::string letter_to_json(const ConsumerRecord& record, const DecodedLetter& decoded) {
    std::string text;
    append_json(text, record);
    text.pop_back();  // the brace that closes the object
    if (decoded.letter)
        return text.append(",\"letter\":").append(line(letter_members(*decoded.letter))).append("}");
    return text.append(",\"problem\":").append(line(Json(decoded.problem))).append("}");
}

std::string replayed_to_json(const std::string& topic, const LettersReplayed& done, bool dry_run) {
    return line({{"dead_letter_topic", topic},
                 {"dry_run", dry_run},
                 {"matched", done.matched},
                 {"replayed", done.replayed},
                 {"found_replayed", done.found_replayed},
                 {"topic_gone", done.topic_gone},
                 {"too_large", done.too_large},
                 {"refused", done.refused},
                 {"value_lost", done.value_lost},
                 {"no_letters", done.no_letters},
                 {"stopped", done.stopped},
                 {"why", text_or_null(done.why)}});
}

std::string purged_to_json(const std::string& topic, const LettersPurged& done, bool dry_run) {
    return line({{"dead_letter_topic", topic},
                 {"dry_run", dry_run},
                 {"matched", done.matched},
                 {"purged", done.purged},
                 {"stopped", done.stopped}});
}

}  // namespace ringmain::cli
