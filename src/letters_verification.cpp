// Looking for contradictions in what became of a topic's dead letters.
#include "letters_verification.hpp"

#include <optional>
#include <string>

#include "error_about.hpp"
#include "letters_file.hpp"
#include "partition_log/log_memory.hpp"

namespace ringmain {

namespace {

void verify_words(const TopicFiles& topic, const LettersFile& letters, std::uint32_t partition, VerifyReport& report) {
    const platform::Mapping file = topic.map_partition(partition, platform::Access::read_only);
    const auto log = topic.log_in(file, partition);
    const auto log_end = [&] { return log.control->log_end.load(std::memory_order_acquire); };  // acquire TICKET
    if (const auto fault = letters.fault_of_words(partition, log_end))
        report.damage.push_back({letters.path(), *fault});
}

}  // namespace

void verify_letters(const TopicFiles& topic, VerifyReport& report) {
    try {
        const std::optional<LettersFile> letters = LettersFile::open(topic, platform::Access::read_only);
        if (!letters)
            return;
        (void)letters->under_way();
        for (std::uint32_t partition = 0; partition < topic.options().partitions; ++partition)
            verify_words(topic, *letters, partition, report);
    } catch (const Error& error) {
        if (!is_gone(error))
            report.damage.push_back({error.object(), error.what()});
    }
}

}  // namespace ringmain
