// Dead letters from outside: what there is, reading it, publishing it once more after what was wrong is mended, and
// purging it.
//
// A letter is in the dead-letter topic until it is replayed or purged; then it is settled, for ever, and no longer
// shown here, though its bytes stay until the log needs the room. Settled letters at the beginning of a partition are
// committed by the group `ringmain.dlq`, which keeps those of a `block` topic. Which ones are settled behind a letter
// that is not is in the topic's file `letters`: any filter may be used in any order, and nobody's letter is lost or
// replayed twice by it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringmain/broker.hpp"
#include "ringmain/dead_letter.hpp"
#include "ringmain/export.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain {

/// The group that keeps the letters of a dead-letter topic.
inline constexpr std::string_view kDeadLettersGroup = "ringmain.dlq";

/// Headers of a record that was replayed: where its record was before it became a letter, "TOPIC/PARTITION/OFFSET", and
/// that record's timestamp, if it is known. A replayed record has the time of the replay, and none of the letter's
/// headers.
inline constexpr std::string_view kReplayedFromHeader = "ringmain-replayed-from";
inline constexpr std::string_view kReplayedTimestampHeader = "ringmain-replayed-timestamp-ns";

/// Which letters are meant: those that meet all that is given. A record that is no letter has neither topic, group,
/// reason nor error, so that it meets none of these.
struct LetterFilter {
    std::optional<std::string> topic = {};  ///< Of the record.
    std::optional<std::string> group = {};  ///< That could not handle it.
    std::optional<std::string> error = {};  ///< A part of the first or the last error's text.
    std::optional<DeadLetterReason> reason = {};
    std::optional<std::int64_t> since_ns = {};    ///< Written at that time or later, since the Unix epoch,
    std::optional<std::int64_t> until_ns = {};    ///< and before that one.
    std::optional<std::string> key = {};          ///< Exactly these bytes.
    std::optional<std::uint32_t> partition = {};  ///< Of the dead-letter topic,
    std::optional<std::uint64_t> offset = {};     ///< and the letter's own offset there.
};
[[nodiscard]] RINGMAIN_API bool matches(const LetterFilter& filter, const ConsumerRecord& record,
                                        const DecodedLetter& decoded) noexcept;

/// A queue or a group with retries whose letters go to a dead-letter topic.
struct LetterSender {
    std::string topic;  ///< Of its records.
    std::string group;
    bool queue = false;
};

/// The letters of one group of one topic.
struct LetterGroupSummary {
    std::string topic;  ///< Of the records.
    std::string group;
    std::uint64_t letters = 0;
    std::array<std::uint64_t, 4> by_reason{};  ///< By DeadLetterReason.
    std::int64_t oldest_ns = 0;                ///< When the oldest was written, since the Unix epoch.
    std::int64_t newest_ns = 0;
};

/// What a dead-letter topic holds that is not settled.
struct DeadLetterSummary {
    std::string topic;  ///< The dead-letter topic.
    WhenFull when_full = WhenFull::block;
    std::uint64_t letters = 0;
    std::uint64_t others = 0;    ///< Records that are no letters: somebody published them there.
    std::uint64_t bytes = 0;     ///< Keys, values and headers of both.
    std::int64_t oldest_ns = 0;  ///< 0: there is none.
    std::int64_t newest_ns = 0;
    std::uint64_t room = 0;      ///< Letters that still fit the fullest partition, if all travel inline.
    std::uint64_t lost = 0;      ///< Offsets that an `overwrite` topic lost before they were settled.
    std::uint64_t replayed = 0;  ///< Since the first that was.
    std::uint64_t purged = 0;
    std::vector<LetterGroupSummary> groups;  ///< By topic and group.
};

struct ReplayOptions {
    /// Where to: empty: each letter to the partition of the topic that its record came from. Otherwise to this topic,
    /// by key as a producer does, those without a key by their record's partition.
    std::string to = {};
    bool dry_run = false;  ///< Counts what would be done, and changes nothing.
    /// How long one letter waits for room in a full `block` topic before the replay stops.
    std::chrono::nanoseconds timeout = std::chrono::seconds(10);
    std::function<bool()> stop = {};  ///< Asked before each letter and while one waits; true: enough.
};

