// Checking the type of a typed topic.
#include "ringmain/typed.hpp"

#include <string>

#include "broker_impl.hpp"
#include "topic_description.hpp"

namespace ringmain {

void check_value_type(const Broker& broker, std::string_view topic, const ValueType& wanted) {
    const ValueType found = broker.impl()->open_topic(topic)->options().value_type;
    if (found == wanted)
        return;
    throw Error(
        ErrorCode::mismatch, std::string(topic),
        "topic '" + std::string(topic) + "' carries " + describe_type(found) + ", not " + describe_type(wanted));
}

}  // namespace ringmain
