// Retention of one partition: which records a keeper deletes, and when it has to look again.
//
// Each limit names a place in the log before which records may go; the furthest counts. The log start moves there as far as
// gates let it. All that matters is in the partition, so a keeper may stop or die anywhere: the next one, or this one when it
// wakes up, goes on from what is there. Running it twice at the same moment deletes nothing the second time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "partition_log/control_check.hpp"
#include "partition_log/log_start.hpp"
#include "retention/by_age.hpp"
#include "retention/by_bytes.hpp"
#include "ringmain/topic_options.hpp"

namespace ringmain::retention {

/// What a step did.
struct Expired {
    std::uint64_t from = 0;  ///< The log start before and after.
    std::uint64_t to = 0;
    std::uint64_t target = 0;  ///< Where it would be without gates.
    partition_log::StartMoved stopped_by;

    [[nodiscard]] std::uint64_t count() const noexcept { return to - from; }
    [[nodiscard]] bool held() const noexcept { return to < target; }
};

/// A partition with limits in which nothing happens is looked at this often: so late is the first record after a pause seen.
inline constexpr std::uint64_t kIdleLookNs = 400'000'000;
/// How often a gate that holds records is looked at.
inline constexpr std::uint64_t kHeldLookNs = 100'000'000;

/// The keeper's view of one partition. Private memory; one thread at a time.
template <class M>
class PartitionRetention {
public:
    explicit PartitionRetention(const partition_log::LogMemory<M>& log) noexcept
        : log_(log), by_age_(log.marks->ages), by_bytes_(log) {}

    /// Deletes what the limits do not keep. Looks at `cells` cells at most, and at none without a limit in bytes. `read_limits`
    /// says what they are: asked again after the log was looked at, so that a keeper that slept in between deletes nothing of
    /// what was appended meanwhile by a limit that was lifted.
    template <class ReadLimits>
    Expired step(const ReadLimits& read_limits, const Moment& now, std::uint64_t cells) {
        due_ns_ = kNever;
        unfinished_ = false;
        if (!limited(read_limits())) return forget();
        const partition_log::ControlCheck check = partition_log::check_control(log_);
        M::point("retention.looked");
        const Retention limits = read_limits();
        if (!limited(limits)) return forget();
        if (!check.sound()) return {};  // nothing is moved by what cannot be
        // who was stopped between its looks at the two words has a start of long ago: no log was ever longer than this
        const Span span{check.start, std::min(check.end, check.start + log_.records + log_.slack)};
        Expired done{span.start, span.start, target_of(limits, span, now, cells), {}};
        if (done.target > span.start) {
            done.stopped_by = partition_log::delete_before(log_, done.target);
            done.to = std::max(done.stopped_by.start, span.start);
        }
        plan(limits, done, now);
        return done;
    }

    /// When the next step has something to do that nothing appended announces: on the clock of the last step. kNever if there
    /// are no limits.
    [[nodiscard]] std::uint64_t due_ns() const noexcept { return due_ns_; }
    /// Work again at once: what is retained is being counted over several steps.
    [[nodiscard]] bool unfinished() const noexcept { return unfinished_; }

private:
    [[nodiscard]] static bool limited(const Retention& limits) noexcept {
        return limits.age.count() != 0 || limits.records != 0 || limits.bytes != 0;
    }
    [[nodiscard]] static std::uint64_t ns_of(const Retention& limits) noexcept {
        constexpr std::uint64_t kNsPerMs = 1'000'000;
        return static_cast<std::uint64_t>(limits.age.count()) * kNsPerMs;
    }

    Expired forget() noexcept {
        by_age_.forget();
        by_bytes_.forget();
        return {};
    }

    std::uint64_t target_of(const Retention& limits, const Span& span, const Moment& now, std::uint64_t cells) {
        std::uint64_t target = span.start;
        if (limits.age.count() != 0) {
            target = std::max(target, by_age_.step(ns_of(limits), span, now));
        } else {
            by_age_.forget();
        }
        if (limits.bytes != 0) {
            target = std::max(target, by_bytes_.step(limits.bytes, span, now, cells));
        } else {
            by_bytes_.forget();
        }
        if (limits.records != 0 && span.end - span.start > limits.records) target = std::max(target, span.end - limits.records);
        return std::min(target, span.end);  // somebody may have scribbled over log_end since a mark was set
    }

    void plan(const Retention& limits, const Expired& done, const Moment& now) noexcept {
        unfinished_ = by_bytes_.unfinished();
        due_ns_ = now.now_ns + kIdleLookNs;
        if (done.held()) {
            due_ns_ = now.now_ns + kHeldLookNs;
        } else if (limits.age.count() != 0) {
            due_ns_ = std::min(due_ns_, std::max(by_age_.due_ns(ns_of(limits), done.to), now.now_ns));
        }
    }

    partition_log::LogMemory<M> log_;
    ByAge<M> by_age_;
    ByBytes<M> by_bytes_;
    std::uint64_t due_ns_ = kNever;
    bool unfinished_ = false;
};

}  // namespace ringmain::retention
