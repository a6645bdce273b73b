// Publishing one letter once more, exactly once.
//
//   under way: {letter, topic, partition, sequence} -> publish by that name and sequence -> letter settled -> nothing
//   under way
//
// Whoever has the letters of a topic in hand is the one holder of its producer name in the topics they go to. So a
// successor of one who was killed asks that log for the last sequence of the name, and knows.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "letter_topic.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/producer.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// The name by which letters of the dead-letter topic with that id are published.
[[nodiscard]] std::string replay_producer_name(const TopicId& letters);

/// Finds out what became of the letter that the last owner had under way, and settles it if it was published. True: it
/// was. Requires LettersInHand. Throws Error: what keeps the topic where it went from being asked (not that it is
/// gone).
bool finish_letter_under_way(const Broker& broker, LetterTopic& letters);

/// A topic that letters go to.
class ReplayTarget {
public:
    /// Throws Error as Broker::Impl::open_topic.
    ReplayTarget(const Broker& broker, const std::string& topic);

    [[nodiscard]] const TopicFiles& files() const noexcept { return *files_; }
    [[nodiscard]] std::uint32_t partitions() const noexcept { return files_->options().partitions; }

    /// The last sequence of the name in a partition. Attaches to it. Throws Error as Producer and
    /// Producer::last_sequence.
    [[nodiscard]] std::uint64_t last_sequence(const std::string& name, std::uint32_t partition);
    /// Requires last_sequence of the partition. Never waits.
    [[nodiscard]] Status publish(const ProducerRecord& record) noexcept;

private:
    Broker broker_;
    std::shared_ptr<const TopicFiles> files_;
    std::unique_ptr<Producer> producer_;
};

/// One replay.
class LetterReplay {
public:
    LetterReplay(const Broker& broker, LetterTopic& letters, const ReplayOptions& options);

    /// A letter that matches. Requires LettersInHand, unless it is a dry run.
    void handle(const ConsumerRecord& record, const DecodedLetter& decoded);
    [[nodiscard]] bool wants_to_stop();
    [[nodiscard]] LettersReplayed& done() noexcept { return done_; }

private:
    /// Where letters of one topic go, or why they stay.
    struct Destination {
        std::unique_ptr<ReplayTarget> target;  // null: they stay
        std::uint64_t LettersReplayed::*counter = &LettersReplayed::refused;
        std::string why;
    };

    [[nodiscard]] Destination& destination(const std::string& topic);
    [[nodiscard]] Destination open(const std::string& topic) const;
    void stay(std::uint64_t LettersReplayed::*counter, const ConsumerRecord& record, const std::string& why);
    void publish(const ConsumerRecord& letter, const ProducerRecord& record, Destination& to);
    [[nodiscard]] Status publish_patiently(ReplayTarget& target, const ProducerRecord& record);
    void fail(const ConsumerRecord& letter, Destination& to, Status status);

    Broker broker_;
    LetterTopic& letters_;
    const ReplayOptions& options_;
    std::string name_;
    std::map<std::string, Destination, std::less<>> destinations_;
    LettersReplayed done_;
};

}  // namespace ringmain
