// Telemetry: sweep after sweep over the share's /proc files. CSV: the rows whose key belongs to the share.
#include "demo_source.hpp"

#include <algorithm>
#include <string>

#include "demo_csv.hpp"
#include "demo_summary.hpp"
#include "demo_telemetry.hpp"

namespace ringmain::cli::demo {

namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kPauseMax = std::chrono::milliseconds(5);  // so that a producer soon notices that it shall stop
constexpr nanoseconds kPauseMin = std::chrono::microseconds(200);

std::uint64_t& counter_of(TextMap<std::uint64_t>& counters, std::string_view key) {
    const auto found = counters.find(key);
    return found != counters.end() ? found->second : counters.emplace(key, 0).first->second;
}

class TelemetrySource final : public Source {
public:
    TelemetrySource(const Plan& plan, const Board& board, std::uint32_t producer)
        : plan_(plan), board_(board), files_(plan.shares[producer]), reader_(files_) {}

    Next next(Outgoing& record) override {
        if (next_ == sweep_.size()) {
            if (wall_ns() < due_ns_ && !flat_out())
                return Next::pause;
            take_sweep();
        }
        const Sample sample = sweep_[next_++];
        record = {sample.key, sample.value, ++counter_of(sequences_, sample.key), 0, 0};
        return Next::record;
    }

    [[nodiscard]] nanoseconds pause_time() const noexcept override {
        return std::clamp(nanoseconds(due_ns_ - wall_ns()), kPauseMin, kPauseMax);
    }

    [[nodiscard]] bool owns(std::string_view key) const noexcept override {
        return std::any_of(files_.begin(), files_.end(), [&](const TelemetryFile& file) {
            const std::string_view name = file.name;
            return key.starts_with(name) && key.size() > name.size() && key[name.size()] == '/';
        });
    }

    void continue_after(std::string_view key, std::uint64_t sequence, std::uint64_t) override {
        std::uint64_t& counter = counter_of(sequences_, key);
        counter = std::max(counter, sequence);
    }

private:
    [[nodiscard]] bool flat_out() const noexcept {
        return board_.hurry.load(std::memory_order_relaxed) || board_.flat_out_ns.load(std::memory_order_relaxed) != 0;
    }

    void take_sweep() {
        sweep_.clear();
        next_ = 0;
        while (sweep_.size() == 0)
            reader_.sample(sweep_);
        const auto spacing_ns = static_cast<std::int64_t>(static_cast<double>(sweep_.size()) * 1e9 / plan_.paced_rate);
        due_ns_ = wall_ns() + spacing_ns;
    }

    const Plan& plan_;
    const Board& board_;
    std::vector<TelemetryFile> files_;
    TelemetryReader reader_;
    Sweep sweep_;
    std::size_t next_ = 0;
    std::int64_t due_ns_ = 0;
    TextMap<std::uint64_t> sequences_;
};

class CsvSource final : public Source {
public:
    CsvSource(const Plan& plan, const Board& board, std::uint32_t producer)
        : plan_(plan), board_(board), producer_(producer), reader_(*plan.options.input) {}

    Next next(Outgoing& record) override {
        while (has_row_ || reader_.next(row_)) {
            has_row_ = true;
            const std::string_view key = row_.fields[plan_.csv.key_column];
            if (owns(key)) {
                if (row_.number > published_rows_ && !is_due())
                    return Next::pause;
                // Rows that the log has already are counted, so that the sequence goes on where it stopped.
                const std::uint64_t sequence = ++counter_of(sequences_, key);
                record = {key, row_.raw, sequence, row_.number, row_.line};
            }
            has_row_ = false;
            if (!owns(key) || row_.number <= published_rows_)
                continue;
            at_once_ = false;
            return Next::record;
        }
        return Next::end;
    }

    [[nodiscard]] nanoseconds pause_time() const noexcept override {
        return std::clamp(nanoseconds(due_ns() - wall_ns()), kPauseMin, kPauseMax);
    }

    [[nodiscard]] bool owns(std::string_view key) const noexcept override {
        return producer_of_key(key, plan_.options.producers) == producer_;
    }

    /// A producer publishes its rows in the file's order, one by one: what the log has is everything up to one row.
    void continue_after(std::string_view, std::uint64_t, std::uint64_t row) override {
        published_rows_ = std::max(published_rows_, row);
        at_once_ = true;
    }

    [[nodiscard]] std::uint64_t rows_seen() const noexcept override { return row_.number; }

private:
    /// The file is spread evenly over its time, byte by byte.
    [[nodiscard]] std::int64_t due_ns() const noexcept {
        const double share = static_cast<double>(reader_.bytes_read()) / static_cast<double>(reader_.file_bytes());
        return board_.started_ns.load(std::memory_order_relaxed) +
               static_cast<std::int64_t>(share * static_cast<double>(plan_.csv_pace_ns));
    }
    [[nodiscard]] bool is_due() const noexcept {
        return at_once_ || board_.hurry.load(std::memory_order_relaxed) || wall_ns() >= due_ns();
    }

    const Plan& plan_;
    const Board& board_;
    std::uint32_t producer_;
    CsvReader reader_;
    CsvRow row_;
    bool has_row_ = false;  ///< row_ was read and waits until it is due.
    std::uint64_t published_rows_ = 0;
    bool at_once_ = false;  ///< A successor's first record, which shows when it has taken over.
    TextMap<std::uint64_t> sequences_;
};

}  // namespace

std::unique_ptr<Source> make_source(const Plan& plan, const Board& board, std::uint32_t producer) {
    if (plan.from_csv())
        return std::make_unique<CsvSource>(plan, board, producer);
    return std::make_unique<TelemetrySource>(plan, board, producer);
}

}  // namespace ringmain::cli::demo
