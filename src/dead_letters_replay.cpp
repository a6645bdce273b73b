// Replaying dead letters.
#include "dead_letters_impl.hpp"
#include "letter_replay.hpp"
#include "letter_topic.hpp"

namespace ringmain {

LettersReplayed DeadLetters::Impl::replay(std::string_view name, const LetterFilter& filter,
                                          const ReplayOptions& options) const {
    LetterTopic topic(impl(), name, options.dry_run ? LetterTopic::For::reading : LetterTopic::For::settling);
    topic.check_filter(filter);
    LetterReplay replay(broker_, topic, options);
    std::optional<LettersInHand> in_hand;
    if (!options.dry_run) {
        topic.refuse_members();
        in_hand.emplace(*impl(), topic.file(), topic.name());
        replay.done().found_replayed = finish_letter_under_way(broker_, topic) ? 1 : 0;
    }
    RecordCopy copy;
    for (std::uint32_t p = 0; p < topic.partitions() && !replay.done().stopped; ++p) {
        topic.for_each(p, copy, [&](std::uint64_t, const ConsumerRecord& record) {
            if (replay.wants_to_stop())
                return false;
            const DecodedLetter decoded = decode_dead_letter(record);
            if (matches(filter, record, decoded))
                replay.handle(record, decoded);
            return true;
        });
        if (!options.dry_run)
            topic.close_stalled(p);
    }
    return replay.done();
}

}  // namespace ringmain
