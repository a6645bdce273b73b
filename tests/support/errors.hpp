// What a call throws, as a value.
#pragma once

#include <optional>
#include <string>

#include "ringmain/error.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

struct Thrown {
    std::optional<ErrorCode> code;  // nothing: it did not throw
    std::string text;
    std::string object;
};

template <class Call>
Thrown thrown_by(const Call& call) {
    try {
        (void)call();
    } catch (const Error& error) {
        return {error.code(), error.what(), error.object()};
    }
    return {};
}

}  // namespace ringmain::test

namespace Catch {
template <>
struct StringMaker<ringmain::ErrorCode> {
    static std::string convert(ringmain::ErrorCode code) { return std::string(ringmain::to_string(code)); }
};
}  // namespace Catch
