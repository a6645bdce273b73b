// One record as one JSON object, without losing a bit.
#pragma once

#include <string>

#include "ringmain/record.hpp"

namespace ringmain::cli {

/// Appends, without a newline:
///   {"topic":"trades","partition":0,"offset":17,"ts":1767323045123,"ts_ns":1767323045123456789,"key":"MSFT",
///    "payload":"…","headers":[{"name":"source","value":"nyse"}]}
/// ts is in milliseconds, as in kcat; ts_ns is exact. Offsets are exact 64-bit integers. A null key, payload or header
/// value is null. Bytes that are not UTF-8 are under "key_base64", "payload_base64", "name_base64" or "value_base64"
/// instead of the plain name.
void append_json(std::string& output, const ConsumerRecord& record);

}  // namespace ringmain::cli
