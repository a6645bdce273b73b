// The work on one partition on plain memory: a log, a queue of its group, workers, dead letters, and a clock that tests turn.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "partition_log/publisher.hpp"
#include "support/plain_groups.hpp"
#include "support/plain_log.hpp"
#include "work_table/acquiring.hpp"
#include "work_table/reaping.hpp"
#include "work_table/retiring.hpp"
#include "work_table/settling.hpp"
#include "work_table/workers.hpp"

namespace ringmain::test {

/// What a record is, here: its name, and what it asks of the queue. Times are in ms of the test's clock.
struct WorkItem {
    std::uint64_t id = 0;
    std::uint32_t delay_ms = 0;
    std::uint32_t ttl_ms = 0;  // 0: for ever
};

/// What a dead letter is, here.
struct WorkLetter {
    std::uint64_t offset = 0;
    std::uint64_t id = 0;
    std::uint32_t deliveries = 0;
    std::uint32_t reason = 0;
    friend bool operator==(const WorkLetter&, const WorkLetter&) = default;
};

struct WorkShape {
    PlainShape log{.records = 16};
    PlainShape letters{.records = 64};
    std::uint64_t window = 16;
    std::uint32_t workers = 4;
    bool gating = false;
    std::uint64_t now = 1'000'000;
    work_table::WorkRules rules{.lock_ms = 1'000,
                                .backoff_first_ms = 100,
                                .backoff_max_ms = 800,
                                .backoff_jitter_permille = 0,
                                .delivery_limit = 3};
};

/// What all processes of a test share beside the queue. Tells the truth under every memory policy.
struct WorkBoard {
    std::atomic<std::uint64_t> now;
    std::atomic<std::uint32_t> refuses;  // the dead-letter topic does
    std::atomic<std::uint32_t> deleted;  // the dead-letter topic was
    std::atomic<std::uint32_t> damaged;  // it is
    std::atomic<std::uint32_t> done;     // of a victim
};

inline constexpr layout::GroupsGeometry kWorkGroups{1, 2, 1, 0};

[[nodiscard]] inline std::size_t plain_work_bytes(const WorkShape& shape) noexcept {
    return plain_bytes(shape.log) + plain_bytes(shape.letters) + layout::groups_file_bytes(kWorkGroups) +
           2 * layout::work_file_bytes(shape.window) + page_up(shape.workers * sizeof(layout::WorkerSlot<platform::HostMemory>)) +
           layout::kPageBytes;
}

/// Points into `base`, which has plain_work_bytes(shape) zeroed bytes. A value; copies refer to the same memory.
template <class M>
struct WorkView {
    using Host = platform::HostMemory;

    WorkView(std::byte* base, const WorkShape& what) noexcept : shape(what) {
        log_base_ = take(base, plain_bytes(shape.log));
        letters_base_ = take(base, plain_bytes(shape.letters));
        std::byte* const groups_base = take(base, layout::groups_file_bytes(kWorkGroups));
        for (std::byte*& file : files_) file = take(base, layout::work_file_bytes(shape.window));
        workers = {reinterpret_cast<layout::WorkerSlot<M>*>(take(base, page_up(shape.workers * sizeof(layout::WorkerSlot<M>)))), shape.workers};
        board = reinterpret_cast<WorkBoard*>(base);
        log = plain_view<M>(log_base_, shape.log);
        letters = plain_view<M>(letters_base_, shape.letters);
        groups = {groups_base, kWorkGroups};
        log.groups = {groups, 0, true};
        host_groups = {groups_base, kWorkGroups};
        host_log = plain_view<Host>(log_base_, shape.log);
        host_log.groups = {host_groups, 0, true};
        host_letters = plain_view<Host>(letters_base_, shape.letters);
    }

    /// Makes logs and queue of zeroed memory. Once.
    void format() {
        format_plain(host_log);
        format_plain(host_letters);
        occupy(host_log);
        occupy(host_letters);
        board->now.store(shape.now, std::memory_order_release);
        group_table::GroupCreation<Host> creation(host_groups, kClientA);
        const auto found = creation.find_or_create(
            "queue", {.gating = shape.gating, .kind = group_table::GroupKind::queue},
            [this](std::uint32_t) { return shape.log.first_offset; }, [](std::uint64_t) { return false; });
        group = found.group;
    }

    /// The words of the generation that is current, or of any.
    [[nodiscard]] work_table::WorkMemory<M> work() const noexcept { return work(generation()); }
    [[nodiscard]] work_table::WorkMemory<M> work(std::uint32_t of) const noexcept {
        return {files_[of % 2], geometry(of), groups, log};
    }
    /// The same, for who only looks.
    [[nodiscard]] work_table::WorkMemory<Host> truth() const noexcept {
        return {files_[generation() % 2], geometry(generation()), host_groups, host_log};
    }
    [[nodiscard]] std::uint32_t generation() const noexcept { return host_groups.word(group.slot, 0).generation; }

