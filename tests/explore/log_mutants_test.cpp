// The explorer finds what it is for: one order, fence or check of the log weakened, and a scenario is violated.
#include <fstream>
#include <iostream>

#include "explore/explorer.hpp"
#include "support/catch.hpp"

namespace {

using namespace ringmain::explore;

// The site on the one line of a source file that has `code` in it, or `below` it.
std::string site_of(const std::string& file, const std::string& code, Operation operation, int below = 0) {
    std::ifstream source(std::string(RINGMAIN_SOURCE_DIR) + "/src/" + file);
    std::string line;
    std::string site;
    for (int number = 1; std::getline(source, line); ++number) {
        if (line.find(code) == std::string::npos)
            continue;
        INFO(file << " has several lines with " << code);
        REQUIRE(site.empty());
        site = file + ':' + std::to_string(number + below) + ':' + name_of(operation);
    }
    INFO(file << " has no line with " << code);
    REQUIRE_FALSE(site.empty());
    return site;
}

void is_found(const char* scenario, const Mutation& mutation) {
    const Outcome outcome = explore(scenario, {20'000, 500'000}, mutation);
    INFO(scenario << " with " << mutation.text() << ", " << outcome.executions << " executions");
    CHECK(outcome.violated());
    if (!outcome.violated())
        return;
    std::cout << "explore " << scenario << " with " << mutation.text() << ": " << outcome.violation << ", after "
              << outcome.executions << " executions" << std::endl;
    CHECK(replay(outcome.replay).violation == outcome.violation);
}

}  // namespace

TEST_CASE("The explorer finds a commit that does not release") {
    is_found("log.publish_overwrite", {site_of("partition_log/tickets.hpp", "cell.word.compare_exchange_strong(from",
                                               Operation::compare_exchange),
                                       Weakening::relaxed});
}
TEST_CASE("The explorer finds a reader that does not acquire the cell's word") {
    is_found("log.publish_overwrite",
             {site_of("partition_log/reader.hpp", "const std::uint64_t word = cell.word.load", Operation::load),
              Weakening::relaxed});
}
TEST_CASE("The explorer finds a closing in two steps") {
    is_found("log.publish_dying",
             {site_of("partition_log/intents.hpp", "const bool closed = log.cell(offset).word.compare_exchange_strong",
                      Operation::compare_exchange),
              Weakening::split});
}
TEST_CASE("The explorer finds tickets that are given out twice") {
    is_found("log.publish_block",
             {site_of("partition_log/tickets.hpp", "log_end.fetch_add(count", Operation::fetch_add), Weakening::split});
}
TEST_CASE("The explorer finds a reader without the fence before it validates") {
    is_found("log.read_lapped",
             {site_of("partition_log/reader.hpp", "M::fence(std::memory_order_acquire)", Operation::fence),
              Weakening::relaxed});
}
TEST_CASE("The explorer finds a reader that does not validate") {
    is_found("log.read_lapped", {site_of("partition_log/reader.hpp",
                                         "log_start.load(std::memory_order_relaxed) <= offset", Operation::load),
                                 Weakening::skip});
}
TEST_CASE("The explorer finds a keeper that does not look at the ticket of a late writer") {
    is_found("log.late_release",
             {site_of("recovery/recovery.hpp", "const std::uint64_t ticket = entry.ticket.load", Operation::load),
              Weakening::skip});
}
TEST_CASE("The explorer finds a ticket that is taken before the entry says so") {
    is_found("log.late_release",
             {site_of("partition_log/tickets.hpp", "ticket.store(kTaking", Operation::store), Weakening::skip});
}
TEST_CASE("The explorer finds a batch's commit that does not look whether its ticket was closed") {
    is_found("log.publish_batch", {site_of("partition_log/tickets.hpp", "cell.word.compare_exchange_strong(from",
                                           Operation::compare_exchange),
                                   Weakening::split});
}
TEST_CASE("The explorer finds an exclusive commit that does not release") {
    is_found("log.exclusive_laps",
             {site_of("partition_log/exclusive_publisher.hpp",
                      "cell.word.store(cell_word(offset, CellState::committed)", Operation::store),
              Weakening::relaxed});
}
TEST_CASE("The explorer finds a successor that does not look beyond the log end") {
    is_found(
        "log.exclusive_succession",
        {site_of("recovery/recovery.hpp", "log_end.compare_exchange_strong(end, end + 1", Operation::compare_exchange),
         Weakening::skip});
}
TEST_CASE("The explorer finds producers that do not fence before they look for each other") {
    is_found("log.attach_both",
             {site_of("recovery/attachment.hpp", "// the lease before the look at the slots", Operation::fence, 1),
              Weakening::relaxed});
}
TEST_CASE("The explorer finds an extent that is written before the log start shows it") {
    is_found("log.extent_lapped",
             {site_of("partition_log/extents.hpp", "M::fence(std::memory_order_release)", Operation::fence),
              Weakening::relaxed});
}
TEST_CASE("The explorer finds an extent that two take") {
    is_found("log.extent_reuse", {site_of("partition_log/extents.hpp", "word.compare_exchange_strong(from, owned_word_",
                                          Operation::compare_exchange),
                                  Weakening::split});
}
TEST_CASE("The explorer finds that a sealed extent must be acquired before log_end is compared") {
    is_found("log.reap_extents",
             {site_of("partition_log/extents.hpp", "word.load(std::memory_order_acquire)", Operation::load),
              Weakening::relaxed});
}
TEST_CASE("The explorer finds a gate that does not fence before it looks at the floor") {
    is_found("gates.begin",
             {site_of("gate_table/gate_table.hpp", "M::fence(std::memory_order_seq_cst)", Operation::fence),
              Weakening::relaxed});
}
TEST_CASE("The explorer finds a mover that does not fence before its second look") {
    is_found("gates.begin",
             {site_of("partition_log/log_start.hpp", "M::fence(std::memory_order_seq_cst)", Operation::fence),
              Weakening::relaxed});
}
TEST_CASE("The explorer finds a gate of the dead that stays") {
    is_found("gates.of_the_dead", {site_of("gate_table/gate_table.hpp", "owner.compare_exchange_strong(dead_owner",
                                           Operation::compare_exchange),
                                   Weakening::skip});
}
