// What `ringmain dlq` shows.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringmain/dead_letters.hpp"
#include "table.hpp"

namespace ringmain::cli {

// Arrays of objects, on one line. Bytes of names that are not UTF-8 are shown as U+FFFD.
[[nodiscard]] std::string letters_to_json(const std::vector<DeadLetterSummary>& topics);
/// One record with its letter on one line: as `consume --json`, and "letter", or "problem" if it is none.
[[nodiscard]] std::string letter_to_json(const ConsumerRecord& record, const DecodedLetter& decoded);
[[nodiscard]] std::string replayed_to_json(const std::string& topic, const LettersReplayed& done, bool dry_run);
[[nodiscard]] std::string purged_to_json(const std::string& topic, const LettersPurged& done, bool dry_run);

[[nodiscard]] std::string letters_to_text(const std::vector<DeadLetterSummary>& topics);
[[nodiscard]] Table letter_table();
void add_letter(Table& table, const ConsumerRecord& record, const DecodedLetter& decoded);
[[nodiscard]] std::string replayed_to_text(const std::string& topic, const LettersReplayed& done, bool dry_run);
[[nodiscard]] std::string purged_to_text(const std::string& topic, const LettersPurged& done, bool dry_run);

/// Letters that matched and were not replayed.
[[nodiscard]] std::uint64_t kept(const LettersReplayed& done) noexcept;

}  // namespace ringmain::cli
