// The keeper's sweep for quarantined cells misses none, whatever it ran between.
#include <chrono>

#include "broker_impl.hpp"
#include "partition_log/tickets.hpp"
#include "ringmain/ringmain.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"
#include "topic_files.hpp"
#include "topic_paths.hpp"

using namespace ringmain;
using namespace std::chrono_literals;

TEST_CASE("R5: a closer that stopped between its announcement and its closing hides no cell from the keeper") {
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options;
    options.records = 1024;
    options.producer_slots = 4;
    options.payload_bytes = 0;
    (void)broker.create_topic("events", options);
    const TopicFiles files(broker.directory() / "topics" / "events", "events");
    const platform::Mapping mapping = files.map_partition(0, platform::Access::read_write);
    const partition_log::LogMemory<platform::HostMemory> log(mapping.data(), geometry_of(mapping), files.readers(0));
    Keeper keeper(broker);
    const auto settle = [&] {
        for (int i = 0; i < 20; ++i)
            (void)keeper.do_work(i * 1s);
    };

    (void)log.control->log_end.fetch_add(1, std::memory_order_acq_rel);   // a producer took offset 0 and died
    (void)log.control->closings.fetch_add(1, std::memory_order_acq_rel);  // the closer announces itself, and stops
    settle();
    log.cell(0).word.store(partition_log::cell_word(0, partition_log::CellState::quarantined),
                           std::memory_order_release);
    (void)log.control->closed_tickets.fetch_add(1, std::memory_order_acq_rel);
    settle();
    CHECK(broker.describe_topic("events").partitions.at(0).quarantined_cells == 0);
}

TEST_CASE("P3: a ticket whose holder was reaped by somebody who then died is found by the next keeper, and by one that is there") {
    const bool beside = GENERATE(false, true);
    const test::ScratchDirectory scratch;
    Broker broker(scratch.broker(), Broker::Mode::open_or_create);
    TopicOptions options;
    options.records = 1024;
    options.producer_slots = 4;
    options.payload_bytes = 0;
    (void)broker.create_topic("events", options);
    const TopicFiles files(broker.directory() / "topics" / "events", "events");
    const platform::Mapping mapping = files.map_partition(0, platform::Access::read_write);
    const partition_log::LogMemory<platform::HostMemory> log(mapping.data(), geometry_of(mapping), files.readers(0));
    Keeper keeper(broker);
    std::chrono::seconds now = 1s;
    if (beside)
        (void)keeper.do_work(now);

    (void)log.control->log_end.fetch_add(1, std::memory_order_acq_rel);           // a producer took offset 0 and died
    (void)log.control->reaped_producers.fetch_add(1, std::memory_order_acq_rel);  // and was reaped: no entry names it
    std::uint64_t closed = 0;
    for (int i = 0; i < 20; ++i)
        closed += keeper.do_work(now += 1s).closed_tickets;
    CHECK(closed == 1);
    Producer producer(broker, "events");
    const auto published = producer.publish({.value = as_bytes("next")});
    CHECK((published.status == Status::ok && published.offset == 1));
}
