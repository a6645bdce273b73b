// Scenarios by name.
#include "explore/scenario.hpp"

#include <map>
#include <sstream>

namespace ringmain::explore {

namespace {

using Makers = std::map<std::string, std::function<std::unique_ptr<Scenario>()>>;

Makers& makers() {
    static Makers makers;
    return makers;
}

}  // namespace

std::string Scenario::name_of_location(const void* address) const {
    std::ostringstream name;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
        const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - regions_[i].at);
        if (offset < regions_[i].bytes)
            name << "region " << i << " +" << offset;
    }
    return name.str();
}

Registered::Registered(std::string name, std::function<std::unique_ptr<Scenario>()> make) {
    makers().emplace(std::move(name), std::move(make));
}

std::vector<std::string> scenario_names() {
    std::vector<std::string> names;
    for (const auto& [name, make] : makers())
        names.push_back(name);
    return names;
}

std::unique_ptr<Scenario> make_scenario(const std::string& name) {
    const auto found = makers().find(name);
    return found == makers().end() ? nullptr : found->second();
}

}  // namespace ringmain::explore
