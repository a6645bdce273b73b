// Producing to a full `block` topic from a shell.
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli_process.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

std::string lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
        text += std::to_string(i) + "\n";
    return text;
}

/// A block topic of 64 cells and a gate at its start.
class GatedTopic {
public:
    GatedTopic() {
        broker.create_topic("t", {"--records", "64", "--payload", "0", "--producers", "2", "--when-full", "block"});
        reader.emplace(Broker(broker.directory()));
        reader->assign("t");
        reader->hold_gates("slow-reader");
    }

    CliBroker broker;
    std::optional<Consumer> reader;
};

}  // namespace

TEST_CASE("Produce waits on a full block topic, names the gate, and goes on when the gate moves") {
    GatedTopic topic;
    CliProcess producer(topic.broker.in_directory({"produce", "t"}));
    producer.write_input(lines(200));
    REQUIRE(producer.wait_for_errors("topic 't' partition 0 is full: waiting for gate 'slow-reader'"));
    std::uint64_t read = 0;
    for (int i = 0; i < 10'000 && read < 200; ++i) {
        read += topic.reader->poll(16, std::chrono::milliseconds(10)).records.size();
        topic.reader->move_gates();
    }
    CHECK(read == 200);
    const CliResult result = producer.finish();
    CHECK(result.exit_code == 0);
    CHECK_THAT(result.errors, contains("200 records published to t"));
}

TEST_CASE("Produce that waits on a full block topic ends on SIGTERM and says what is not published") {
    GatedTopic topic;
    CliProcess producer(topic.broker.in_directory({"produce", "t"}));
    producer.write_input(lines(200));
    REQUIRE(producer.wait_for_errors("waiting for gate"));
    producer.send_signal(SIGTERM);
    const CliResult result = producer.finish();
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.errors, contains("records read but not published"));
}

TEST_CASE("Describe shows the gate and how far it is behind") {
    GatedTopic topic;
    REQUIRE(topic.broker.run({"produce", "t"}, lines(10)).exit_code == 0);
    const CliResult text = topic.broker.run({"topic", "describe", "t"});
    CHECK_THAT(text.output,
               contains("partition 0 gate 'slow-reader': offset 0, 10 records behind") && contains("alive"));
    const auto json = nlohmann::json::parse(topic.broker.run({"topic", "describe", "t", "--json"}).output);
    const auto& gate = json["partitions"][0]["gates"][0];
    CHECK(gate["name"] == "slow-reader");
    CHECK(gate["lag"] == 10);
    CHECK(gate["holder"]["alive"] == true);
}

TEST_CASE("Consume with a gate holds producers back, moves on after what it printed, and drops the gate at its end") {
    const CliBroker broker;
    broker.create_topic("t", {"--records", "64", "--payload", "0", "--producers", "2", "--when-full", "block"});
    REQUIRE(broker.run({"produce", "t"}, lines(10)).exit_code == 0);
    CliProcess consumer(broker.in_directory({"consume", "t", "--gate", "archiver", "-c", "500"}));
    REQUIRE(consumer.wait_for_output("9\n"));
    const CliResult described = broker.run({"topic", "describe", "t"});
    CHECK_THAT(described.output, contains("gate 'archiver': offset "));
    const CliResult produced = broker.run({"produce", "t"}, lines(490));  // more than fits: it waits for the gate
    CHECK(produced.exit_code == 0);
    const CliResult consumed = consumer.finish();
    CHECK(consumed.exit_code == 0);
    CHECK(consumed.output == lines(10) + lines(490));
    CHECK_THAT(consumed.errors, contains("500 records consumed from t\n") && !contains("gap"));
    CHECK_THAT(broker.run({"topic", "describe", "t"}).output, !contains("archiver"));
}

TEST_CASE("A gate of consume stays where it is while nobody takes its output") {
    const CliBroker broker;
    broker.create_topic("t", {"--records", "64", "--payload", "1M", "--producers", "2", "--when-full", "block"});
    REQUIRE(broker.run({"produce", "t"}, "first\n").exit_code == 0);
    CliProcess consumer(broker.in_directory({"consume", "t", "--gate", "g", "-f", std::string(60'000, 'x') + "%s\n"}));
    REQUIRE(consumer.wait_for_output("first\n"));  // so the gate is held
    CliProcess producer(broker.in_directory({"produce", "t"}));
    producer.write_input(lines(1000));
    CHECK(producer.wait_for_errors("waiting for gate 'g'"));  // the consumer's output fills its pipe, and no more is let go
    consumer.send_signal(SIGKILL);
    (void)consumer.finish();
    CHECK(producer.finish().exit_code == 0);  // the gate went with its process
}

TEST_CASE("A gate is refused on an overwrite topic, and with a name that cannot be") {
    const CliBroker broker;
    broker.create_topic("t");
    const CliResult overwriting = broker.run({"consume", "t", "-e", "--gate", "g"});
    CHECK(overwriting.exit_code == 1);
    CHECK_THAT(overwriting.errors, contains("'t'") && contains("block"));
    for (const std::string& name : {std::string(), std::string(64, 'g')}) {
        const CliResult refused = broker.run({"consume", "t", "-e", "--gate", name});
        CHECK(refused.exit_code == 2);
        CHECK_THAT(refused.errors, contains("--gate"));
    }
}

}  // namespace ringmain::test
