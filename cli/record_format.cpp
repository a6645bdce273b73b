// Formatting of consumed records.
#include "record_format.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

#include "errors.hpp"
#include "escapes.hpp"
#include "times.hpp"

namespace ringmain::cli {

namespace {

constexpr std::string_view kOption = "-f";
constexpr std::string_view kLetters = "tpokKsSTh";

void append_bytes(std::string& output, const OptionalBytes& bytes) {
    if (bytes)
        output.append(as_text(*bytes));
}

template <class Number>
void append_number(std::string& output, Number number) {
    fmt::format_to(std::back_inserter(output), "{}", number);
}

void append_size(std::string& output, const OptionalBytes& bytes) {
    append_number(output, bytes ? static_cast<std::int64_t>(bytes->size()) : -1);
}

void append_headers(std::string& output, const Headers& headers) {
    std::string_view separator;
    for (const Header& header : headers) {
        output.append(separator).append(header.name).append("=");
        output.append(header.value ? as_text(*header.value) : "NULL");
        separator = ",";
    }
}

}  // namespace

RecordFormat::RecordFormat(std::string_view format) {
    while (!format.empty()) {
        const char c = format.front();
        format.remove_prefix(1);
        if (c == '\\') {
            add_literal(take_escape(kOption, format));
        } else if (c != '%') {
            add_literal(c);
        } else {
            const std::string_view letter = format.substr(0, 1);
            if (letter != "%" && (letter.empty() || kLetters.find(letter) == std::string_view::npos)) {
                throw UsageError(fmt::format("{}: unknown token '%{}': known are %t %p %o %k %s %S %K %T %h and %%",
                                             kOption, letter));
            }
            format.remove_prefix(1);
            if (letter == "%") {
                add_literal('%');
            } else {
                tokens_.push_back({letter.front(), {}});
            }
        }
    }
}

void RecordFormat::add_literal(char c) {
    if (tokens_.empty() || tokens_.back().letter != '=')
        tokens_.emplace_back();
    tokens_.back().text.push_back(c);
}

void RecordFormat::append(std::string& output, const ConsumerRecord& record) const {
    for (const Token& token : tokens_) {
        switch (token.letter) {
            case 't':
                output.append(record.topic);
                break;
            case 'p':
                append_number(output, record.partition);
                break;
            case 'o':
                append_number(output, record.offset);
                break;
            case 'k':
                append_bytes(output, record.key);
                break;
            case 'K':
                append_size(output, record.key);
                break;
            case 's':
                append_bytes(output, record.value);
                break;
            case 'S':
                append_size(output, record.value);
                break;
            case 'T':
                append_number(output, floor_milliseconds(record.timestamp_ns));
                break;
            case 'h':
                append_headers(output, record.headers);
                break;
            default:
                output.append(token.text);
                break;
        }
    }
}

}  // namespace ringmain::cli
