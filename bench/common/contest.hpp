// One benchmark program: contestants measured in alternating rounds, ratios between them, a table and a JSON file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/common/histogram.hpp"

namespace ringmain::bench {

/// What one round of one contestant measured: the figure itself and others worth keeping (percentiles, losses).
struct Sample {
    double value = 0;
    std::map<std::string, double> extras;
    std::shared_ptr<const Histogram> all = {};  ///< Every single value, where there are many.
};

/// Thrown by a round that cannot run on this machine. The contestant is reported as skipped, with the reason.
class Skipped : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Where a figure belongs in a plot.
struct PlotPoint {
    std::string series;  ///< The line it is on.
    double x = 0;
};

struct Contestant {
    std::string name;
    std::string unit;
    std::string what;  ///< Exactly what is measured, in a phrase.
    std::function<Sample()> round;
    std::optional<PlotPoint> point = {};
};

enum class Relation { at_least, at_most };

/// A figure that the project promises: measured against another contestant of the same program, or against a number.
struct Wanted {
    Relation relation = Relation::at_least;
    double value = 0;
};

struct Ratio {
    std::string name;
    std::string numerator;    ///< Name of a contestant.
    std::string denominator;  ///< Name of a contestant; empty: the figure itself is judged.
    std::optional<Wanted> wanted;
    double factor = 1;  ///< Multiplies the numerator: what one of its units is in units of the denominator.
};

struct ContestOptions {
    unsigned rounds = 7;
    double scale = 1.0;     ///< Multiplies the work of a round.
    std::vector<int> cpus;  ///< In the order of use; at least two entries (-1: not pinned).
    std::string json_path;  ///< Empty: no file.
    std::string histograms_path;  ///< The same.
    double budget_s = 0;    ///< No round is begun that would probably end later; 0: all are run. One is always run.
    std::string only;       ///< Only contestants whose name contains this.

    /// So many records for a round, at least `least`.
    [[nodiscard]] std::uint64_t scaled(std::uint64_t records, std::uint64_t least = 1) const {
        const auto wanted = static_cast<std::uint64_t>(static_cast<double>(records) * scale);
        return wanted < least ? least : wanted;
    }
};

class Contest {
public:
    Contest(std::string program, std::string question, ContestOptions options);

    void add(Contestant contestant);
    void compare(Ratio ratio) { ratios_.push_back(std::move(ratio)); }

    [[nodiscard]] const ContestOptions& options() const noexcept { return options_; }

    /// Runs everything, prints, writes the JSON file. Answers the program's exit code: 0 unless something failed to
    /// run; a ratio that falls short is a result, not a failure.
    int run();

private:
    struct Series {
        Contestant contestant;
        std::vector<double> values;
        std::map<std::string, std::vector<double>> extras;
        std::string skipped;
        std::shared_ptr<Histogram> all;  // of all rounds
    };
    unsigned run_rounds();
    void look_at_placement();
    void run_round(Series& series);
    [[nodiscard]] const Series* find(const std::string& name) const;
    [[nodiscard]] nlohmann::json measurement_json(const Series& series) const;
    [[nodiscard]] nlohmann::json ratio_json(const Ratio& ratio) const;
    [[nodiscard]] nlohmann::json to_json() const;
    void write_histograms() const;

    std::string program_;
    std::string question_;
    ContestOptions options_;
    unsigned rounds_done_ = 0;
    std::vector<double> line_ns_;  ///< Of each round: how long a bare cache line took between the first two processors.
    std::vector<Series> series_;
    std::vector<Ratio> ratios_;
};

/// The main() of a benchmark program: parses the options, builds the contest, runs it. Exit codes: 0 ran, 1 failed, 2
/// usage, 128 + n interrupted by signal n.
int contest_main(int argc, char** argv, const std::string& program, const std::string& question,
                 const std::function<void(Contest&)>& build);

}  // namespace ringmain::bench
