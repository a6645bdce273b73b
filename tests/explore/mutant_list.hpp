// The list of all mutants, mutants.txt: what kills each, or why it may live. For people and for tests.
//
// A mutant is a site and its weakening. The site is named by file, operation and the text of its line, so that the list
// stands while other lines come and go.
#pragma once

#include <compare>
#include <map>
#include <string>

#include "explore/sites.hpp"

namespace ringmain::explore {

struct Mutant {
    std::string file;  // below src
    std::string text;  // of the line, without its comment; " #2" behind the second line of the file that says the same
    Operation operation = Operation::load;
    Weakening weakening = Weakening::none;
    friend auto operator<=>(const Mutant&, const Mutant&) = default;
};

struct Fate {
    std::string killer;       // the scenario that is violated by it; empty: it survives
    std::string reason;       // one of those that the head of the list explains
    std::string explanation;  // of this mutant

    [[nodiscard]] bool survives() const noexcept { return killer.empty(); }
};

using MutantList = std::map<Mutant, Fate>;

/// Throws std::invalid_argument with the number of the line that cannot be read.
[[nodiscard]] MutantList read_mutant_list();

/// A mutant as the list has it: "FILE: TEXT: OPERATION WEAKENING".
[[nodiscard]] std::string text_of(const Mutant& mutant);

/// Where the mutant is at present. None if the file has no such line.
[[nodiscard]] Mutation mutation_of(const Mutant& mutant);
/// The mutant of a mutation of a site that was reached.
[[nodiscard]] Mutant mutant_of(const Site& site, Weakening weakening);

/// Whether the site is one of the structures: not a scenario's, nor of what tests share.
[[nodiscard]] bool is_of_structures(const Site& site);

}  // namespace ringmain::explore
