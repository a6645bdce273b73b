// How findings are written down.
#include "style/rules.hpp"

namespace ringmain::style {

std::string finding(const SourceFile& file, std::size_t line, const std::string& what) {
    return file.path + ":" + std::to_string(line) + ": " + what;
}

std::string report(const Findings& findings) {
    std::string text;
    for (const std::string& one : findings)
        text += one + "\n";
    return text;
}

std::string report(const std::vector<SourceFile>& files, const std::function<Findings(const SourceFile&)>& rule) {
    std::string text;
    for (const SourceFile& file : files)
        text += report(rule(file));
    return text;
}

}  // namespace ringmain::style
