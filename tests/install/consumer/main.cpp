// A foreign program: one record through a topic, with nothing but the installed headers and library.
#include <ringmain/ringmain.hpp>

#include <chrono>
#include <cstdio>
#include <exception>

namespace {

bool record_arrives(const char* directory) {
    ringmain::Broker broker(directory, ringmain::Broker::Mode::open_or_create);
    broker.create_topic("greetings");

    ringmain::Producer producer(broker, "greetings");
    ringmain::ProducerRecord record;
    record.value = ringmain::as_bytes("hello");
    if (producer.publish(record).status != ringmain::Status::ok) return false;

    ringmain::Consumer consumer(broker);
    consumer.assign("greetings");
    const ringmain::PollResult polled = consumer.poll(1, std::chrono::seconds(10));
    return polled.records.size() == 1 && polled.records[0].value && ringmain::as_text(*polled.records[0].value) == "hello";
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return argc == 2 && record_arrives(argv[1]) ? 0 : 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
