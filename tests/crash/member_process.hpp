// A process that reads as a member of a group, at random, and notes what it does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "member_history.hpp"

namespace ringmain::test {

struct MemberJob {
    std::filesystem::path broker;
    std::uint32_t process = 0;  // its number in the history
    std::uint64_t seed = 0;
    bool gating = false;
    bool drain = false;  // leaves when everything is read and committed
};

/// Reads until it is told to leave; its exit code.
int be_member(MemberHistory& history, const MemberJob& job);

}  // namespace ringmain::test
