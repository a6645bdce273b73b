// The format of `consume -f`: parsed once, then applied to each record.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ringmain/record.hpp"

namespace ringmain::cli {

/// Tokens, with kcat's meaning:
///   %t topic  %p partition  %o offset  %k key  %s payload  %S payload bytes  %K key bytes  %T milliseconds since the
///   epoch %h headers as name=value,name=value  %% a percent sign
/// and the escapes of escapes.hpp. A null key or payload prints nothing and has -1 bytes; the value of a null header
/// prints as NULL. Keys and values are written byte by byte as they are.
class RecordFormat {
public:
    /// Throws UsageError naming an unknown token or escape.
    explicit RecordFormat(std::string_view format);

    void append(std::string& output, const ConsumerRecord& record) const;

private:
    /// A letter of the list above, or '=' for literal text.
    struct Token {
        char letter = '=';
        std::string text;
    };

    void add_literal(char c);

    std::vector<Token> tokens_;
};

/// A payload a line: "%s\n".
inline constexpr std::string_view kDefaultFormat = R"(%s\n)";

}  // namespace ringmain::cli
