// The history checker of the stepped tests.
#include "crash/step_ledger.hpp"

#include <algorithm>
#include <cstring>

#include "partition_log/reader.hpp"
#include "partition_log/tickets.hpp"
#include "support/plain_log.hpp"

namespace ringmain::crash {

namespace {

constexpr std::size_t kPrefixBytes = 16;

std::uint64_t checksum(std::uint64_t id, std::string_view rest) noexcept {
    std::uint64_t hash = 1469598103934665603ULL ^ id;
    for (const char c : rest)
        hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return hash;
}

}  // namespace

std::string record_value(std::uint64_t id, std::size_t bytes) {
    std::string value(std::max(bytes, kPrefixBytes), '\0');
    for (std::size_t i = kPrefixBytes; i < value.size(); ++i)
        value[i] = static_cast<char>(id * 31 + (id >> 32) * 7 + i);
    const std::uint64_t sum = checksum(id, std::string_view(value).substr(kPrefixBytes));
    std::memcpy(value.data(), &id, sizeof id);
    std::memcpy(value.data() + sizeof id, &sum, sizeof sum);
    return value;
}

std::optional<std::uint64_t> id_of_value(std::string_view value) noexcept {
    if (value.size() < kPrefixBytes)
        return std::nullopt;
    std::uint64_t id = 0;
    std::uint64_t sum = 0;
    std::memcpy(&id, value.data(), sizeof id);
    std::memcpy(&sum, value.data() + sizeof id, sizeof sum);
    if (sum != checksum(id, value.substr(kPrefixBytes)) || id >> 32 >= 8)
        return std::nullopt;
    return id;
}

Faults& Faults::operator+=(const Faults& other) noexcept {
    lost += other.lost;
    torn += other.torn;
    duplicated += other.duplicated;
    out_of_order += other.out_of_order;
    stuck += other.stuck;
    return *this;
}

bool Ledger::saw(std::uint64_t id) const noexcept { return std::find(seen_.begin(), seen_.end(), id) != seen_.end(); }

void Ledger::note(std::uint64_t id) {
    std::uint32_t& last = last_sequence_[id >> 32];
    const auto sequence = static_cast<std::uint32_t>(id);
    if (saw(id)) {
        ++faults_.duplicated;
    } else if (sequence <= last) {
        ++faults_.out_of_order;
    } else {
        last = sequence;
    }
    seen_.push_back(id);
}

void Ledger::note_gap(std::uint64_t log_start) {
    if (log_start <= next_ || log_start - next_ > 1'000'000) {
        ++faults_.torn;  // lapped without a moved log start
        ++next_;
        seen_.push_back(kGap);
        return;
    }
    for (; next_ < log_start; ++next_)
        seen_.push_back(kGap);
}

// Nothing at the next offset. True: look again.
bool Ledger::hold_up(const Log& log, int& looks) {
    if (log.control->log_end.load(std::memory_order_acquire) <= next_)
        return false;
    if (++looks <= kPatienceLooks)
        return true;
    (void)partition_log::close_ticket(log, next_);
    looks = 0;
    return true;
}

void Ledger::read_on(const Log& log) {
    using partition_log::Found;
    int looks = 0;
    for (;;) {
        const test::ReadBack back = test::read_back(log, next_);
        if (back.found == Found::nothing) {
            if (!hold_up(log, looks))
                return;
            continue;
        }
        looks = 0;
        if (back.found == Found::lapped) {
            note_gap(log.control->log_start.load(std::memory_order_acquire));
            continue;
        }
        const auto id = back.found == Found::record ? id_of_value(back.value) : kSkipped;
        if (back.found == Found::corrupt || !id) {
            ++faults_.torn;
            seen_.push_back(kGap);
        } else if (*id == kSkipped) {
            seen_.push_back(kSkipped);
        } else {
            note(*id);
        }
        ++next_;
    }
}

void Ledger::read_again(const Log& log) {
    using partition_log::Found;
    const std::uint64_t start = log.control->log_start.load(std::memory_order_acquire);
    for (std::uint64_t offset = std::max(start, first_); offset < next_; ++offset) {
        const test::ReadBack back = test::read_back(log, offset);
        if (back.found == Found::lapped)
            continue;  // the log start went on
        const std::uint64_t before = seen_[offset - first_];
        if (before == kGap)
            continue;
        const bool same = before == kSkipped ? back.found == Found::skip
                                             : back.found == Found::record && id_of_value(back.value) == before;
        if (!same)
            ++faults_.torn;
    }
}

void Ledger::settle(bool gaps_allowed) {
    for (const auto& [id, offset] : expected_) {
        const std::uint64_t at = offset - first_;
        const bool there = at < seen_.size() && seen_[at] == id;
        const bool reported = gaps_allowed && at < seen_.size() && seen_[at] == kGap;
        if (!there && !reported)
            ++faults_.lost;
    }
}

}  // namespace ringmain::crash
