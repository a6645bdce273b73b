// Purging dead letters: settled, and published nowhere.
#include "dead_letters_impl.hpp"
#include "letter_replay.hpp"
#include "letter_topic.hpp"

namespace ringmain {

LettersPurged DeadLetters::Impl::purge(std::string_view name, const LetterFilter& filter, bool dry_run,
                                       const std::function<bool()>& stop) const {
    LetterTopic topic(impl(), name, dry_run ? LetterTopic::For::reading : LetterTopic::For::settling);
    std::optional<LettersInHand> in_hand;
    if (!dry_run) {
        topic.refuse_members();
        in_hand.emplace(*impl(), topic.file(), topic.name());
        (void)finish_letter_under_way(broker_, topic);
    }
    LettersPurged done;
    RecordCopy copy;
    ConsumerRecord record;
    for (std::uint32_t p = 0; p < topic.partitions() && !done.stopped; ++p) {
        const LetterRange all = topic.range(p);
        for (auto at = topic.next(p, all.from, all.to, copy, record); at;
             at = topic.next(p, *at + 1, all.to, copy, record)) {
            done.stopped = stop && stop();
            if (done.stopped)
                break;
            if (!matches(filter, record, decode_dead_letter(record)))
                continue;
            ++done.matched;
            if (dry_run)
                continue;
            topic.settle(p, *at, Settlement::purged);
            ++done.purged;
        }
        if (!dry_run)
            topic.close_stalled(p);
    }
    return done;
}

}  // namespace ringmain
