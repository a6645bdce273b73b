// Saying something on stderr.
#include "errors.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "group_report.hpp"

namespace ringmain::cli {

void say_on_stderr(std::string_view text) {
    std::string line = "ringmain: ";
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        line.append(printable(text.substr(0, end))).append("\n");
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::fwrite(line.data(), 1, line.size(), stderr);  // one write, so that lines of several processes do not mix
}

}  // namespace ringmain::cli