    [[nodiscard]] std::uint64_t now() const noexcept { return board->now.load(std::memory_order_acquire); }
    void pass(std::uint64_t ms) const noexcept { board->now.fetch_add(ms, std::memory_order_acq_rel); }

    /// Publishes with the given entry of the log's producers, now.
    std::uint64_t publish(const WorkItem& item, std::uint32_t slot = 0) const noexcept {
        partition_log::SharedPublisher<Host> publisher(host_log, slot, 1);
        const partition_log::Published published = publisher.publish(parts_of(item));
        return published.status == Status::ok ? published.offset : ~std::uint64_t{0};
    }
    /// Records whose ids are their offsets.
    void publish_many(std::uint64_t count) const noexcept {
        for (std::uint64_t i = 0; i < count; ++i) publish({.id = log_end()});
    }
    [[nodiscard]] partition_log::RecordParts parts_of(const WorkItem& item) const noexcept {
        partition_log::RecordParts parts;
        parts.value = reinterpret_cast<const std::byte*>(&item);
        parts.value_bytes = sizeof item;
        parts.flags = layout::kNullKey;
        parts.timestamp_ns = static_cast<std::int64_t>(now() * 1'000'000);
        return parts;
    }
    /// Takes a ticket that nobody decides.
    std::uint64_t open_ticket() const noexcept { return partition_log::Tickets<Host>(host_log, 1).take(); }
    /// Takes one and gives it up: an offset without a record.
    std::uint64_t skip() const noexcept {
        partition_log::Tickets<Host> tickets(host_log, 1);
        const std::uint64_t offset = tickets.take();
        tickets.give_up(offset);
        return offset;
    }

    [[nodiscard]] std::uint64_t log_end() const noexcept { return host_log.control->log_end.load(std::memory_order_acquire); }
    [[nodiscard]] std::uint64_t start() const noexcept { return truth().start(); }
    [[nodiscard]] std::uint64_t word(std::uint64_t offset) const noexcept { return truth().word_of(offset); }
    void set_word(std::uint64_t offset, std::uint64_t to) const noexcept { truth().word(offset).store(to, std::memory_order_release); }
    [[nodiscard]] bool done(std::uint64_t offset) const noexcept { return work_table::is_done(word(offset), offset); }
    [[nodiscard]] layout::WorkControl<Host>& control() const noexcept { return truth().control(); }
    [[nodiscard]] static std::uint64_t value(const std::atomic<std::uint64_t>& counter) noexcept {
        return counter.load(std::memory_order_acquire);
    }

    [[nodiscard]] std::uint64_t letters_end() const noexcept {
        return host_letters.control->log_end.load(std::memory_order_acquire);
    }
    /// The letter at this offset of the dead-letter log, if there is one.
    [[nodiscard]] std::optional<WorkLetter> letter(std::uint64_t at) const noexcept {
        const partition_log::Reader<Host> reader(host_letters);
        partition_log::RecordView view;
        WorkLetter found;
        if (reader.look(at, view) != partition_log::Found::record || view.length != sizeof found) return std::nullopt;
        reader.copy_body(view, reinterpret_cast<std::byte*>(&found));
        return found;
    }
    /// How many letters there are about a record.
    [[nodiscard]] std::uint64_t letters_about(std::uint64_t offset) const noexcept {
        std::uint64_t count = 0;
        for (std::uint64_t at = shape.letters.first_offset; at < letters_end(); ++at) {
            const auto found = letter(at);
            count += found && found->offset == offset ? 1 : 0;
        }
        return count;
    }

    /// What an operator does: a file of the next generation, then the table's word.
    std::uint32_t reset(std::uint64_t target) const noexcept {
        group_table::PartitionWord word = host_groups.word(group.slot, 0);
        const std::uint32_t next = group_table::next_generation(word.generation);
        std::memset(files_[next % 2], 0, layout::work_file_bytes(shape.window));
        while (!host_groups.change_word(group.slot, 0, word, {target, true, word.gates, next, group_table::kQueueOwner})) {
        }
        return next;
    }

