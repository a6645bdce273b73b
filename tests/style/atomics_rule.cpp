// Rule: every atomic operation and every fence names its memory order.
#include <regex>

#include "style/rules.hpp"

namespace ringmain::style {

namespace {

// The argument list that opens at `open`, without its parentheses.
std::string arguments_at(const std::string& code, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < code.size(); ++at) {
        depth += code[at] == '(' ? 1 : code[at] == ')' ? -1 : 0;
        if (depth == 0)
            return code.substr(open + 1, at - open - 1);
    }
    return code.substr(open + 1);
}

}  // namespace

Findings check_atomic_orders(const SourceFile& file) {
    static const std::regex kOperation(
        R"((?:(?:\.|->)\s*(load|store|exchange|fetch_\w+|compare_exchange_\w+|test_and_set)|\b(\w*(?:M|Memory)::fence|atomic_\w+_fence))\s*\()");
    static const std::regex kOrder(R"(order|\b(k?(relaxed|acquire|release|acq_rel|seq_cst))\b)", std::regex::icase);
    Findings findings;
    const std::sregex_iterator end;
    for (std::sregex_iterator match(file.code.begin(), file.code.end(), kOperation); match != end; ++match) {
        const auto position = static_cast<std::size_t>(match->position());
        const auto open = position + static_cast<std::size_t>(match->length()) - 1;
        if (std::regex_search(arguments_at(file.code, open), kOrder))
            continue;
        const std::string name = (*match)[1].matched ? (*match)[1] : (*match)[2];
        findings.push_back(finding(file, file.line_at(open), name + "() without a named memory order"));
    }
    return findings;
}

}  // namespace ringmain::style
