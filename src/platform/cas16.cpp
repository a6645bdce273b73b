// Whether this machine has the 16-byte compare-and-swap that this library was built for.
#include "platform/cas16.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace ringmain::platform {

namespace {

std::optional<std::string> ask_processor() {
#if defined(__x86_64__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_CMPXCHG16B) != 0) return std::nullopt;
    return "this processor has no instruction cmpxchg16b";
#elif defined(__aarch64__) && defined(__ARM_FEATURE_ATOMICS)
    constexpr unsigned long kAtomics = 1UL << 8;  // HWCAP_ATOMICS
    if ((::getauxval(AT_HWCAP) & kAtomics) != 0) return std::nullopt;
    return "this processor has no instruction casp, which this library was compiled for (armv8.1-a)";
#else
    return std::nullopt;  // ldaxp and stlxp are in every one
#endif
}

}  // namespace

std::optional<std::string> cas16_refused() {
    static const std::optional<std::string> kRefused = ask_processor();  // slow in a virtual machine
    return kRefused;
}

}  // namespace ringmain::platform