    WorkShape shape;
    partition_log::LogMemory<M> log;
    partition_log::LogMemory<M> letters;
    group_table::GroupsMemory<M> groups;
    work_table::Workers<M> workers;
    WorkBoard* board = nullptr;
    group_table::GroupRef group;
    group_table::GroupsMemory<Host> host_groups;
    partition_log::LogMemory<Host> host_log;
    partition_log::LogMemory<Host> host_letters;

private:
    static std::byte* take(std::byte*& base, std::size_t bytes) noexcept { return std::exchange(base, base + bytes); }
    static void occupy(const partition_log::LogMemory<Host>& log) noexcept {
        for (std::uint32_t slot = 0; slot < log.producer_slots; ++slot) {
            log.producers[slot].generation.store(1, std::memory_order_release);
            log.producers[slot].owner.store(kClientA + slot, std::memory_order_release);
        }
    }
    [[nodiscard]] layout::WorkGeometry geometry(std::uint32_t of) const noexcept {
        return {group.born, group.slot, 0, shape.window, of, 0};
    }

    std::byte* log_base_;
    std::byte* letters_base_;
    std::array<std::byte*, 2> files_;
};

template <class M = platform::HostMemory>
struct PlainWork : PageMemory, WorkView<M> {
    explicit PlainWork(const WorkShape& what = {}) : PageMemory(plain_work_bytes(what)), WorkView<M>(PageMemory::data(), what) {
        this->format();
    }
};

/// A record in the hands of a worker.
struct HeldRecord {
    std::uint64_t offset = 0;
    std::uint64_t word = 0;
    WorkItem item;
};

struct LostRange {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    friend bool operator==(const LostRange&, const LostRange&) = default;
};

/// The log as a worker sees it; what it acquires is copied here. Allocates nothing, so that a call can be left anywhere.
template <class M>
class LogRecords {
public:
    static constexpr std::size_t kRoom = 64;

    explicit LogRecords(const WorkView<M>& view) noexcept : view_(view) {}

    work_table::Peeked peek(std::uint64_t offset) noexcept {
        work_table::Peeked peeked;
        WorkItem item;
        std::uint64_t timestamp = 0;
        peeked.found = read(offset, item, timestamp);
        if (peeked.found != partition_log::Found::record) return peeked;
        const std::uint64_t now = view_.now();
        const std::uint64_t since = timestamp < now ? timestamp : now;
        if (item.delay_ms != 0) peeked.delay_ms = since + item.delay_ms > now ? since + item.delay_ms - now : 0;
        peeked.expired = item.ttl_ms != 0 && now > timestamp + item.ttl_ms;
        return peeked;
    }

    work_table::Received copy(std::uint64_t offset) noexcept {
        if (count == room) return work_table::Received::full;
        std::uint64_t timestamp = 0;
        switch (read(offset, held[count].item, timestamp)) {
            case partition_log::Found::record: return work_table::Received::record;
            case partition_log::Found::corrupt: return work_table::Received::corrupt;
            default: return work_table::Received::gone;
        }
    }
    bool copy_plain(std::uint64_t offset) noexcept {
        if (copy(offset) != work_table::Received::record) return false;
        return held[count].item.delay_ms == 0 && held[count].item.ttl_ms == 0;
    }
    void drop() noexcept { ++drops; }
    void took(std::uint64_t offset, std::uint64_t word) noexcept {
        held[count].offset = offset;
        held[count].word = word;
        ++count;
    }
    void lost(std::uint64_t from, std::uint64_t to) noexcept {
        lost_records += to - from;
        last_lost = {from, to};
    }
    void corrupt(std::uint64_t offset) noexcept {
        ++corrupt_records;
        last_corrupt = offset;
    }

    std::array<HeldRecord, kRoom> held{};
    std::size_t count = 0;
    std::size_t room = kRoom;
    std::uint64_t drops = 0;
    std::uint64_t lost_records = 0;
    LostRange last_lost;
    std::uint64_t corrupt_records = 0;
    std::uint64_t last_corrupt = 0;

private:
    partition_log::Found read(std::uint64_t offset, WorkItem& item, std::uint64_t& timestamp) const noexcept {
        const partition_log::Reader<M> reader(view_.log);
        partition_log::RecordView view;
        const partition_log::Found found = reader.look(offset, view);
        if (found != partition_log::Found::record) return found;
        const bool whole = view.length == sizeof item;
        if (whole) reader.copy_body(view, reinterpret_cast<std::byte*>(&item));
        timestamp = static_cast<std::uint64_t>(view.timestamp_ns) / 1'000'000;
        if (!reader.valid(offset)) return partition_log::Found::lapped;
        return whole ? partition_log::Found::record : partition_log::Found::corrupt;
    }

    WorkView<M> view_;
};

/// The dead-letter partition, as one worker writes it.
template <class M>
class LogLetters {
public:
    LogLetters(const WorkView<M>& view, std::uint32_t slot) noexcept : view_(view), publisher_(view.letters, slot, 1) {}

