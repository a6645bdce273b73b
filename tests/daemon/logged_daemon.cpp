// A daemon whose configuration a test changes, and whose log it reads.
#include "logged_daemon.hpp"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace ringmain::test {

LoggedDaemon::LoggedDaemon(const std::string& configuration,
                           std::vector<std::pair<std::string, std::string>> environment, bool waits)
    : environment_(std::move(environment)) {
    write(configuration);
    start(waits);
}

void LoggedDaemon::write(const std::string& configuration) const {
    std::ofstream(file()) << configuration << std::flush;
}

void LoggedDaemon::start(bool waits) {
    const std::vector<std::string> arguments{"-d",  broker().string(), "--config", file().string(), "--log-format",
                                             "json"};
    child_.emplace(test::start(RINGMAIN_DAEMON_PATH, arguments, {.output = output_, .environment = environment_}));
    if (waits && !next("started"))
        throw std::runtime_error("the daemon does not start: " + text());
}

int LoggedDaemon::end(int signal) {
    if (!child_)
        return -1;
    child_->signal(signal);
    const int code = child_->wait();
    child_.reset();
    return code;
}

std::vector<std::string> LoggedDaemon::whole_lines() const {
    std::vector<std::string> lines;
    std::istringstream stream(text());
    for (std::string line; std::getline(stream, line) && !stream.eof();)
        lines.push_back(line);
    return lines;
}

std::vector<nlohmann::json> LoggedDaemon::lines(const std::string& event) const {
    std::vector<nlohmann::json> found;
    for (const std::string& line : whole_lines()) {
        const auto object = nlohmann::json::parse(line, nullptr, false);
        if (object.is_object() && object.value("event", "") == event)
            found.push_back(object);
    }
    return found;
}

std::optional<nlohmann::json> LoggedDaemon::next(const std::string& event) {
    std::optional<nlohmann::json> found;
    (void)eventually([&] {
        const std::vector<std::string> lines = whole_lines();
        for (; seen_ < lines.size() && !found; ++seen_) {
            const auto object = nlohmann::json::parse(lines[seen_], nullptr, false);
            if (object.is_object() && object.value("event", "") == event)
                found = object;
        }
        return found.has_value();
    });
    return found;
}

std::string LoggedDaemon::message_of_next(const std::string& event) {
    const auto line = next(event);
    return line ? line->value("message", "") : "nothing was said: " + text();
}

std::string LoggedDaemon::reload(const std::string& configuration) {
    write(configuration);
    forget();
    process().signal(SIGHUP);
    std::string message;
    (void)eventually([&] {
        const std::vector<std::string> all = whole_lines();
        for (std::size_t i = seen_; i < all.size(); ++i) {
            const auto object = nlohmann::json::parse(all[i], nullptr, false);
            const std::string event = object.is_object() ? object.value("event", "") : "";
            if (event == "reloaded" || event == "reload_refused")
                message = object.value("message", "");
        }
        return !message.empty();
    });
    return message;
}

}  // namespace ringmain::test
