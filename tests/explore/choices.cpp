// Every choice of an execution: depth-first, at random, or as a word says.
#include "explore/choices.hpp"

#include <algorithm>
#include <charconv>

namespace ringmain::explore {

void Choices::enumerate() noexcept { *this = {}; }

void Choices::draw(std::uint64_t seed, const std::array<unsigned, kChoiceKinds>& bounds) noexcept {
    mode_ = Mode::draw;
    random_ = seed;
    bounds_ = bounds;
    taken_.clear();
    position_ = 0;
}

bool Choices::follow(std::string_view word) {
    mode_ = Mode::follow;
    taken_.clear();
    wanted_.clear();
    position_ = wanted_next_ = 0;
    misfit_ = false;
    if (word == "0")
        return true;
    const char* at = word.data();
    const char* const end = at + word.size();
    for (;;) {
        Wanted one{};
        const auto position = std::from_chars(at, end, one.position);
        if (position.ec != std::errc{} || position.ptr == end || *position.ptr != '.')
            return false;
        const auto alternative = std::from_chars(position.ptr + 1, end, one.alternative);
        if (alternative.ec != std::errc{} || (!wanted_.empty() && wanted_.back().position >= one.position))
            return false;
        wanted_.push_back(one);
        if (alternative.ptr == end)
            return true;
        if (*alternative.ptr != '-')
            return false;
        at = alternative.ptr + 1;
    }
}

bool Choices::advance() noexcept {
    position_ = 0;
    first_ = false;
    if (mode_ == Mode::draw) {
        taken_.clear();
        return true;
    }
    while (!taken_.empty()) {
        if (++taken_.back().alternative < taken_.back().count)
            return true;
        taken_.pop_back();
    }
    return false;
}

std::string Choices::word() const {
    std::string word;
    for (std::size_t i = 0; i < position_; ++i) {
        if (taken_[i].alternative == 0)
            continue;
        if (!word.empty())
            word += '-';
        word += std::to_string(i) + '.' + std::to_string(taken_[i].alternative);
    }
    return word.empty() ? "0" : word;
}

unsigned Choices::again(unsigned count) noexcept {
    const Taken& taken = taken_[position_++];
    misfit_ = misfit_ || taken.count != count;
    return taken.alternative;
}

unsigned Choices::choose(unsigned count, ChoiceKind kind) {
    if (first_)
        ++met_[static_cast<std::size_t>(kind)];
    unsigned alternative = 0;
    if (mode_ == Mode::draw)
        alternative = drawn(count, kind);
    if (mode_ == Mode::follow)
        alternative = wanted(count);
    taken_.push_back({static_cast<std::uint16_t>(alternative), static_cast<std::uint16_t>(count)});
    ++position_;
    return alternative;
}

// The bounds are small and the choices many: each is drawn so rarely that the few that are not plain fall anywhere; but
// half of them are plain at least.
unsigned Choices::drawn(unsigned count, ChoiceKind kind) noexcept {
    if (kind == ChoiceKind::next || kind == ChoiceKind::scenario)
        return static_cast<unsigned>(random() % count);
    const auto index = static_cast<std::size_t>(kind);
    const std::uint64_t bound = bounds_[index];
    if (random() % std::max(met_[index] + 1, 2 * bound) >= bound)
        return 0;
    return 1 + static_cast<unsigned>(random() % (count - 1));
}

unsigned Choices::wanted(unsigned count) noexcept {
    if (wanted_next_ == wanted_.size() || wanted_[wanted_next_].position != position_)
        return 0;
    const unsigned alternative = wanted_[wanted_next_++].alternative;
    if (alternative < count)
        return alternative;
    misfit_ = true;
    return 0;
}

std::uint64_t Choices::random() noexcept {
    std::uint64_t z = random_ += 0x9e3779b97f4a7c15U;  // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

}  // namespace ringmain::explore
