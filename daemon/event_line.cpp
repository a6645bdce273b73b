// What the keeper did, as a line of the log.
#include "event_line.hpp"

#include <fmt/core.h>

namespace ringmain::daemon {

namespace {

std::string place_of(const KeeperEvent& event) {
    if (event.topic.empty())
        return "the broker directory";
    if (!event.partition)
        return fmt::format("topic '{}'", event.topic);
    return fmt::format("topic '{}' partition {}", event.topic, *event.partition);
}

std::string counted(std::uint64_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string message_of(const KeeperEvent& event) {
    const std::string place = place_of(event);
    switch (event.kind) {
        case KeeperEventKind::topic_found:
            return place + " is looked after";
        case KeeperEventKind::topic_gone:
            return place + " was deleted";
        case KeeperEventKind::topic_unreadable:
            return fmt::format("{} is looked after by nobody: {}", place, event.subject);
        case KeeperEventKind::topic_recovered:
            return fmt::format("{} is looked after again", place);
        case KeeperEventKind::partition_unreadable:
            return fmt::format("{} is looked after by nobody: {}", place, event.subject);
        case KeeperEventKind::partition_recovered:
            return fmt::format("{} is looked after again", place);
        case KeeperEventKind::file_missing:
            return fmt::format("{}: '{}' was removed from under those who have it open", place, event.subject);
        case KeeperEventKind::file_replaced:
            return fmt::format("{}: '{}' is another file than the one that is open", place, event.subject);
        case KeeperEventKind::producer_reaped:
            return fmt::format("{}: the dead producer {} was reaped", place, event.subject);
        case KeeperEventKind::gate_reaped:
            return fmt::format("{}: the gate {} of a dead consumer was ended", place, event.subject);
        case KeeperEventKind::extents_sealed:
            return fmt::format("{}: {} of the dead producer {} sealed", place, counted(event.count, "extent"),
                               event.subject);
        case KeeperEventKind::tickets_closed:
            return fmt::format("{}: {} that nobody committed closed", place, counted(event.count, "ticket"));
        case KeeperEventKind::cells_released:
            return fmt::format("{}: {} released from quarantine", place, counted(event.count, "cell"));
        case KeeperEventKind::records_expired:
            return fmt::format("{}: retention deleted the records from {} to {}, {} offsets", place, event.from,
                               event.to, event.to - event.from);
        case KeeperEventKind::retention_held:
            return fmt::format("{}: retention would delete up to {}, but {} holds the log start at {}", place, event.to,
                               event.subject, event.from);
        case KeeperEventKind::member_evicted:
            return fmt::format("{}: {} of group '{}' evicted", place, counted(event.count, "member"), event.subject);
        case KeeperEventKind::group_let_go:
            return fmt::format("{}: group '{}' was let go; it holds nothing there any more", place, event.subject);
        case KeeperEventKind::worker_reaped:
            return fmt::format("{}: the dead {} was reaped; {} that it held returned", place, event.subject, counted(event.count, "record"));
        case KeeperEventKind::queue_lost:
            return fmt::format("{}: retention took {} before queue '{}' had finished them", place, counted(event.count, "record"),
                               event.subject);
        case KeeperEventKind::letters_refused:
            return fmt::format("{}: the dead-letter topic of queue '{}' refused {}; the records wait for room there", place, event.subject,
                               counted(event.count, "letter"));
        case KeeperEventKind::leftovers_swept:
            return fmt::format("{}: {} of killed creations and deletions swept", place,
                               counted(event.count, "leftover"));
        case KeeperEventKind::keeping_stopped:
            return fmt::format("nothing is kept any more: {}", event.subject);
        case KeeperEventKind::keeping_resumed:
            return "everything is kept again";
    }
    return fmt::format("{}: {}", place, to_string(event.kind));
}

/// What is everyday work is for those who ask for it; what somebody has to look into is a warning or an error.
LogLevel level_of(KeeperEventKind kind) noexcept {
    switch (kind) {
        case KeeperEventKind::topic_found:
        case KeeperEventKind::topic_gone:  // whoever asked for it has a line of his own
        case KeeperEventKind::cells_released:
        case KeeperEventKind::records_expired:
            return LogLevel::debug;
        case KeeperEventKind::topic_recovered:
        case KeeperEventKind::partition_recovered:
        case KeeperEventKind::producer_reaped:
        case KeeperEventKind::gate_reaped:
        case KeeperEventKind::extents_sealed:
        case KeeperEventKind::tickets_closed:
        case KeeperEventKind::member_evicted:
        case KeeperEventKind::worker_reaped:
        case KeeperEventKind::leftovers_swept:
            return LogLevel::info;
        case KeeperEventKind::retention_held:
        case KeeperEventKind::group_let_go:
        case KeeperEventKind::queue_lost:
        case KeeperEventKind::letters_refused:
        case KeeperEventKind::keeping_resumed:
            return LogLevel::warning;
        case KeeperEventKind::topic_unreadable:
        case KeeperEventKind::partition_unreadable:
        case KeeperEventKind::file_missing:
        case KeeperEventKind::file_replaced:
        case KeeperEventKind::keeping_stopped:
            break;
    }
    return LogLevel::error;
}

}  // namespace

LogLine line_of(const KeeperEvent& event) {
    LogLine line{.level = level_of(event.kind),
                 .event = to_string(event.kind),
                 .topic = event.topic,
                 .partition = event.partition,
                 .message = message_of(event)};
    if (!event.subject.empty())
        line.details.emplace_back("subject", event.subject);
    if (event.count != 0)
        line.details.emplace_back("count", event.count);
    if (event.kind == KeeperEventKind::records_expired || event.kind == KeeperEventKind::retention_held) {
        line.details.emplace_back("from", event.from);
        line.details.emplace_back("to", event.to);
    }
    return line;
}

}  // namespace ringmain::daemon
