// Comparing what was published, what is in the log and what each consumer read. Every comparison is exact.
#include "demo_checks.hpp"

#include <fmt/format.h>

#include "demo_text.hpp"

namespace ringmain::cli::demo {

namespace {

std::uint64_t load(const Counter& counter) noexcept { return counter.load(std::memory_order_relaxed); }

/// The killed producer may have died between its last commit and counting it: one record more may be in the log.
Check check_published(const Plan& plan, const Board& board) {
    const std::uint64_t counted = acknowledged(plan, board);
    const std::uint64_t read = load(board.live.read);
    return {"the live consumer read every record that was published", read == counted || read == counted + 1,
            fmt::format("read {}; acknowledged {}{}", grouped(read), grouped(counted),
                        read == counted + 1 ? " and one committed at the moment of the kill" : "")};
}

Check check_nothing_lost(const Board& board) {
    return {"the live consumer lost nothing", load(board.live.gap_offsets) == 0 && load(board.live.missing) == 0,
            fmt::format("gap offsets {}, missing sequence numbers {}", grouped(load(board.live.gap_offsets)),
                        grouped(load(board.live.missing)))};
}

Check check_offsets(const char* name, const ConsumerPanel& panel, const KeeperPanel& keeper) {
    const std::uint64_t sum = load(panel.read) + load(panel.gap_offsets) + load(panel.skipped_offsets);
    return {fmt::format("{} consumer: every offset of the log is accounted for", name), sum == load(keeper.log.log_end),
            fmt::format("read {} + gap {} + skipped {} = log end {}", grouped(load(panel.read)),
                        grouped(load(panel.gap_offsets)), grouped(load(panel.skipped_offsets)),
                        grouped(load(keeper.log.log_end)))};
}

Check check_late(const Board& board) {
    const std::uint64_t sum = load(board.late.read) + load(board.late.missing);
    return {"late consumer: replay and live add up to what was published",
            sum == load(board.live.read) && load(board.late.missing) <= load(board.late.gap_offsets),
            fmt::format("read {} + missing {} (all in reported gaps of {} offsets) = {}",
                        grouped(load(board.late.read)), grouped(load(board.late.missing)),
                        grouped(load(board.late.gap_offsets)), grouped(load(board.live.read)))};
}

Check check_order(const char* name, const ConsumerPanel& panel) {
    return {fmt::format("{} consumer: the order of every key is kept", name),
            load(panel.violations) == 0 && load(panel.foreign) == 0,
            fmt::format("{} keys, {} violations, {} records that nobody published", grouped(load(panel.keys)),
                        grouped(load(panel.violations)), grouped(load(panel.foreign)))};
}

Check check_summaries(const Board& board) {
    const bool equal = load(board.live.summary_digest) == load(board.late.summary_digest) &&
                       load(board.live.keys) == load(board.late.keys);
    return {"the summary rebuilt by replay equals the live one", equal,
            fmt::format("{} keys, digests {:016x} and {:016x}", grouped(load(board.live.keys)),
                        load(board.live.summary_digest), load(board.late.summary_digest))};
}

Check check_rows(const Plan& plan, const Board& board) {
    return {"every row of the file is in the log exactly once",
            load(board.live.read) == plan.csv.rows && load(board.live.keys) == plan.csv.keys,
            fmt::format("{} rows and {} keys in the file, {} records and {} keys read", grouped(plan.csv.rows),
                        grouped(plan.csv.keys), grouped(load(board.live.read)), grouped(load(board.live.keys)))};
}

Check check_healed(const KeeperPanel& keeper) {
    return {"what the killed producer held has come back", load(keeper.log.quarantined_cells) == 0,
            fmt::format("{} cells quarantined at the end", grouped(load(keeper.log.quarantined_cells)))};
}

Check check_damage(const KeeperPanel& keeper) {
    return {
        "the files are sound", load(keeper.damages) == 0,
        fmt::format("{} records verified, {} findings{}{}", grouped(load(keeper.verified_records)),
                    grouped(load(keeper.damages)), load(keeper.damages) == 0 ? "" : ", first: ", keeper.damage.data())};
}

}  // namespace

std::uint64_t acknowledged(const Plan& plan, const Board& board) noexcept {
    std::uint64_t sum = load(board.successor.published);
    for (std::uint32_t index = 0; index < plan.options.producers; ++index)
        sum += load(board.producers[index].published);
    return sum;
}

std::vector<Check> check_counts(const Plan& plan, const Board& board, const StageFacts& facts) {
    std::vector<Check> checks = {
        check_published(plan, board),
        check_nothing_lost(board),
        check_offsets("live", board.live, board.keeper),
        check_offsets("late", board.late, board.keeper),
        check_late(board),
        check_order("live", board.live),
        check_order("late", board.late),
    };
    // A summary without the records that were gone before the second consumer came cannot be equal.
    if (load(board.late.gap_offsets) == 0)
        checks.push_back(check_summaries(board));
    if (plan.from_csv() && !facts.stopped_early)
        checks.push_back(check_rows(plan, board));
    checks.push_back(check_healed(board.keeper));
    checks.push_back(check_damage(board.keeper));
    return checks;
}

}  // namespace ringmain::cli::demo