/// What a replay did, or would do.
struct LettersReplayed {
    std::uint64_t matched = 0;
    std::uint64_t replayed = 0;
    // Those that matched and stay, and why:
    std::uint64_t no_letters = 0;  ///< They are none, and nobody knows where they came from.
    std::uint64_t value_lost = 0;  ///< There is no record to replay.
    std::uint64_t topic_gone = 0;  ///< Their topic was deleted, or is another one by now: name where they are to go.
    std::uint64_t too_large = 0;   ///< For the topic where they are to go.
    std::uint64_t refused = 0;     ///< That topic cannot be written.
    /// Not in `replayed`: letters that an interrupted replay had published and not noted, which this one found out.
    std::uint64_t found_replayed = 0;
    bool stopped = false;  ///< Before the last letter: asked to, or see `why`.
    std::string why;       ///< The first reason why a letter stays; empty: none stays.
};

struct LettersPurged {
    std::uint64_t matched = 0;
    std::uint64_t purged = 0;
    bool stopped = false;  ///< As asked to, before the last letter.
};

/// Administration of the dead letters of a broker. One thread at a time. Reading needs no more than the right to read
/// the files; replaying and purging needs the right to write the dead-letter topic, and one process does it at a time
/// for one topic. Nobody needs a daemon. Every call throws Error: forked, permission_denied, version_mismatch, corrupt,
/// io, and not_found for a topic that is not there.
class RINGMAIN_API DeadLetters {
public:
    explicit DeadLetters(const Broker& broker);
    DeadLetters(DeadLetters&&) noexcept;
    DeadLetters& operator=(DeadLetters&&) noexcept;
    ~DeadLetters();

    /// The dead-letter topics that are meant by a topic: itself if it is one (it keeps letters, a queue or group sends its letters
    /// there, or its name ends in ".dlq"); those that its own queues and groups send to, and TOPIC.dlq; or none. Sorted. Empty
    /// `topic`: all of the broker, and those that this process cannot read, since they may be some: who reads them is told why.
    [[nodiscard]] std::vector<std::string> topics_of(std::string_view topic = {});

    /// Links a queue or a group with retries of `topic` to its dead-letter topic, after that was deleted and made anew
    /// under its name; creates it if it is not there. Records that wait for their letter keep waiting, with all that is
    /// known of them, until there are workers or members again. False: it is linked to that topic already. Throws Error:
    /// not_found, mismatch (it sends no letters), busy (it has workers or members, which know the old topic), and what
    /// speaks against the topic as when a queue is created.
    bool relink(std::string_view topic, std::string_view group);

    // In all that follows `topic` is a dead-letter topic.

    /// Reads every letter that is not settled.
    [[nodiscard]] DeadLetterSummary summarize(std::string_view topic);
    /// The queues and groups with retries whose letters go to that topic. What cannot be read is left out.
    [[nodiscard]] std::vector<LetterSender> senders(std::string_view topic);
    /// The number of records that are not settled, letters and others: no record is read for it.
    [[nodiscard]] std::uint64_t count(std::string_view topic);

    /// Calls `visit` for each letter that is not settled and matches, and for records that are no letters, by partition
    /// and offset; false ends it. The views live for the call. Throws also not_found for a partition that there is not.
    using Visit = std::function<bool(const ConsumerRecord& record, const DecodedLetter& decoded)>;
    void read(std::string_view topic, const LetterFilter& filter, const Visit& visit);

    /// Publishes each letter that matches once more, in the order of each partition, and settles it: exactly once, also
    /// if this process is killed anywhere and the call made again. Letters that do not match stay. What the letter's
    /// headers say is removed, so that attempts begin anew; where it came from is in kReplayedFromHeader, if the record
    /// has room for it. Throws also: busy (another process replays or purges letters of the topic, or its group has
    /// members), invalid_argument
    /// (`to` is the topic itself), not_found (`to`, or a partition that there is not), no_space, mismatch (the group's name is a queue's). A topic that
    /// takes no letter is told in the result: each of its partitions hands out one of its producer names
    /// (kProducerNamesMax) to each dead-letter topic that letters were replayed from.
    LettersReplayed replay(std::string_view topic, const LetterFilter& filter, const ReplayOptions& options = {});

    /// Settles what matches, and publishes it nowhere; records that are no letters too, if they match. Throws as
    /// replay.
    LettersPurged purge(std::string_view topic, const LetterFilter& filter, bool dry_run = false,
                        const std::function<bool()>& stop = {});

    class Impl;

private:
    std::unique_ptr<Impl> impl_;
};

}  // namespace ringmain
