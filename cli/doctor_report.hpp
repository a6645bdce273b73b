// What `ringmain doctor` shows.
#pragma once

#include <string>
#include <vector>

#include "doctor_finding.hpp"

namespace ringmain::cli {

struct DoctorReport {
    std::string directory;
    std::vector<std::string> fixed;  ///< What --fix did.
    std::vector<Finding> findings;
};

[[nodiscard]] std::string report_to_text(const DoctorReport& report);
/// One JSON object on one line.
[[nodiscard]] std::string report_to_json(const DoctorReport& report);
/// Whether there is more than notes.
[[nodiscard]] bool is_ill(const DoctorReport& report);

}  // namespace ringmain::cli
