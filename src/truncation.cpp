// The public switch of the truncation guard.
#include "ringmain/truncation.hpp"

#include "platform/truncation_guard.hpp"

namespace ringmain {

void survive_truncation() { platform::install_truncation_guard(); }

}  // namespace ringmain
