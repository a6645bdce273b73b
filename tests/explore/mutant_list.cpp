// Reading the list of mutants, and finding its lines in the source.
#include "explore/mutant_list.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace ringmain::explore {

namespace {

constexpr std::array kReasons = {"statistic",     "hint", "ordered as well", "load buffering", "same value",
                                 "hostile bytes", "unit test", "open"};

std::string source_path(const std::string& file) { return std::string(RINGMAIN_SOURCE_DIR) + "/src/" + file; }

std::string trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos)
        return {};
    return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

// The texts of a file's lines, each once and for all: those that are the same are numbered.
const std::vector<std::string>& texts_of(const std::string& file) {
    static std::map<std::string, std::vector<std::string>> files;
    const auto [at, is_new] = files.try_emplace(file);
    if (!is_new)
        return at->second;
    std::ifstream source(source_path(file));
    std::map<std::string, int> seen;
    for (std::string line; std::getline(source, line);) {
        const std::string text = trimmed(line.substr(0, line.find("//")));
        const int times = ++seen[text];
        at->second.push_back(times == 1 ? text : text + " #" + std::to_string(times));
    }
    return at->second;
}

template <class Enum, std::size_t Count>
std::optional<Enum> named(std::string_view name) {
    for (std::size_t i = 0; i < Count; ++i) {
        if (name == name_of(static_cast<Enum>(i)))
            return static_cast<Enum>(i);
    }
    return std::nullopt;
}

// One reading of the list: the file and the line of the source that an entry belongs to, and what it may go on with.
class ListReader {
public:
    MutantList read(std::istream& list) {
        for (std::string line; std::getline(list, line);) {
            ++number_;
            if (!line.empty() && line.front() != '#')
                take(line);
        }
        return std::move(list_);
    }

private:
    void take(const std::string& line) {
        const std::size_t indentation = line.find_first_not_of(' ');
        const std::string text = trimmed(line);
        if (indentation == 0) {
            file_ = text;
        } else if (indentation == 4) {
            text_ = text;
        } else if (indentation == 8) {
            take_entry(text);
        } else {
            check(indentation == 12 && !last_.empty(), "an entry goes on with 12 blanks before it");
            for (Fate* fate : last_)
                fate->explanation += ' ' + text;
        }
    }

    // "OPERATION WEAKENING, WEAKENING: killed by SCENARIO" or "...: REASON: EXPLANATION"
    void take_entry(const std::string& entry) {
        const std::size_t blank = entry.find(' ');
        const std::size_t colon = entry.find(": ");
        check(blank < colon && colon != std::string::npos, "an entry is OPERATION WEAKENING: what becomes of it");
        const auto operation = named<Operation, kOperations>(entry.substr(0, blank));
        check(operation.has_value(), "there is no such operation");
        const Fate fate = fate_of(entry.substr(colon + 2));
        last_.clear();
        std::string_view weakenings = std::string_view(entry).substr(blank + 1, colon - blank - 1);
        while (!weakenings.empty()) {
            const std::size_t comma = std::min(weakenings.find(','), weakenings.size());
            const auto weakening = named<Weakening, kWeakenings>(trimmed(weakenings.substr(0, comma)));
            check(weakening.has_value(), "there is no such weakening");
            const auto [at, is_new] = list_.emplace(Mutant{file_, text_, *operation, *weakening}, fate);
            check(is_new, "the mutant is listed twice");
            last_.push_back(&at->second);
            weakenings.remove_prefix(std::min(comma + 1, weakenings.size()));
        }
    }

    [[nodiscard]] Fate fate_of(const std::string& text) const {
        constexpr std::string_view kKilled = "killed by ";
        if (text.starts_with(kKilled))
            return {text.substr(kKilled.size()), {}, {}};
        const std::size_t colon = std::min(text.find(": "), text.size());
        const std::string reason = text.substr(0, colon);
        check(std::find(kReasons.begin(), kReasons.end(), reason) != kReasons.end(), "there is no such reason");
        check(colon != text.size(), "a mutant that survives is explained");
        return {{}, reason, text.substr(colon + 2)};
    }

    void check(bool holds, const char* what) const {
        if (!holds)
            throw std::invalid_argument("mutants.txt:" + std::to_string(number_) + ": " + what);
    }

    MutantList list_;
    int number_ = 0;
    std::string file_;
    std::string text_;
    std::vector<Fate*> last_;
};

}  // namespace

MutantList read_mutant_list() {
    std::ifstream list(std::string(RINGMAIN_SOURCE_DIR) + "/tests/explore/mutants.txt");
    return ListReader().read(list);
}

std::string text_of(const Mutant& mutant) {
    return mutant.file + ": " + mutant.text + ": " + name_of(mutant.operation) + ' ' + name_of(mutant.weakening);
}

Mutation mutation_of(const Mutant& mutant) {
    const std::vector<std::string>& texts = texts_of(mutant.file);
    const auto at = std::find(texts.begin(), texts.end(), mutant.text);
    if (at == texts.end())
        return {};
    const auto line = std::to_string(at - texts.begin() + 1);
    return {mutant.file + ':' + line + ':' + name_of(mutant.operation), mutant.weakening};
}

Mutant mutant_of(const Site& site, Weakening weakening) {
    const std::size_t colon = site.where.find(':');
    const std::string file = site.where.substr(0, colon);
    const std::vector<std::string>& texts = texts_of(file);
    const auto line = static_cast<std::size_t>(std::stoul(site.where.substr(colon + 1)));
    return {file, line <= texts.size() ? texts[line - 1] : std::string(), site.operation, weakening};
}

bool is_of_structures(const Site& site) {
    return std::filesystem::exists(source_path(site.where.substr(0, site.where.find(':'))));
}

}  // namespace ringmain::explore
