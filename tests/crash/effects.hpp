// Advances a victim from one effect to the next: from one thing that others can see to the next.
//
// Why a kill after each effect is a kill at each instruction. What a process leaves when it is killed is
//   1. the bytes of the memory that it shares,
//   2. the file system: names, sizes, modes, owners, bytes,
//   3. what others were told: sleepers woken, bytes in sockets and pipes, signals.
// Its registers, its private memory, its mappings, its descriptors and with these its locks end with it, wherever it
// was. Only a store into shared memory changes 1, only a system call 2 and 3. So two places with no such store and no
// such call between them leave the same world, byte for byte, and whoever comes afterwards cannot tell them apart: one
// kill is a kill at both.
//
// Why a stop after each access is a stop at each instruction. What a victim does when it wakes up depends on its
// registers and on what it loads from shared memory or hears from the kernel from then on. Between two accesses it does
// neither, so that it makes no difference where it slept; and until it wakes up, it has left what a killed one has
// left.
//
// How: shared memory is mapped without the right to write it (or to read it), so that each access stops the victim; the
// page is opened for that one instruction (one iteration, if it repeats). A store of what was there already is no
// effect. Not covered is the inside of a system call, which is not the victim's to stop at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crash/victim.hpp"

namespace ringmain::crash {

/// Why victims cannot be stopped at their effects here, if they cannot.
[[nodiscard]] std::optional<std::string> effects_refused();

class Effects {
public:
    enum class Points : std::uint8_t {
        effects,   ///< Just after each store and each system call that leaves something behind.
        accesses,  ///< Just after each load, store and system call.
    };

    /// Of a victim that has not made a step. Files that it maps from now on are watched; so is `inherited`, whole pages
    /// that it shares with its parent. Throws std::runtime_error if ptrace fails.
    explicit Effects(Victim& victim, Points points = Points::effects, std::span<std::byte> inherited = {});

    /// Goes on to where the victim raises SIGTRAP: what it does until then is not counted. False if it ended.
    bool go_to_mark();
    /// Up to `count` points further. Returns how many there were before the victim was done, or ended otherwise.
    std::uint64_t advance(std::uint64_t count);
    /// Lets the victim go on to the end of its operation, unwatched. False if it ended otherwise.
    bool resume();

    /// Where the points so far were, in order: two runs are of the same operation if one is the beginning of the other.
    [[nodiscard]] const std::vector<std::uint64_t>& trace() const noexcept { return trace_; }

private:
    enum class Stop : std::uint8_t { call, access, mark, ended };
    struct Range {
        std::uint64_t begin;
        std::uint64_t end;
    };
    struct OpenPage {
        std::uint64_t at;
        std::vector<std::byte> before;
    };

    Stop run_to_stop();
    /// Runs over one system call or access. Says whether it counts; nothing if the victim is at a mark or at its end.
    std::optional<bool> pass_one();
    bool pass_call();
    std::optional<bool> pass_access();
    bool open_page(std::uint64_t address, std::vector<OpenPage>& opened);
    bool close_pages(const std::vector<OpenPage>& opened);
    [[nodiscard]] bool is_watched(std::uint64_t address) const noexcept;
    void protect(std::uint64_t at, std::uint64_t bytes, int rights);

    Victim& victim_;
    Points points_;
    int closed_;  // the rights of a page that is not open
    std::vector<Range> ranges_;
    std::vector<std::uint64_t> trace_;
    bool at_mark_ = false;
};

}  // namespace ringmain::crash
