// The machine, kernel and compiler that a result belongs to; nothing that names a host, a user or a path.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace ringmain::bench {

/// Processor model, its count and caches, hypervisor, memory, kernel, compiler and flags.
nlohmann::json describe_machine();

/// "GNU 12.2.0", as CMake names it.
std::string compiler_name();

}  // namespace ringmain::bench
