// A producer as a thread: attaches, publishes in every way there is, detaches or dies anywhere, and comes back.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "concurrency/history.hpp"
#include "concurrency/lives.hpp"
#include "concurrency/mortal_memory.hpp"
#include "concurrency/seed.hpp"
#include "concurrency/stamped_record.hpp"
#include "partition_log/exclusive_publisher.hpp"
#include "partition_log/publisher.hpp"
#include "recovery/attachment.hpp"

namespace ringmain::test {

/// What a producer does, in per cent of its steps; the rest are single records.
struct Habits {
    unsigned batches = 20;
    unsigned loans = 10;
    unsigned detaches = 2;
    unsigned deaths = 2;     // of whatever it does then, at a random failure point
    unsigned large = 20;     // of its records do not fit a cell
    bool exclusive = false;  // takes the lease instead of sharing
};

class Publishing {
public:
    using M = MortalMemory;
    using Log = partition_log::LogMemory<M>;

    Publishing(const Log& log, Lives& lives, std::uint32_t actor, const Habits& habits, std::uint64_t seed)
        : log_(log),
          lives_(&lives),
          is_dead_(lives.is_dead()),
          actor_(actor),
          habits_(habits),
          random_(derive_seed(seed, actor)) {
        for (std::size_t i = 0; i < kBatch; ++i)
            records_.emplace_back(log.record_bytes_max());
        Fate::mine().hold_up(derive_seed(seed, actor + 1000), kStops);
    }

    /// Publishes records 0 to count - 1; those it dies with may be missing.
    void run(std::uint64_t count) {
        while (next_ < count) {
            if (!attached_ && !attach()) {
                std::this_thread::yield();
                continue;
            }
            step(count - next_);
        }
        detach();
    }

    [[nodiscard]] ProducerHistory take_history() noexcept { return std::move(history_); }

private:
    static constexpr std::size_t kBatch = 12;
    static constexpr std::uint32_t kStops = 64;
    static constexpr std::uint32_t kPointsMax = 24;

    [[nodiscard]] bool happens(unsigned per_cent) { return random_() % 100 < per_cent; }

    /// Runs `work`, or a part of it if the producer is to die now.
    template <class Work>
    bool survives(Work&& work) {
        const std::uint32_t points =
            happens(habits_.deaths) ? static_cast<std::uint32_t>(1 + random_() % kPointsMax) : 0;
        if (Fate::mine().survives(points, work))
            return true;
        lives_->end(owner_);
        forget();
        ++history_.deaths;
        return false;
    }

    void forget() noexcept {
        shared_.reset();
        exclusive_.reset();
        attached_ = false;
    }

    bool attach() {
        owner_ = lives_->begin(actor_);
        recovery::Attached got;
        const bool alive = survives([&] {
            recovery::Attachment<M, Lives::IsDead> attachment(log_, owner_, is_dead_);
            got = habits_.exclusive ? attachment.attach_exclusive() : attachment.attach_shared();
        });
        if (!alive || got.outcome != recovery::AttachOutcome::attached)
            return false;
        slot_ = got.slot;
        if (habits_.exclusive) {
            exclusive_.emplace(log_, got.slot, got.generation);
        } else {
            shared_.emplace(log_, got.slot, got.generation);
        }
        return attached_ = true;
    }

    void detach() {
        if (!attached_)
            return;
        const bool alive = survives([&] {
            bodies().seal();
            recovery::Attachment<M, Lives::IsDead> attachment(log_, owner_, is_dead_);
            if (habits_.exclusive)
                attachment.give_back_lease();
            attachment.detach(slot_);
        });
        if (alive)
            forget();
    }

    void step(std::uint64_t most) {
        if (happens(habits_.detaches))
            return detach();
        if (happens(habits_.batches))
            return publish_batch(std::min<std::uint64_t>(most, 1 + random_() % kBatch));
        if (happens(habits_.loans))
            return publish_loan();
        publish_one();
    }

