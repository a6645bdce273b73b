// The demo's CSV reader: what RFC 4180 allows, and where errors are said to be.
#include "cli/demo_csv.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/catch.hpp"

using ringmain::cli::demo::CsvError;
using ringmain::cli::demo::CsvReader;
using ringmain::cli::demo::CsvRow;
using ringmain::test::contains;

namespace {

/// A file with the given bytes, removed at the end.
class CsvFile {
public:
    explicit CsvFile(const std::string& bytes) {
        char name[] = "/dev/shm/ringmain-test-csv-XXXXXX";
        const int descriptor = ::mkstemp(name);
        REQUIRE(descriptor >= 0);
        path_ = name;
        std::ofstream(path_, std::ios::binary) << bytes;
        ::close(descriptor);
    }
    ~CsvFile() { std::filesystem::remove(path_); }
    CsvFile(const CsvFile&) = delete;
    CsvFile& operator=(const CsvFile&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& bytes) {
    const CsvFile file(bytes);
    CsvReader reader(file.path());
    Rows rows;
    CsvRow row;
    while (reader.next(row))
        rows.emplace_back(row.fields.begin(), row.fields.end());
    return rows;
}

std::string error_of(const std::string& bytes) {
    const CsvFile file(bytes);
    try {
        CsvReader reader(file.path());
        CsvRow row;
        while (reader.next(row)) {
        }
    } catch (const CsvError& error) {
        const std::string text = error.what();
        REQUIRE(text.starts_with(file.path().string()));
        return text.substr(file.path().string().size());
    }
    return "no error";
}

}  // namespace

TEST_CASE("A CSV file with line feeds or with CRLF gives the same rows, with or without a last line end") {
    const Rows expected = {{"1", "2"}, {"3", "4"}};
    CHECK(rows_of("a,b\n1,2\n3,4\n") == expected);
    CHECK(rows_of("a,b\r\n1,2\r\n3,4\r\n") == expected);
    CHECK(rows_of("a,b\n1,2\n3,4") == expected);
    CHECK(rows_of("\xEF\xBB\xBF"
                  "a,b\n1,2\n3,4") == expected);
}

TEST_CASE("A quoted CSV field may hold commas, line breaks and doubled quotes") {
    CHECK(rows_of("a,b\n\"x,y\",\"l1\nl2\r\nl3\"\n") == Rows{{"x,y", "l1\nl2\r\nl3"}});
    CHECK(rows_of("a,b\n\"say \"\"hi\"\"\",\"\"\"\"\n") == Rows{{"say \"hi\"", "\""}});
    CHECK(rows_of("a,b\n\"\",\"a\"\"\"\n") == Rows{{"", "a\""}});
    CHECK(rows_of("a\n\"last\"") == Rows{{"last"}});
    CHECK(rows_of("a,b\n\"1\"\"2\"\"3\",\"4\"\"5\"\n") == Rows{{"1\"2\"3", "4\"5"}});
}

TEST_CASE("Empty CSV values stay, blank lines go where no row can be meant") {
    CHECK(rows_of("a,b,c\n,,\n\n1,,3\n\n") == Rows{{"", "", ""}, {"1", "", "3"}});
    CHECK(rows_of("only\n\nx\n") == Rows{{""}, {"x"}});
}

TEST_CASE("CSV text in UTF-8 passes unchanged") {
    CHECK(rows_of("stadt,n\nZürich,1\n東京,2\n\"Łódź, PL\",3\n") ==
          Rows{{"Zürich", "1"}, {"東京", "2"}, {"Łódź, PL", "3"}});
}

TEST_CASE("A CSV row gives its number, its line and its raw text") {
    const CsvFile file("a,b\r\n\"1\n1\",2\r\n3,4\r\n");
    CsvReader reader(file.path());
    CsvRow row;
    REQUIRE(reader.next(row));
    CHECK(row.number == 1);
    CHECK(row.line == 2);
    CHECK(row.raw == "\"1\n1\",2");
    REQUIRE(reader.next(row));
    CHECK(row.number == 2);
    CHECK(row.line == 4);
    CHECK(row.raw == "3,4");
    CHECK(reader.bytes_read() == reader.file_bytes());
    CHECK_FALSE(reader.next(row));
    CHECK_FALSE(reader.next(row));
}

TEST_CASE("A CSV file larger than the read buffer is read to its last row, wherever a row crosses the buffer's end") {
    std::string bytes = "key,text\r\n";
    std::size_t rows = 0;
    for (; bytes.size() < 1'500'000; ++rows) {
        bytes += std::to_string(rows) + ",\"" + std::string(rows % 977, 'x') + "\"\"\r\n" +
                 std::string(rows % 13, ',') + "\"\r\n";
    }
    bytes += "big,\"" + std::string(700'000, 'y') + "\"\r\n";
    const Rows read = rows_of(bytes);
    REQUIRE(read.size() == rows + 1);
    for (std::size_t row = 0; row < rows; ++row) {
        if (read[row][0] != std::to_string(row) || read[row][1].size() != row % 977 + 3 + row % 13) {
            FAIL("row " << row << " is " << read[row][0] << " with " << read[row][1].size() << " bytes");
        }
    }
    CHECK(read.back()[1].size() == 700'000);
}

TEST_CASE("A CSV error names file, line and column") {
    CHECK(error_of("") == ":1:1: the first line must name the columns");
    CHECK(error_of("\n1\n") == ":1:1: the first line must name the columns");
    CHECK(error_of("a,b\n1,2\n1,2,3\n") == ":3:6: the row has 3 fields, the header has 2");
    CHECK(error_of("a,b\n1,2\n1\n") == ":3:2: the row has 1 field, the header has 2");
    CHECK(error_of("a,b\n1,x\"y\n") == ":2:4: a quote inside a field that does not begin with one");
    CHECK(error_of("a,b\n\"1\"x,2\n") == ":2:4: a comma or the end of the line must follow a closing quote");
    CHECK(error_of("a,b\n1,2\n\"l1\nl2\",\"open\n\n") == ":4:5: this quote is never closed");
    CHECK(error_of("a,b\n1,2\r3,4\n") == ":2:4: a carriage return without a line feed");
    CHECK(error_of("a,b\n1,2\r") == ":2:4: a carriage return without a line feed");
}

TEST_CASE("A quote that is never closed ends the reading after a bounded length") {
    const std::string text = error_of("a,b\n1,\"" + std::string((1 << 24) + (1 << 20), 'z'));
    CHECK_THAT(text, contains(":2:3: "));
    CHECK_THAT(text, contains("quote"));
}

TEST_CASE("An unknown CSV column is refused with the columns that there are") {
    const CsvFile file("origin,destination,delay,delay\nA,B,1,2\n");
    const CsvReader reader(file.path());
    CHECK(reader.column("destination") == 1);
    CHECK_THROWS_WITH(reader.column("Origin"),
                      contains("no column 'Origin'; there are: origin, destination, delay, delay"));
    CHECK_THROWS_WITH(reader.column("delay"), contains("more than one column is named 'delay'"));
}

TEST_CASE("A CSV path that is no regular file is refused by name") {
    CHECK_THROWS_WITH(CsvReader("/dev/shm/ringmain-test-absent.csv"), contains("/dev/shm/ringmain-test-absent.csv"));
    CHECK_THROWS_WITH(CsvReader("/dev/shm"), contains("/dev/shm: not a regular file"));
}
