// Every choice that makes one execution differ from another: taken in all combinations, at random, or as a word says.
//
// An execution is a function of the choices taken in it, in order. The first alternative is always the plain one (go
// on, read the newest, stay alive), so an execution is named by the few choices that are not: "12.1-40.2" is
// alternative 1 at the 12th choice and alternative 2 at the 40th; "0" is the execution of plain choices alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringmain::explore {

enum class ChoiceKind : std::uint8_t {
    next,     // which thread goes on when one has ended
    preempt,  // whether another thread goes on now
    stale,    // which of the values that the memory model allows
    death,    // whether the thread dies here, or stops
    scenario,
};
inline constexpr std::size_t kChoiceKinds = 5;

class Choices {
public:
    /// Takes all combinations, in depth-first order, from the first one on.
    void enumerate() noexcept;
    /// Draws each choice; `bounds[kind]` is how many of that kind are wanted in an execution.
    void draw(std::uint64_t seed, const std::array<unsigned, kChoiceKinds>& bounds) noexcept;
    /// Takes the choices of `word`. False if it is none.
    [[nodiscard]] bool follow(std::string_view word);

    /// Back to the first choice of the same execution.
    void rewind() noexcept { position_ = 0; }
    /// On to the next execution. False: all combinations have been taken.
    [[nodiscard]] bool advance() noexcept;

    /// One of `count` alternatives.
    [[nodiscard]] unsigned pick(unsigned count, ChoiceKind kind) {
        if (count <= 1)
            return 0;
        return position_ < taken_.size() ? again(count) : choose(count, kind);
    }

    /// The word of the execution up to here.
    [[nodiscard]] std::string word() const;
    /// A word was followed that does not fit the execution.
    [[nodiscard]] bool misfit() const noexcept { return misfit_; }

private:
    enum class Mode : std::uint8_t { enumerate, draw, follow };
    struct Taken {
        std::uint16_t alternative;
        std::uint16_t count;
    };
    struct Wanted {
        std::size_t position;
        unsigned alternative;
    };

    unsigned again(unsigned count) noexcept;
    unsigned choose(unsigned count, ChoiceKind kind);
    [[nodiscard]] unsigned drawn(unsigned count, ChoiceKind kind) noexcept;
    [[nodiscard]] unsigned wanted(unsigned count) noexcept;
    std::uint64_t random() noexcept;

    Mode mode_ = Mode::enumerate;
    std::vector<Taken> taken_;
    std::size_t position_ = 0;
    std::vector<Wanted> wanted_;
    std::size_t wanted_next_ = 0;
    bool misfit_ = false;

    std::uint64_t random_ = 0;
    std::array<unsigned, kChoiceKinds> bounds_{};
    std::array<std::uint64_t, kChoiceKinds> met_{};  // choices of each kind in the first execution
    bool first_ = true;
};

}  // namespace ringmain::explore
