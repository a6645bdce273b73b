// Ringmain: a small Kafka in shared memory. Start with broker.hpp, producer.hpp and consumer.hpp.
#pragma once

#include "ringmain/broker.hpp"
#include "ringmain/consumer.hpp"
#include "ringmain/error.hpp"
#include "ringmain/group.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/partitioner.hpp"
#include "ringmain/position.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/push.hpp"
#include "ringmain/record.hpp"
#include "ringmain/retry.hpp"
#include "ringmain/stats.hpp"
#include "ringmain/status.hpp"
#include "ringmain/topic_options.hpp"
#include "ringmain/typed.hpp"