    partition_log::RecordParts make(std::size_t index, std::uint64_t sequence) {
        std::size_t bytes = StampedRecord::kBytesMin + random_() % (log_.inline_bytes - StampedRecord::kBytesMin + 1);
        if (log_.extent_count != 0 && happens(habits_.large)) {
            bytes = StampedRecord::kBytesMin +
                    random_() % (log_.record_bytes_max() / (happens(90) ? 8 : 1) - StampedRecord::kBytesMin);
        }
        return records_[index].make({actor_, sequence}, bytes);
    }

    void publish_one() {
        const auto parts = make(0, next_);
        finish([&] { return shared_ ? shared_->publish(parts) : exclusive_->publish(parts); });
    }

    /// The body lies in the extent before any ticket is taken; small records go out in between.
    void publish_loan() {
        const auto parts = make(0, next_);
        partition_log::Reserved reserved{Status::would_block};
        if (!survives([&] { reserved = bodies().reserve(parts.length()); }))
            return;
        if (reserved.status != Status::ok)
            return check(reserved.status);
        bodies().pin();
        partition_log::write_body<M>(log_.payload + reserved.location, parts);
        finish([&] {
            return shared_ ? shared_->publish_placed(parts, reserved.location)
                           : exclusive_->publish_placed(parts, reserved.location);
        });
        if (attached_)
            bodies().unpin();
    }

    /// One record: repeated while a gate holds the log.
    template <class Publish>
    void finish(const Publish& publish) {
        partition_log::Published published{Status::would_block, 0};
        while (published.status == Status::would_block) {
            const bool alive = survives([&] { published = publish(); });
            if (!alive) {
                ++next_;  // it may be in the log or not
                return;
            }
            if (published.status == Status::would_block)
                std::this_thread::yield();
        }
        if (published.status == Status::ok) {
            history_.records.push_back({{actor_, next_++}, published.offset});
        } else {
            check(published.status);
        }
    }

    void publish_batch(std::uint64_t count) {
        std::array<partition_log::RecordParts, kBatch> parts;
        std::array<std::uint64_t, kBatch> offsets{};
        for (std::uint64_t i = 0; i < count; ++i)
            parts[i] = make(i, next_ + i);
        std::size_t done = 0;
        Status status = Status::ok;
        while (done < count) {
            std::size_t more = 0;
            const bool alive = survives([&] {
                const auto rest = std::span(parts).subspan(done, count - done);
                const auto places = std::span(offsets).subspan(done);
                if (shared_) {
                    const auto result = shared_->publish_batch(rest, places);
                    status = result.status;
                    more = result.count;
                } else {
                    const auto result = exclusive_->publish_batch(rest, places);
                    status = result.status;
                    more = result.count;
                }
            });
            if (!alive) {
                next_ += count - done;  // any prefix of them may be in the log
                return;
            }
            for (std::size_t i = 0; i < more; ++i)
                history_.records.push_back({{actor_, next_++}, offsets[done + i]});
            done += more;
            check(status);
            if (status != Status::ok)
                std::this_thread::yield();
            if (status == Status::exhausted)
                return;
        }
    }

    /// A quarantined ring answers exhausted until the keeper was there; everything else is a fault.
    void check(Status status) {
        if (status == Status::ok || status == Status::would_block || status == Status::exhausted)
            return;
        history_.faults.push_back("publish answers " + std::to_string(static_cast<int>(status)));
        ++next_;
    }

    [[nodiscard]] partition_log::BodyWriter<M>& bodies() noexcept {
        return shared_ ? shared_->bodies() : exclusive_->bodies();
    }

    Log log_;
    Lives* lives_;
    Lives::IsDead is_dead_;
    std::uint32_t actor_;
    Habits habits_;
    std::mt19937_64 random_;
    std::vector<StampedRecord> records_;
    std::uint64_t owner_ = 0;
    std::uint32_t slot_ = 0;
    bool attached_ = false;
    std::optional<partition_log::SharedPublisher<M>> shared_;
    std::optional<partition_log::ExclusivePublisher<M>> exclusive_;
    std::uint64_t next_ = 0;
    ProducerHistory history_;
};

}  // namespace ringmain::test
