// The option -d, read from the application that a subcommand belongs to.
#include "context.hpp"

#include <string>

#include "errors.hpp"

namespace ringmain::cli {

namespace {

constexpr const char* kDirectoryOption = "--directory";

const CLI::App& root_of(const CLI::App& app) {
    const CLI::App* root = &app;
    while (root->get_parent() != nullptr)
        root = root->get_parent();
    return *root;
}

}  // namespace

void add_directory_option(CLI::App& app) {
    app.add_option(std::string("-d,") + kDirectoryOption,
                   "Broker directory; otherwise $RINGMAIN_DIR, or /dev/shm/ringmain")
        ->type_name("DIR");
}

std::filesystem::path broker_directory(const CLI::App& app) {
    const CLI::Option* option = root_of(app).get_option(kDirectoryOption);
    if (option->count() == 0)
        return default_broker_directory();
    const std::string path = option->as<std::string>();
    if (path.empty())
        throw UsageError("-d: the path of the broker directory is empty");
    return path;
}

Broker open_broker(const CLI::App& app, Broker::Mode mode) { return Broker(broker_directory(app), mode); }

}  // namespace ringmain::cli
