// Names of what a keeper tells.
#include "keeper_events.hpp"

namespace ringmain {

std::string_view to_string(KeeperEventKind kind) noexcept {
    switch (kind) {
        case KeeperEventKind::topic_found: return "topic_found";
        case KeeperEventKind::topic_gone: return "topic_gone";
        case KeeperEventKind::topic_unreadable: return "topic_unreadable";
        case KeeperEventKind::topic_recovered: return "topic_recovered";
        case KeeperEventKind::partition_unreadable: return "partition_unreadable";
        case KeeperEventKind::partition_recovered: return "partition_recovered";
        case KeeperEventKind::file_missing: return "file_missing";
        case KeeperEventKind::file_replaced: return "file_replaced";
        case KeeperEventKind::producer_reaped: return "producer_reaped";
        case KeeperEventKind::gate_reaped: return "gate_reaped";
        case KeeperEventKind::extents_sealed: return "extents_sealed";
        case KeeperEventKind::tickets_closed: return "tickets_closed";
        case KeeperEventKind::cells_released: return "cells_released";
        case KeeperEventKind::records_expired: return "records_expired";
        case KeeperEventKind::retention_held: return "retention_held";
        case KeeperEventKind::member_evicted: return "member_evicted";
        case KeeperEventKind::group_let_go: return "group_let_go";
        case KeeperEventKind::worker_reaped: return "worker_reaped";
        case KeeperEventKind::queue_lost: return "queue_lost";
        case KeeperEventKind::letters_refused: return "letters_refused";
        case KeeperEventKind::leftovers_swept: return "leftovers_swept";
        case KeeperEventKind::keeping_stopped: return "keeping_stopped";
        case KeeperEventKind::keeping_resumed: return "keeping_resumed";
    }
    return "unknown";
}

}  // namespace ringmain
