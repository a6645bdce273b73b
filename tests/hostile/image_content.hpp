// What is in the broker whose bytes are damaged: something of every kind.
#pragma once

#include <memory>

#include "ringmain/broker.hpp"

namespace ringmain::test {

/// Processes that hold something of a broker's as long as they live: publishers, gates, members, locks. To be ended
/// before the broker's files are changed.
class ImageHolders;
struct EndHolders {
    void operator()(ImageHolders* holders) const noexcept;
};
using HeldImage = std::unique_ptr<ImageHolders, EndHolders>;

/// Fills an empty broker: a topic with records of every shape, named and exclusive producers' among them, groups,
/// queues, retries, letters (some settled), marks of a keeper; and one that blocks. Returns who still holds something.
[[nodiscard]] HeldImage fill_image(Broker& broker);

/// Its two topics alone, without records.
void make_image_topics(Broker& broker);

}  // namespace ringmain::test
