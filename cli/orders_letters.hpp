// The dead letters of the labels, as the house sees and replays them.
#pragma once

#include <cstdint>
#include <string>

#include "orders_board.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"

namespace ringmain::cli::orders {

class LetterBox {
public:
    LetterBox(const Broker& broker, LettersPanel& panel);

    /// Reads what has come since the last look, and checks that it is what the story expects.
    void look();
    /// Publishes every letter once more where its record came from. Returns how many: a second call has none left.
    [[nodiscard]] std::uint64_t replay();

private:
    void read(const ConsumerRecord& record);

    const Broker& broker_;
    LettersPanel& panel_;
    TopicId origin_;
    Consumer consumer_;
};

}  // namespace ringmain::cli::orders
