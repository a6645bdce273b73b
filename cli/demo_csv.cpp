// Reading CSV: the splitter finds the fields of one row, the reader feeds it from a file and says where errors are.
#include "demo_csv.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace ringmain::cli::demo {

namespace {

constexpr std::size_t kReadBytes = 1 << 18;
constexpr std::size_t kRowBytesMax = 1 << 24;  // a quote that is never closed must not read the file into memory
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

CsvError::CsvError(const std::string& file, std::uint64_t line, std::uint64_t column, const std::string& what)
    : std::runtime_error(fmt::format("{}:{}:{}: {}", file, line, column, what)) {}

CsvSplitter::Result CsvSplitter::split(std::string_view text, bool at_end) {
    found_.clear();
    unescaped_.clear();
    inside_quotes_ = false;
    std::size_t position = 0;
    for (;;) {
        const bool quoted = position < text.size() && text[position] == '"';
        const Result result = quoted ? take_quoted(text, position, at_end) : take_plain(text, position);
        if (result != Result::complete)
            return result;
        if (position < text.size() && text[position] == ',') {
            ++position;
            continue;
        }
        return take_line_end(text, position, at_end);
    }
}

CsvSplitter::Result CsvSplitter::fail(Result why, std::size_t position) noexcept {
    error_position_ = position;
    return why;
}

CsvSplitter::Result CsvSplitter::take_plain(std::string_view text, std::size_t& position) {
    const std::size_t end = std::min(text.find_first_of(",\r\n\"", position), text.size());
    if (end < text.size() && text[end] == '"')
        return fail(Result::quote_in_field, end);
    found_.push_back({position, end, false});
    position = end;
    return Result::complete;
}

CsvSplitter::Result CsvSplitter::take_quoted(std::string_view text, std::size_t& position, bool at_end) {
    quote_position_ = position;
    const std::size_t unescaped_begin = unescaped_.size();
    std::size_t begin = position + 1;
    bool unescaped = false;
    for (;;) {
        const std::size_t quote = text.find('"', begin);
        // The last byte may be the first half of "" as long as more text can follow.
        if (quote == std::string_view::npos || (quote + 1 == text.size() && !at_end)) {
            inside_quotes_ = quote == std::string_view::npos;
            return fail(Result::incomplete, quote_position_);
        }
        const bool doubled = quote + 1 < text.size() && text[quote + 1] == '"';
        if (doubled || unescaped)
            unescaped_.append(text.substr(begin, quote - begin + (doubled ? 1 : 0)));
        if (!doubled) {
            position = quote + 1;
            if (unescaped) {
                found_.push_back({unescaped_begin, unescaped_.size(), true});
            } else {
                found_.push_back({begin, quote, false});
            }
            break;
        }
        unescaped = true;
        begin = quote + 2;
    }
    const bool ends =
        position == text.size() || text[position] == ',' || text[position] == '\n' || text[position] == '\r';
    return ends ? Result::complete : fail(Result::text_after_quote, position);
}

CsvSplitter::Result CsvSplitter::take_line_end(std::string_view text, std::size_t position, bool at_end) {
    raw_bytes_ = position;
    if (position == text.size()) {
        bytes_ = position;
        if (!at_end)
            return fail(Result::incomplete, position);
    } else if (text[position] == '\n') {
        bytes_ = position + 1;
    } else if (position + 1 < text.size()) {
        if (text[position + 1] != '\n')
            return fail(Result::bare_return, position);
        bytes_ = position + 2;
    } else {
        return fail(at_end ? Result::bare_return : Result::incomplete, position);
    }
    resolve(text);
    return Result::complete;
}

void CsvSplitter::resolve(std::string_view text) {
    fields_.clear();
    for (const Field& field : found_) {
        const std::string_view whole = field.unescaped ? std::string_view(unescaped_) : text;
        fields_.push_back(whole.substr(field.begin, field.end - field.begin));
    }
}

CsvReader::CsvReader(std::filesystem::path path) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0)
        throw std::system_error(errno, std::generic_category(), path_.string());
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(descriptor_);
        throw std::runtime_error(
            fmt::format("{}: not a regular file; each producer reads it by itself", path_.string()));
    }
    file_bytes_ = static_cast<std::uint64_t>(status.st_size);
    try {
        refill();
        if (std::string_view(buffer_).starts_with(kByteOrderMark)) {
            begin_ = kByteOrderMark.size();
            consumed_ = begin_;
        }
        if (!split_next() || splitter_.raw_bytes() == 0)
            fail_at(0, "the first line must name the columns");
        for (const std::string_view name : splitter_.fields())
            columns_.emplace_back(name);
        advance();
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

CsvReader::~CsvReader() { ::close(descriptor_); }

std::size_t CsvReader::column(std::string_view name) const {
    const auto found = std::find(columns_.begin(), columns_.end(), name);
    if (found == columns_.end()) {
        throw std::invalid_argument(
            fmt::format("{}: there is no column '{}'; there are: {}", path_.string(), name, fmt::join(columns_, ", ")));
    }
    if (std::find(found + 1, columns_.end(), name) != columns_.end()) {
        throw std::invalid_argument(fmt::format("{}: more than one column is named '{}'", path_.string(), name));
    }
    return static_cast<std::size_t>(found - columns_.begin());
}

bool CsvReader::next(CsvRow& row) {
    if (row_taken_)
        advance();
    while (split_next()) {
        if (splitter_.raw_bytes() == 0 && columns_.size() > 1) {  // a blank line
            advance();
            continue;
        }
        check_fields();
        row.number = ++rows_;
        row.line = line_;
        row.raw = std::string_view(buffer_).substr(begin_, splitter_.raw_bytes());
        row.fields = splitter_.fields();
        row_taken_ = true;
        consumed_ += splitter_.bytes();
        return true;
    }
    return false;
}

bool CsvReader::split_next() {
    for (;;) {
        const std::string_view rest = std::string_view(buffer_).substr(begin_);
        if (rest.empty() && at_end_)
            return false;
        switch (splitter_.split(rest, at_end_)) {
            case CsvSplitter::Result::complete:
                return true;
            case CsvSplitter::Result::incomplete:
                if (at_end_)
                    fail_at(splitter_.error_position(), "this quote is never closed");
                if (rest.size() > kRowBytesMax) {
                    fail_at(splitter_.inside_quotes() ? splitter_.quote_position() : 0,
                            fmt::format("the row is longer than {} bytes{}", kRowBytesMax,
                                        splitter_.inside_quotes() ? "; is this quote ever closed?" : ""));
                }
                refill();
                break;
            case CsvSplitter::Result::quote_in_field:
                fail_at(splitter_.error_position(), "a quote inside a field that does not begin with one");
            case CsvSplitter::Result::text_after_quote:
                fail_at(splitter_.error_position(), "a comma or the end of the line must follow a closing quote");
            case CsvSplitter::Result::bare_return:
                fail_at(splitter_.error_position(), "a carriage return without a line feed");
        }
    }
}

void CsvReader::refill() {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t kept = buffer_.size();
    const std::size_t wanted = std::max(kReadBytes, kept);  // doubling: a long row is looked through a few times only
    buffer_.resize(kept + wanted);
    ssize_t count = 0;
    do {
        count = ::read(descriptor_, buffer_.data() + kept, wanted);
    } while (count < 0 && errno == EINTR);
    const int error = errno;
    buffer_.resize(kept + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0)
        throw std::system_error(error, std::generic_category(), path_.string());
    at_end_ = count == 0;
}

void CsvReader::fail_at(std::size_t position, const std::string& what) const {
    const std::string_view before = std::string_view(buffer_).substr(begin_, position);
    const auto lines = static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
    const std::size_t line_begin = before.rfind('\n');
    const std::size_t column = line_begin == std::string_view::npos ? position : position - line_begin - 1;
    throw CsvError(path_.string(), line_ + lines, column + 1, what);
}

void CsvReader::check_fields() const {
    const std::size_t count = splitter_.fields().size();
    if (count == columns_.size())
        return;
    fail_at(splitter_.raw_bytes(),
            fmt::format("the row has {} field{}, the header has {}", count, count == 1 ? "" : "s", columns_.size()));
}

void CsvReader::advance() {
    const std::string_view row = std::string_view(buffer_).substr(begin_, splitter_.bytes());
    line_ += static_cast<std::uint64_t>(std::count(row.begin(), row.end(), '\n'));
    if (!row_taken_)
        consumed_ += row.size();
    begin_ += row.size();
    row_taken_ = false;
}

}  // namespace ringmain::cli::demo