    static Status prepare(const work_table::LetterOf&) noexcept { return Status::ok; }
    work_table::LetterTicket take_ticket() noexcept {
        if (view_.board->refuses.load(std::memory_order_acquire) != 0) return {Status::would_block, 0};
        const partition_log::Published taken = publisher_.take_ticket();
        return {taken.status, taken.offset};
    }
    void give_up(std::uint64_t ticket) noexcept { publisher_.give_up(ticket); }
    work_table::Sent commit_at(std::uint64_t ticket, const work_table::LetterOf& about) noexcept {
        const WorkLetter letter{about.offset, about.offset, about.deliveries, static_cast<std::uint32_t>(about.reason)};
        partition_log::RecordParts parts;
        parts.value = reinterpret_cast<const std::byte*>(&letter);
        parts.value_bytes = sizeof letter;
        parts.flags = layout::kNullKey;
        const auto committed = publisher_.commit_at(ticket, parts);
        if (committed.status != Status::ok) return work_table::Sent::refused;
        return committed.decision == partition_log::Decision::committed ? work_table::Sent::committed : work_table::Sent::closed;
    }
    std::optional<partition_log::Decision> close(std::uint64_t ticket) noexcept {
        if (view_.board->damaged.load(std::memory_order_acquire) != 0) return std::nullopt;
        if (ticket >= partition_log::Reader<M>(view_.letters).log_end()) return partition_log::Decision::impossible;
        return partition_log::close_ticket(view_.letters, ticket);
    }
    [[nodiscard]] bool usable() const noexcept { return view_.board->deleted.load(std::memory_order_acquire) == 0; }

private:
    WorkView<M> view_;
    partition_log::SharedPublisher<M> publisher_;
};

/// A worker as the public class is one: caps, then the partition, then its handles. Its calls take the clock as it is.
template <class M = platform::HostMemory>
class PlainWorker {
public:
    PlainWorker(const WorkView<M>& view, std::uint32_t slot) noexcept : PlainWorker(view, slot, view.generation()) {}
    PlainWorker(const WorkView<M>& view, std::uint32_t slot, std::uint32_t generation) noexcept
        : records(view), view_(view), slot_(slot), letters_(view, slot),
          acquiring_(view.work(generation), view.shape.rules, letters_, slot),
          settling_(view.work(generation), view.shape.rules, letters_, slot) {}
    PlainWorker(const PlainWorker&) = delete;
    PlainWorker& operator=(const PlainWorker&) = delete;

    /// Acquires up to `count` into `records`, which is emptied before.
    work_table::Acquired acquire(std::size_t count = 1) noexcept {
        const std::uint64_t now = view_.now();
        const work_table::WorkRules& rules = view_.shape.rules;
        records.count = 0;
        const std::uint32_t may =
            view_.workers.announce(slot_, static_cast<std::uint32_t>(count), rules.in_flight_max, now + rules.lock_ms, now);
        if (may == 0) return {};
        const work_table::Acquired acquired = acquiring_.acquire(may, now, records);
        if (acquired.records < may) view_.workers.settle(slot_, may - acquired.records);
        return acquired;
    }
    /// One record, or nothing.
    std::optional<HeldRecord> get() noexcept {
        if (acquire(1).records == 0) return std::nullopt;
        return records.held[0];
    }

    work_table::Answered ack(const HeldRecord& held) noexcept { return settled(settling_.ack(held.offset, held.word)); }
    work_table::Answered nack(const HeldRecord& held, std::optional<std::uint64_t> delay_ms = std::nullopt) noexcept {
        return settled(settling_.nack(held.offset, held.word, delay_ms, view_.now()));
    }
    work_table::Answered release(const HeldRecord& held) noexcept { return settled(settling_.release(held.offset, held.word, view_.now())); }
    work_table::Answered reject(const HeldRecord& held) noexcept { return settled(settling_.reject(held.offset, held.word, view_.now())); }
    work_table::Answered renew(HeldRecord& held, std::uint64_t lock_ms) noexcept {
        view_.workers.extend(slot_, view_.now() + lock_ms, view_.now());
        return settling_.renew(held.offset, held.word, lock_ms, view_.now());
    }

    [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }

    LogRecords<M> records;

private:
    work_table::Answered settled(const work_table::Answered& answered) noexcept {
        view_.workers.settle(slot_, 1);
        return answered;
    }

    WorkView<M> view_;
    std::uint32_t slot_;
    LogLetters<M> letters_;
    work_table::Acquiring<M, LogLetters<M>> acquiring_;
    work_table::Settling<M, LogLetters<M>> settling_;
};

}  // namespace ringmain::test
