// A reader as a thread: follows one log from an offset on, closes what holds it up, and remembers everything.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "concurrency/history.hpp"
#include "concurrency/stamped_record.hpp"
#include "partition_log/reader.hpp"
#include "partition_log/tickets.hpp"

namespace ringmain::test {

/// How a reader gets at a record's bytes.
enum class Reading : std::uint8_t {
    copy,   // one copy, then validate
    visit,  // piece by piece where they lie, then validate: the longest possible look
};

template <class M>
class FollowingReader {
public:
    FollowingReader(const partition_log::LogMemory<M>& log, std::uint64_t from, Reading reading, bool closes)
        : log_(log), reader_(log), reading_(reading), closes_(closes), copy_(log.record_bytes_max()) {
        history_.begin = history_.end = from;
    }

    /// Reads what is there. Returns whether there was anything.
    bool step() {
        partition_log::RecordView view;
        std::uint64_t& at = history_.end;
        switch (reader_.look(at, view)) {
            case partition_log::Found::record:
                return take(view);
            case partition_log::Found::skip:
                history_.skipped.push_back(at++);
                looks_ = 0;
                return true;
            case partition_log::Found::lapped:
                return fall_back();
            case partition_log::Found::corrupt:
                history_.faults.push_back("corrupt at offset " + std::to_string(at));
                ++at;
                return true;
            case partition_log::Found::nothing:
                break;
        }
        if (reader_.log_start() > at)
            return fall_back();
        if (reader_.log_end() > at && ++looks_ > kPatienceLooks && closes_) {
            (void)partition_log::close_ticket(log_, at);
            looks_ = 0;
        }
        return false;
    }

    /// Reads on until `done` was set and the log's end is reached.
    void follow(const std::atomic<bool>& done) {
        for (;;) {
            const bool was_done = done.load(std::memory_order_acquire);
            if (step())
                continue;
            if (was_done && history_.end >= reader_.log_end())
                return;
            std::this_thread::yield();
        }
    }

    [[nodiscard]] std::uint64_t position() const noexcept { return history_.end; }
    [[nodiscard]] std::size_t gaps() const noexcept { return history_.gaps.size(); }
    [[nodiscard]] ReaderHistory take_history() noexcept { return std::move(history_); }

private:
    static constexpr int kPatienceLooks = 8;
    static constexpr std::size_t kPieceBytes = 16;

    bool take(partition_log::RecordView& view) {
        const std::uint64_t at = history_.end;
        if (reading_ == Reading::copy) {
            reader_.copy_body(view, copy_.data());
        } else {
            for (std::size_t i = 0; i < view.length; i += kPieceBytes) {
                M::copy_out(copy_.data() + i, view.body + i, std::min<std::size_t>(kPieceBytes, view.length - i));
                M::point("test.visiting");
            }
        }
        if (!reader_.valid(at))
            return fall_back();
        const auto id = StampedRecord::open(copy_.data(), view.value_bytes, view.timestamp_ns);
        if (id) {
            history_.records.push_back({at, *id});
        } else {
            history_.faults.push_back("torn record at offset " + std::to_string(at));
            history_.records.push_back({at, {}});
        }
        ++history_.end;
        looks_ = 0;
        return true;
    }

    bool fall_back() {
        const std::uint64_t start = reader_.log_start();
        if (start <= history_.end) {
            history_.faults.push_back("lapped at offset " + std::to_string(history_.end) + " without a new log start");
            return true;
        }
        history_.gaps.push_back({history_.end, start});
        history_.end = start;
        looks_ = 0;
        return true;
    }

    partition_log::LogMemory<M> log_;
    partition_log::Reader<M> reader_;
    Reading reading_;
    bool closes_;
    int looks_ = 0;
    std::vector<std::byte> copy_;
    ReaderHistory history_;
};

}  // namespace ringmain::test
