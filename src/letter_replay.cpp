// Publishing one letter once more, exactly once.
#include "letter_replay.hpp"

#include <optional>
#include <span>

#include "error_about.hpp"
#include "platform/sleep.hpp"
#include "record_encoding.hpp"
#include "ringmain/partitioner.hpp"

namespace ringmain {

namespace {

std::string letter_text(std::string_view topic, std::uint32_t partition, std::uint64_t offset) {
    return "the letter at offset " + std::to_string(offset) + " of " + partition_text(topic, partition);
}

// The record as it was, with where it came from as far as there is room for that.
class ReplayedRecord {
public:
    ReplayedRecord(const ConsumerRecord& letter, const DeadLetter& origin)
        : from_(std::string(origin.topic) + "/" + std::to_string(origin.partition) + "/" +
                std::to_string(origin.offset)),
          timestamp_(origin.timestamp_ns ? std::to_string(*origin.timestamp_ns) : std::string()) {
        record_.key = letter.key;
        record_.value = letter.value;
        for (const Header& header : letter.headers) {
            const bool ours = header.name.starts_with(kDeadLetterHeaderPrefix) || header.name == kReplayedFromHeader ||
                              header.name == kReplayedTimestampHeader;
            if (!ours)
                headers_.push_back(header);
        }
        own_headers_ = headers_.size();
        headers_.push_back({kReplayedFromHeader, as_bytes(from_)});
        if (!timestamp_.empty())
            headers_.push_back({kReplayedTimestampHeader, as_bytes(timestamp_)});
    }
    ReplayedRecord(const ReplayedRecord&) = delete;
    ReplayedRecord& operator=(const ReplayedRecord&) = delete;

