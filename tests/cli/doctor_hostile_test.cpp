// Everything that shows a broker, over damaged files: no crash, no hang, no figure that cannot be.
#include <iostream>

#include "cli/doctor_examination.hpp"
#include "cli/doctor_report.hpp"
#include "cli/stats_report.hpp"
#include "cli/top_frame.hpp"
#include "concurrency/seed.hpp"
#include "hostile/broker_image.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::test {

namespace {

constexpr std::uint64_t kBatch = 20;             // images that one child looks at
constexpr std::uint64_t kRecordsKept = 1 << 16;  // far more than the image has room for

bool possible(const BrokerStats& stats) {
    for (const TopicStats& topic : stats.topics) {
        for (const PartitionStats& partition : topic.partitions) {
            if (partition.records > kRecordsKept || partition.log_start > partition.log_end ||
                partition.quarantined_cells > kRecordsKept)
                return false;
        }
        for (const GroupDescription& group : topic.groups) {
            for (const GroupPartitionDescription& partition : group.partitions) {
                if (partition.lag.records > kRecordsKept)
                    return false;
            }
        }
    }
    return true;
}

/// Shows it in every way; false: something impossible was shown.
bool show(const Broker& broker) {
    const cli::Examined examined = cli::look_at(broker, true);
    cli::DoctorReport report{broker.directory().string(), {}, cli::examine(examined)};
    (void)cli::report_to_text(report);
    (void)cli::report_to_json(report);
    StatsReader reader(broker);
    const BrokerStats before = reader.take();
    const BrokerStats now = reader.take();
    (void)cli::stats_to_text(now);
    (void)cli::stats_to_json(now);
    (void)cli::frame_to_text(before, now, cli::TopSort::lag);
    return possible(examined.stats) && possible(now);
}

int look_at_images(const BrokerImage& image, std::uint64_t seed, std::uint64_t from) {
    for (std::uint64_t i = from; i < from + kBatch; ++i) {
        std::mt19937_64 random(derive_seed(seed, i));
        (void)image.damage(random);
        try {
            if (!show(Broker(image.directory())))
                return 2;
        } catch (const Error&) {  // an answer
        }
    }
    return 0;
}

}  // namespace

TEST_CASE("The doctor, stats and top over damaged files neither crash nor hang nor show what cannot be") {
    const std::uint64_t seed = seed_for("doctor images");
    const std::uint64_t images = from_environment("RINGMAIN_HOSTILE_DOCTOR_IMAGES", 200);
    const ScratchDirectory scratch;
    const BrokerImage image(scratch.broker());
    for (std::uint64_t from = 0; from < images; from += kBatch) {
        INFO("seed " << seed << ", images from " << from);
        Child child([&] { return look_at_images(image, seed, from); });
        CHECK(child.wait(std::chrono::seconds(60)) == 0);
    }
}

}  // namespace ringmain::test
