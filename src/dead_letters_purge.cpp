// Purging dead letters: settled, and published nowhere.
#include "dead_letters_impl.hpp"
#include "letter_replay.hpp"
#include "letter_topic.hpp"

namespace ringmain {

LettersPurged DeadLetters::Impl::purge(std::string_view name, const LetterFilter& filter, bool dry_run,
                                       const std::function<bool()>& stop) const {
    LetterTopic topic(impl(), name, dry_run ? LetterTopic::For::reading : LetterTopic::For::settling);
    topic.check_filter(filter);
    std::optional<LettersInHand> in_hand;
    if (!dry_run) {
        topic.refuse_members();
        in_hand.emplace(*impl(), topic.file(), topic.name());
        (void)finish_letter_under_way(broker_, topic);
    }
    LettersPurged done;
    RecordCopy copy;
    for (std::uint32_t p = 0; p < topic.partitions() && !done.stopped; ++p) {
        topic.for_each(p, copy, [&](std::uint64_t offset, const ConsumerRecord& record) {
            done.stopped = stop && stop();
            if (done.stopped)
                return false;
            if (!matches(filter, record, decode_dead_letter(record)))
                return true;
            ++done.matched;
            if (dry_run)
                return true;
            topic.settle(p, offset, Settlement::purged);
            ++done.purged;
            return true;
        });
        if (!dry_run)
            topic.close_stalled(p);
    }
    return done;
}

}  // namespace ringmain
