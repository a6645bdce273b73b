// Where a daemon's configuration comes from: a file, and flags that override it.
#include "configuration_source.hpp"

#include <fmt/core.h>

#include "ringmain/broker.hpp"

namespace ringmain::daemon {

std::string to_string(const ConfigurationProblem& problem) {
    std::string text = problem.file;
    if (problem.line != 0)
        text += fmt::format(":{}:{}", problem.line, problem.column);
    text += ": ";
    if (!problem.key.empty())
        text += problem.key + ": ";
    return text + problem.what;
}

LoadedConfiguration ConfigurationSource::load() const {
    LoadedConfiguration loaded{Configuration{}, {}};
    Configuration& configuration = *loaded.configuration;
    if (flags_.directory)
        configuration.directory = *flags_.directory;
    if (configuration.directory.empty())
        configuration.directory = default_broker_directory();
    configuration.interval = flags_.interval.value_or(configuration.interval);
    configuration.log_format = flags_.log_format.value_or(configuration.log_format);
    configuration.log_level = flags_.log_level.value_or(configuration.log_level);
    return loaded;
}

}  // namespace ringmain::daemon
