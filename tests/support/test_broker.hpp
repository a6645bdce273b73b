// A broker in a directory of a test's own.
#pragma once

#include "ringmain/broker.hpp"
#include "support/scratch_directory.hpp"

namespace ringmain::test {

struct TestBroker {
    ScratchDirectory scratch;
    Broker broker{scratch.broker(), Broker::Mode::open_or_create};
};

}  // namespace ringmain::test
