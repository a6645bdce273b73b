// What the administration of dead letters is made of.
//
//   dead_letters.cpp           the public class; which topics are meant
//   dead_letters_listing.cpp   summaries, reading
//   dead_letters_replay.cpp    publishing letters once more
//   dead_letters_purge.cpp     purging them
//   letter_topic.cpp           an open dead-letter topic: which letters are not settled, and settling them
//   letters_file.cpp           the file that says which are
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "broker_impl.hpp"
#include "ringmain/dead_letters.hpp"

namespace ringmain {

class DeadLetters::Impl {
public:
    explicit Impl(const Broker& broker) : broker_(broker) {}

    [[nodiscard]] std::vector<std::string> topics_of(std::string_view topic) const;
    bool relink(std::string_view topic, std::string_view group) const;
    [[nodiscard]] DeadLetterSummary summarize(std::string_view topic) const;
    [[nodiscard]] std::uint64_t count(std::string_view topic) const;
    void read(std::string_view topic, const LetterFilter& filter, const Visit& visit) const;
    [[nodiscard]] LettersReplayed replay(std::string_view topic, const LetterFilter& filter,
                                         const ReplayOptions& options) const;
    [[nodiscard]] LettersPurged purge(std::string_view topic, const LetterFilter& filter, bool dry_run,
                                      const std::function<bool()>& stop) const;

    [[nodiscard]] const std::shared_ptr<Broker::Impl>& impl() const noexcept { return broker_.impl(); }

private:
    [[nodiscard]] bool is_letter_topic(const std::string& topic) const;
    Broker broker_;
};

}  // namespace ringmain
