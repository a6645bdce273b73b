// `ringmain topic delete`.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "context.hpp"
#include "errors.hpp"
#include "group_report.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "ringmain/dead_letters.hpp"
#include "signals.hpp"
#include "topic_commands.hpp"

namespace ringmain::cli {

namespace {

struct DeleteArguments {
    std::string name;
    bool force = false;
};

std::string senders_to_text(const std::vector<LetterSender>& senders) {
    std::vector<std::string> names;
    for (const LetterSender& sender : senders)
        names.push_back(fmt::format("{} '{}' of topic '{}'", sender.queue ? "queue" : "group", printable(sender.group), sender.topic));
    return fmt::format("{}", fmt::join(names, ", "));
}

/// What would be lost with the topic, for people; empty: nothing that is known. A topic that cannot be read can be deleted.
std::string loss_of(const Broker& broker, const std::string& topic) {
    DeadLetters letters(broker);
    try {
        if (letters.topics_of(topic) != std::vector{topic})
            return {};  // it is none that letters go to
        const std::vector<LetterSender> senders = letters.senders(topic);
        const std::uint64_t count = letters.count(topic);
        std::string text;
        if (count != 0)
            text = fmt::format("holds {} that {} neither replayed nor purged (see 'ringmain dlq list {}')", counted(count, "dead letter"),
                               count == 1 ? "was" : "were", topic);
        if (!senders.empty())
            text.append(fmt::format("{}is where the dead letters of {} go, which would stop at {} next one", text.empty() ? "" : ", and ",
                                    senders_to_text(senders), senders.size() == 1 ? "its" : "their"));
        return text;
    } catch (const Error& error) {
        if (error.code() == ErrorCode::forked || error.code() == ErrorCode::io)
            throw;
        return {};  // deleting says what is to be said
    }
}

void run(const CLI::App& app, const DeleteArguments& arguments) {
    hold_stop_signals();  // once begun, a deletion is finished
    Broker broker = open_broker(app);
    if (!arguments.force) {
        if (const std::string loss = loss_of(broker, arguments.name); !loss.empty())
            throw CommandError(fmt::format("topic '{}' {}; --force deletes it all the same", arguments.name, loss));
    }
    broker.delete_topic(arguments.name);
    print(fmt::format("deleted topic {}\n", arguments.name));
}

}  // namespace

void add_topic_delete(CLI::App& topic) {
    CLI::App* remove = topic.add_subcommand("delete", "Delete a topic and its records, without asking");
    const auto arguments = std::make_shared<DeleteArguments>();
    remove->add_option("NAME", arguments->name, "The topic")->required();
    remove->add_flag("--force", arguments->force, "Also if dead letters are in it, or are to go there");
    remove->footer("Examples:\n  ringmain topic delete trades\n  ringmain topic delete trades.dlq --force");
    remove->callback([remove, arguments] { run(*remove, *arguments); });
}

}  // namespace ringmain::cli
