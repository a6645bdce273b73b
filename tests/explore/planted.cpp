// Sites by the text of their lines.
#include "explore/planted.hpp"

#include <fstream>
#include <iostream>
#include <stdexcept>

namespace ringmain::explore {

Mutation planted(const std::string& file, const std::string& text, Operation operation, Weakening weakening,
                 int below) {
    std::ifstream source(std::string(RINGMAIN_SOURCE_DIR) + "/src/" + file);
    int number = 0;
    int found = 0;
    for (std::string line; std::getline(source, line);) {
        ++number;
        if (line.find(text) == std::string::npos)
            continue;
        if (found != 0)
            throw std::invalid_argument(file + " has more than one line with " + text);
        found = number;
    }
    if (found == 0)
        throw std::invalid_argument(file + " has no line with " + text);
    return {file + ':' + std::to_string(found + below) + ':' + name_of(operation), weakening};
}

std::string found_in(const std::string& scenario, const Mutation& mutation) {
    // in order the last choices are varied first: random ones find what is wrong at any step
    const Outcome outcome = explore(scenario, {2'000, 1'000'000}, mutation);
    std::cout << "explore " << scenario << " with " << mutation.text() << ": "
              << (outcome.violated() ? outcome.violation : "nothing") << " after " << outcome.executions
              << " executions, " << outcome.cpu_seconds << " s of CPU" << std::endl;
    if (!outcome.violated())
        return {};
    const bool again = replay(outcome.replay).violation == outcome.violation;
    const std::string plain = outcome.replay.substr(0, outcome.replay.find('@'));
    const bool without = replay(plain).violation == outcome.violation;
    if (again && !without)
        return outcome.violation;
    std::cout << "its word does not repeat it, or finds it without the fault" << std::endl;
    return {};
}

}  // namespace ringmain::explore
