// The consumer of the README: reads from the first offset on, history and live alike, until a second is quiet.
#include <ringmain/ringmain.hpp>

#include <chrono>
#include <iostream>

int main() {
    ringmain::Consumer consumer{ringmain::Broker()};
    consumer.assign("prices", ringmain::Position::earliest());
    for (;;) {
        const ringmain::PollResult result = consumer.poll(256, std::chrono::seconds(1));
        for (const auto& gap : result.gaps)
            std::cout << "lost " << gap.from << " to " << gap.to << '\n';
        for (const auto& record : result.records)
            std::cout << ringmain::as_text(*record.key) << " = " << ringmain::as_text(*record.value) << '\n';
        if (result.status != ringmain::Status::ok)
            return 1;
        if (result.records.empty())
            return 0;
    }
}