    /// False: it cannot be made to fit.
    [[nodiscard]] bool fit(std::uint64_t bytes_max) {
        if (bytes() > bytes_max)
            headers_.resize(own_headers_);
        record_.headers = headers_;
        return bytes() <= bytes_max;
    }
    [[nodiscard]] ProducerRecord& record() noexcept { return record_; }
    /// With the stamp of its producer.
    [[nodiscard]] std::uint64_t bytes() const {
        const std::uint64_t of_headers =
            encoded_headers_bytes(headers_).value_or(0) + (headers_.empty() ? 0 : sizeof(std::uint32_t));
        return (record_.key ? record_.key->size() : 0) + (record_.value ? record_.value->size() : 0) + of_headers +
               layout::kStampBytes;
    }

private:
    std::string from_;
    std::string timestamp_;
    std::vector<Header> headers_;
    std::size_t own_headers_ = 0;
    ProducerRecord record_;
};

bool was_published(const Broker& broker, const LetterTopic& letters, const LetterUnderWay& letter) {
    if (letter.offset >= letters.range(letter.partition).to) {
        throw error_about(ErrorCode::corrupt, letter_text(letters.name(), letter.partition, letter.offset),
                          "was under way and is none that there ever was; run 'ringmain verify'");
    }
    try {
        ReplayTarget target(broker, letter.topic);
        return target.files().id() == letter.topic_id && letter.to_partition < target.partitions() &&
               target.last_sequence(replay_producer_name(letters.files().id()), letter.to_partition) >= letter.sequence;
    } catch (const Error& error) {
        if (is_gone(error))
            return false;  // if it was there, it went with its topic
        throw Error(error.code(), error.object(),
                    "whether " + letter_text(letters.name(), letter.partition, letter.offset) +
                        ", whose replay was interrupted, is in topic '" + letter.topic +
                        "' cannot be found out: " + error.what(),
                    error.system_error());
    }
}

}  // namespace

std::string replay_producer_name(const TopicId& letters) {
    return std::string(kDeadLettersGroup) + "/" + to_string(letters);
}

ReplayTarget::ReplayTarget(const Broker& broker, const std::string& topic)
    : broker_(broker), files_(broker.impl()->open_topic(topic)) {}

std::uint64_t ReplayTarget::last_sequence(const std::string& name, std::uint32_t partition) {
    if (!producer_) {
        ProducerOptions options;
        options.name = name;
        producer_ = std::make_unique<Producer>(broker_, files_->name(), options);
    }
    const std::uint64_t last = producer_->last_sequence(partition);
    // the producer found its topic by name: if ours still lives, it is that one
    if (files_->deleted())
        throw error_about(ErrorCode::topic_deleted, "topic '" + files_->name() + "'", "was deleted");
    return last;
}

Status ReplayTarget::publish(const ProducerRecord& record) noexcept { return producer_->try_publish(record).status; }

bool finish_letter_under_way(const Broker& broker, LetterTopic& letters) {
    const std::optional<LetterUnderWay> letter = letters.file().under_way();
    if (!letter)
        return false;
    bool published = false;
    if (!letters.file().is_settled(letter->partition, letter->offset)) {
        published = was_published(broker, letters, *letter);
        if (published)
            letters.settle(letter->partition, letter->offset, Settlement::replayed);
    }
    letters.file().end();
    return published;
}

LetterReplay::LetterReplay(const Broker& broker, LetterTopic& letters, const ReplayOptions& options)
    : broker_(broker), letters_(letters), options_(options), name_(replay_producer_name(letters.files().id())) {
    if (options.to.empty())
        return;
    if (options.to == letters.name()) {
        throw error_about(ErrorCode::invalid_argument, "letters of topic '" + letters.name() + "'",
                          "cannot be replayed to that topic itself");
    }
    destinations_[options.to].target = std::make_unique<ReplayTarget>(broker_, options.to);
}

bool LetterReplay::wants_to_stop() {
    if (!done_.stopped)
        done_.stopped = options_.stop && options_.stop();
    return done_.stopped;
}

void LetterReplay::stay(std::uint64_t LettersReplayed::*counter, const ConsumerRecord& record, const std::string& why) {
    ++(done_.*counter);
    if (done_.why.empty())
        done_.why = letter_text(record.topic, record.partition, record.offset) + " " + why;
}

LetterReplay::Destination LetterReplay::open(const std::string& topic) const {
    Destination to;
    try {
        to.target = std::make_unique<ReplayTarget>(broker_, topic);
    } catch (const Error& error) {
        if (is_gone(error))
            to.counter = &LettersReplayed::topic_gone;
        to.why = std::string("stays: ") + error.what();
    }
    return to;
}

LetterReplay::Destination& LetterReplay::destination(const std::string& topic) {
    const auto known = destinations_.find(topic);
    if (known != destinations_.end())
        return known->second;
    return destinations_.emplace(topic, open(topic)).first->second;
}

void LetterReplay::handle(const ConsumerRecord& record, const DecodedLetter& decoded) {
    ++done_.matched;
    if (!decoded.letter)
        return stay(&LettersReplayed::no_letters, record, "is no letter: it " + decoded.problem);
    const DeadLetter& letter = *decoded.letter;
    if (letter.value_lost)
        return stay(&LettersReplayed::value_lost, record, "has lost its record to retention");
    const bool home = options_.to.empty();
    const std::string topic = home ? std::string(letter.topic) : options_.to;
    if (topic == letters_.name())
        return stay(&LettersReplayed::refused, record, "says that it comes from its own topic; name where it is to go");
    Destination& to = destination(topic);
    if (!to.target)
        return stay(to.counter, record, to.why);
    const TopicFiles& files = to.target->files();
    if (home && (files.id() != letter.topic_id || letter.partition >= to.target->partitions())) {
        return stay(&LettersReplayed::topic_gone, record,
                    "comes from another topic '" + topic + "' than there is now; name where it is to go");
    }
    ReplayedRecord replayed(record, letter);
    if (const std::uint64_t bytes_max = record_bytes_max(geometry_for(files.options())); !replayed.fit(bytes_max)) {
        return stay(&LettersReplayed::too_large, record,
                    "has " + std::to_string(replayed.bytes()) +
                        " bytes with its producer's stamp; the records of topic '" + topic + "' have at most " +
                        std::to_string(bytes_max));
    }
    const bool by_key = !home && record.key.has_value();
    replayed.record().partition =
        by_key ? partition_for_key(*record.key, to.target->partitions()) : letter.partition % to.target->partitions();
    if (options_.dry_run) {
        ++done_.replayed;
    } else {
        publish(record, replayed.record(), to);
    }
}

void LetterReplay::publish(const ConsumerRecord& letter, const ProducerRecord& record, Destination& to) {
    ProducerRecord stamped = record;
    try {
        stamped.sequence = to.target->last_sequence(name_, *record.partition) + 1;
    } catch (const Error& error) {
        if (is_gone(error))
            to.counter = &LettersReplayed::topic_gone;
        to.why = std::string("stays: ") + error.what();
        to.target.reset();
        return stay(to.counter, letter, to.why);
    }
    const TopicFiles& files = to.target->files();
    letters_.file().begin(
        {letter.partition, letter.offset, stamped.sequence, files.name(), files.id(), *record.partition});
    letters_.check_whole(letter.partition);  // published only if that was noted
    const Status status = publish_patiently(*to.target, stamped);
    if (status == Status::ok) {
        letters_.settle(letter.partition, letter.offset, Settlement::replayed);
        ++done_.replayed;
    }
    if (status == Status::corrupt) {  // it may be there: the note stays, and no other letter is begun before that is known
        done_.stopped = true;
        return stay(&LettersReplayed::refused, letter,
                    "may be replayed or not: topic '" + files.name() +
                        "' was found damaged; the next replay finds out, when that can be read");
    }
    letters_.file().end();
    if (status != Status::ok)
        fail(letter, to, status);
}

Status LetterReplay::publish_patiently(ReplayTarget& target, const ProducerRecord& record) {
    Status status = target.publish(record);
    platform::PatientSleep sleep(options_.timeout);
    while (status == Status::would_block && !wants_to_stop() && sleep.again())
        status = target.publish(record);
    return status;
}

void LetterReplay::fail(const ConsumerRecord& letter, Destination& to, Status status) {
    const std::string topic = "topic '" + to.target->files().name() + "'";
    if (status == Status::would_block) {
        done_.stopped = true;
        return stay(&LettersReplayed::refused, letter, "stays: " + topic + " is full; see 'ringmain who-blocks'");
    }
    to.counter = status == Status::topic_deleted ? &LettersReplayed::topic_gone : &LettersReplayed::refused;
    to.why = "stays: " + topic + " answers " + std::string(to_string(status));
    to.target.reset();
    stay(to.counter, letter, to.why);
}

}  // namespace ringmain
