// The explorer finds what it is for: one order, fence or check of the log weakened, and a scenario is violated.
#include "explore/planted.hpp"
#include "support/catch.hpp"

using namespace ringmain::explore;

TEST_CASE("The explorer finds a commit that does not release") {
    CHECK_FALSE(
        found_in("log.publish_overwrite", planted("partition_log/tickets.hpp", "cell.word.compare_exchange_strong(from",
                                                  Operation::compare_exchange, Weakening::relaxed))
            .empty());
}
TEST_CASE("The explorer finds a reader that does not acquire the cell's word") {
    CHECK_FALSE(found_in("log.publish_overwrite",
                         planted("partition_log/reader.hpp", "const std::uint64_t word = cell.word.load",
                                 Operation::load, Weakening::relaxed))
                    .empty());
}
TEST_CASE("The explorer finds a closing in two steps") {
    CHECK_FALSE(
        found_in("log.publish_dying", planted("partition_log/intents.hpp",
                                              "const bool closed = log.cell(offset).word.compare_exchange_strong",
                                              Operation::compare_exchange, Weakening::split))
            .empty());
}
TEST_CASE("The explorer finds tickets that are given out twice") {
    CHECK_FALSE(found_in("log.publish_block", planted("partition_log/tickets.hpp", "log_end.fetch_add(count",
                                                      Operation::fetch_add, Weakening::split))
                    .empty());
}
TEST_CASE("The explorer finds a reader without the fence before it validates") {
    CHECK_FALSE(found_in("log.read_lapped", planted("partition_log/reader.hpp", "M::fence(std::memory_order_acquire)",
                                                    Operation::fence, Weakening::relaxed))
                    .empty());
}
TEST_CASE("The explorer finds a reader that does not validate") {
    CHECK_FALSE(found_in("log.read_lapped",
                         planted("partition_log/reader.hpp", "log_start.load(std::memory_order_relaxed) <= offset",
                                 Operation::load, Weakening::skip))
                    .empty());
}
TEST_CASE("The explorer finds a keeper that does not look at the ticket of a late writer") {
    CHECK_FALSE(
        found_in("log.late_release", planted("recovery/recovery.hpp", "const std::uint64_t ticket = entry.ticket.load",
                                             Operation::load, Weakening::skip))
            .empty());
}
TEST_CASE("The explorer finds a ticket that is taken before the entry says so") {
    CHECK_FALSE(found_in("log.late_release", planted("partition_log/tickets.hpp", "ticket.store(kTaking",
                                                     Operation::store, Weakening::skip))
                    .empty());
}
TEST_CASE("The explorer finds a batch's commit that does not look whether its ticket was closed") {
    CHECK_FALSE(
        found_in("log.publish_batch", planted("partition_log/tickets.hpp", "cell.word.compare_exchange_strong(from",
                                              Operation::compare_exchange, Weakening::split))
            .empty());
}
TEST_CASE("The explorer finds an exclusive commit that does not release") {
    CHECK_FALSE(found_in("log.exclusive_laps", planted("partition_log/exclusive_publisher.hpp",
                                                       "cell.word.store(cell_word(offset, CellState::committed)",
                                                       Operation::store, Weakening::relaxed))
                    .empty());
}
TEST_CASE("The explorer finds a successor that does not look beyond the log end") {
    CHECK_FALSE(found_in("log.exclusive_succession",
                         planted("recovery/recovery.hpp", "log_end.compare_exchange_strong(end, end + 1",
                                 Operation::compare_exchange, Weakening::skip))
                    .empty());
}
TEST_CASE("The explorer finds producers that do not fence before they look for each other") {
    CHECK_FALSE(
        found_in("log.attach_both", planted("recovery/attachment.hpp", "// the lease before the look at the slots",
                                            Operation::fence, Weakening::relaxed, 1))
            .empty());
}
TEST_CASE("The explorer finds an extent that is written before the log start shows it") {
    CHECK_FALSE(
        found_in("log.extent_lapped", planted("partition_log/extents.hpp", "M::fence(std::memory_order_release)",
                                              Operation::fence, Weakening::relaxed))
            .empty());
}
TEST_CASE("The explorer finds an extent that two take") {
    CHECK_FALSE(found_in("log.extent_reuse",
                         planted("partition_log/extents.hpp", "word.compare_exchange_strong(from, owned_word_",
                                 Operation::compare_exchange, Weakening::split))
                    .empty());
}
TEST_CASE("The explorer finds that a sealed extent must be acquired before log_end is compared") {
    CHECK_FALSE(
        found_in("log.reap_extents", planted("partition_log/extents.hpp", "word.load(std::memory_order_acquire)",
                                             Operation::load, Weakening::relaxed))
            .empty());
}
TEST_CASE("The explorer finds a gate that does not fence before it looks at the floor") {
    CHECK_FALSE(found_in("gates.begin", planted("gate_table/gate_table.hpp", "M::fence(std::memory_order_seq_cst)",
                                                Operation::fence, Weakening::relaxed))
                    .empty());
}
TEST_CASE("The explorer finds a mover that does not fence before its second look") {
    CHECK_FALSE(found_in("gates.begin", planted("partition_log/log_start.hpp", "M::fence(std::memory_order_seq_cst)",
                                                Operation::fence, Weakening::relaxed))
                    .empty());
}
TEST_CASE("The explorer finds a gate of the dead that stays") {
    CHECK_FALSE(
        found_in("gates.of_the_dead", planted("gate_table/gate_table.hpp", "owner.compare_exchange_strong(dead_owner",
                                              Operation::compare_exchange, Weakening::skip))
            .empty());
}
