// Partitions over memory that lies: each call comes to its end, touches nothing but the memory it was given, and
// answers with one of its answers.
#include <memory>

#include "hostile/oracle_calls.hpp"
#include "hostile/oracle_run.hpp"

namespace ringmain::test {

namespace {

/// Both policies, and offsets that are small, beyond 32 bits and near the end.
PlainShape shape_of(std::uint64_t round) {
    constexpr std::uint64_t kFirst[] = {0, std::uint64_t{1} << 32, 1000, std::uint64_t{1} << 61};
    return {.records = 16,
            .extents = 8,
            .extent_bytes = 1024,
            .batch_records_max = 2,
            .first_offset = kFirst[round / 2 % std::size(kFirst)],
            .block = round % 2 != 0};
}

}  // namespace

TEST_CASE("No call on a partition can be made to loop or to touch foreign memory by what its memory answers") {
    call_under_all_moods("partitions", 40, [](std::uint64_t round) {
        return std::make_unique<OracleCalls>(shape_of(round), Oracle::random());
    });
}

}  // namespace ringmain::test
