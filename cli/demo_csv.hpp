// Reading CSV as RFC 4180 has it, one row at a time, with errors that name file, line and column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ringmain::cli::demo {

/// "FILE:LINE:COLUMN: what". Line and column count from 1, the column in bytes.
class CsvError : public std::runtime_error {
public:
    CsvError(const std::string& file, std::uint64_t line, std::uint64_t column, const std::string& what);
};

/// One row. The views live until the reader's next call.
struct CsvRow {
    std::uint64_t number = 0;  ///< Of the row, from 1; the header has none.
    std::uint64_t line = 0;    ///< Where the row begins in the file.
    std::string_view raw;      ///< The row as it stands in the file, without its line end.
    std::vector<std::string_view> fields;
};

/// Splits raw text into fields. Quoting, "" inside quotes, commas and line breaks inside quotes; bytes pass unchanged,
/// so any UTF-8 does.
class CsvSplitter {
public:
    enum class Result : std::uint8_t {
        complete,          ///< A row; see fields().
        incomplete,        ///< The text ends inside the row.
        quote_in_field,    ///< A quote inside a field that does not begin with one.
        text_after_quote,  ///< Something other than a comma or a line end follows a closing quote.
        bare_return,       ///< A carriage return that no line feed follows.
    };

    /// Splits the first row of `text`; `at_end`: nothing follows the text. The fields live until the next call.
    Result split(std::string_view text, bool at_end);

    [[nodiscard]] const std::vector<std::string_view>& fields() const noexcept { return fields_; }
    [[nodiscard]] std::size_t raw_bytes() const noexcept { return raw_bytes_; }  ///< Of the row, without line end.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }          ///< Of the row with its line end.
    [[nodiscard]] std::size_t error_position() const noexcept { return error_position_; }
    [[nodiscard]] bool inside_quotes() const noexcept { return inside_quotes_; }  ///< Where an incomplete row ended.
    [[nodiscard]] std::size_t quote_position() const noexcept { return quote_position_; }

private:
    struct Field {
        std::size_t begin = 0;
        std::size_t end = 0;
        bool unescaped = false;  ///< The bytes are in unescaped_ and not in the text.
    };

    Result fail(Result why, std::size_t position) noexcept;
    Result take_plain(std::string_view text, std::size_t& position);
    Result take_quoted(std::string_view text, std::size_t& position, bool at_end);
    Result take_line_end(std::string_view text, std::size_t position, bool at_end);
    void resolve(std::string_view text);

    std::vector<Field> found_;
    std::vector<std::string_view> fields_;
    std::string unescaped_;
    std::size_t raw_bytes_ = 0;
    std::size_t bytes_ = 0;
    std::size_t error_position_ = 0;
    std::size_t quote_position_ = 0;
    bool inside_quotes_ = false;
};

/// Streams a file. Every row must have as many fields as the header; blank lines are skipped where a row of one empty
/// field is not meant (more than one column). A UTF-8 byte order mark is ignored.
class CsvReader {
public:
    /// Opens the file and reads its header. Throws CsvError, std::system_error naming the path.
    explicit CsvReader(std::filesystem::path path);
    ~CsvReader();
    CsvReader(const CsvReader&) = delete;
    CsvReader& operator=(const CsvReader&) = delete;

    [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return columns_; }
    /// Index of a column. Throws std::invalid_argument listing the columns there are.
    [[nodiscard]] std::size_t column(std::string_view name) const;

    /// The next row, or false at the end. Throws CsvError.
    bool next(CsvRow& row);

    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return consumed_; }  ///< Up to the end of the last row.
    [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }

private:
    bool split_next();
    void refill();
    [[noreturn]] void fail_at(std::size_t position, const std::string& what) const;
    void check_fields() const;
    void advance();

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t file_bytes_ = 0;
    std::uint64_t consumed_ = 0;
    std::string buffer_;
    std::size_t begin_ = 0;  ///< Of the row in buffer_.
    bool at_end_ = false;
    std::uint64_t line_ = 1;  ///< In which buffer_[begin_] stands.
    std::uint64_t rows_ = 0;
    CsvSplitter splitter_;
    std::vector<std::string> columns_;
    bool row_taken_ = false;  ///< The row at begin_ was given out and is still referred to.
};

}  // namespace ringmain::cli::demo
