// The public DeadLetters: which topics are meant, and which letters.
#include "ringmain/dead_letters.hpp"

#include <algorithm>
#include <set>

#include "dead_letter_cycle.hpp"
#include "dead_letters_impl.hpp"
#include "error_about.hpp"
#include "letter_topic.hpp"
#include "platform/files.hpp"
#include "topic_name.hpp"
#include "topic_paths.hpp"

namespace ringmain {

namespace {

constexpr std::string_view kUsualEnding = ".dlq";

bool is_unreadable(const Error& error) noexcept {
    return error.code() == ErrorCode::permission_denied || error.code() == ErrorCode::corrupt ||
           error.code() == ErrorCode::version_mismatch;
}

bool keeps_letters(const TopicFiles& topic) {
    return find_letters_group(topic) ||
           platform::kind_of(letters_path(topic.directory())) != platform::PathKind::absent;
}

bool contains(std::string_view text, std::string_view part) noexcept {
    return text.find(part) != std::string_view::npos;
}

bool matches_record(const LetterFilter& filter, const ConsumerRecord& record) noexcept {
    if (filter.partition && *filter.partition != record.partition)
        return false;
    if (filter.offset && *filter.offset != record.offset)
        return false;
    if (filter.since_ns && record.timestamp_ns < *filter.since_ns)
        return false;
    if (filter.until_ns && record.timestamp_ns >= *filter.until_ns)
        return false;
    return !filter.key || (record.key && as_text(*record.key) == *filter.key);
}

}  // namespace

bool matches(const LetterFilter& filter, const ConsumerRecord& record, const DecodedLetter& decoded) noexcept {
    if (!matches_record(filter, record))
        return false;
    if (!decoded.letter)
        return !filter.topic && !filter.group && !filter.reason && !filter.error;
    const DeadLetter& letter = *decoded.letter;
    if ((filter.topic && letter.topic != *filter.topic) || (filter.group && letter.group != *filter.group))
        return false;
    if (filter.reason && letter.reason != *filter.reason)
        return false;
    return !filter.error || contains(letter.first_error, *filter.error) || contains(letter.last_error, *filter.error);
}

std::vector<std::string> DeadLetters::Impl::topics_of(std::string_view topic) const {
    if (!topic.empty() && is_letter_topic(std::string(topic)))
        return {std::string(topic)};
    std::set<std::string> found;
    const auto add = [&](const std::string& name, bool only_if_it_keeps) {
        try {
            const auto files = impl()->open_topic(name);
            if (!only_if_it_keeps || keeps_letters(*files))
                found.insert(name);
        } catch (const Error& error) {
            if (topic.empty() && is_unreadable(error))
                found.insert(name);  // whether it is one nobody can say; who reads it is told why
            else if (!is_gone(error))
                throw;
        }
    };
    const std::vector<std::string> origins = topic.empty() ? impl()->list_topics() : std::vector{std::string(topic)};
    for (const std::string& origin : origins) {
        if (topic.empty())
            add(origin, !origin.ends_with(kUsualEnding));
        for (const std::string& letters : topics_for_letters_of(*impl(), origin))
            add(letters, false);
        if (const std::string usual = origin + std::string(kUsualEnding); !topic.empty() && is_topic_name(usual))
            add(usual, false);
    }
    return {found.begin(), found.end()};
}

// One that keeps letters is one whatever it is called; one that overwrites may not keep any yet.
bool DeadLetters::Impl::is_letter_topic(const std::string& topic) const {
    if (keeps_letters(*impl()->open_topic(topic)) || topic.ends_with(kUsualEnding))
        return true;
    for (const std::string& origin : impl()->list_topics()) {
        const std::vector<std::string> letters = topics_for_letters_of(*impl(), origin);
        if (std::find(letters.begin(), letters.end(), topic) != letters.end())
            return true;
    }
    return false;
}

DeadLetters::DeadLetters(const Broker& broker) : impl_(std::make_unique<Impl>(broker)) {}
DeadLetters::DeadLetters(DeadLetters&&) noexcept = default;
DeadLetters& DeadLetters::operator=(DeadLetters&&) noexcept = default;
DeadLetters::~DeadLetters() = default;

std::vector<std::string> DeadLetters::topics_of(std::string_view topic) { return impl_->topics_of(topic); }
bool DeadLetters::relink(std::string_view topic, std::string_view group) { return impl_->relink(topic, group); }
DeadLetterSummary DeadLetters::summarize(std::string_view topic) { return impl_->summarize(topic); }
std::vector<LetterSender> DeadLetters::senders(std::string_view topic) {
    return senders_of_letters_to(*impl_->impl(), *impl_->impl()->open_topic(topic));
}
std::uint64_t DeadLetters::count(std::string_view topic) { return impl_->count(topic); }
void DeadLetters::read(std::string_view topic, const LetterFilter& filter, const Visit& visit) {
    impl_->read(topic, filter, visit);
}
LettersReplayed DeadLetters::replay(std::string_view topic, const LetterFilter& filter, const ReplayOptions& options) {
    return impl_->replay(topic, filter, options);
}
LettersPurged DeadLetters::purge(std::string_view topic, const LetterFilter& filter, bool dry_run,
                                 const std::function<bool()>& stop) {
    return impl_->purge(topic, filter, dry_run, stop);
}

}  // namespace ringmain
