// Cutting an input into lines.
#include "cli/line_reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/errors.hpp"
#include "support/catch.hpp"

namespace ringmain::cli {

namespace {

using namespace std::string_view_literals;
using test::contains;

/// A pipe; a thread writes the input into it, so that inputs larger than the pipe do not block the test.
class PipeInput {
public:
    explicit PipeInput(std::string input) {
        std::array<int, 2> ends{};
        REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
        read_end_ = ends[0];
        writer_ = std::thread([end = ends[1], text = std::move(input)] {
            std::string_view rest = text;
            while (!rest.empty()) {
                const ssize_t bytes = ::write(end, rest.data(), rest.size());
                if (bytes <= 0)
                    break;
                rest.remove_prefix(static_cast<std::size_t>(bytes));
            }
            ::close(end);
        });
    }
    PipeInput(const PipeInput&) = delete;
    PipeInput& operator=(const PipeInput&) = delete;
    ~PipeInput() {
        std::array<char, 4096> drain;
        while (::read(read_end_, drain.data(), drain.size()) > 0) {
        }
        writer_.join();
        ::close(read_end_);
    }

    [[nodiscard]] int descriptor() const noexcept { return read_end_; }

private:
    int read_end_ = -1;
    std::thread writer_;
};

std::vector<std::string> lines_of(std::string input) {
    const PipeInput pipe(std::move(input));
    LineReader reader(pipe.descriptor(), "input", UINT64_MAX / 2);
    std::vector<std::string> lines;
    while (reader.fill()) {
        while (const auto line = reader.next()) {
            CHECK(line->bytes == line->text.size());
            lines.emplace_back(line->text);
        }
    }
    return lines;
}

}  // namespace

TEST_CASE("An input is its lines, the last one with or without a newline") {
    CHECK(lines_of("") == std::vector<std::string>{});
    CHECK(lines_of("a") == std::vector<std::string>{"a"});
    CHECK(lines_of("a\n") == std::vector<std::string>{"a"});
    CHECK(lines_of("a\nb") == std::vector<std::string>{"a", "b"});
    CHECK(lines_of("\n\na\n\n") == std::vector<std::string>{"", "", "a", ""});
    CHECK(lines_of("a\r\n") == std::vector<std::string>{"a\r"});
    CHECK(lines_of(std::string("\0\n\xFF\0"sv)) ==
          std::vector<std::string>{std::string("\0"sv), std::string("\xFF\0"sv)});
}

TEST_CASE("Lines of every length around the buffer's size come out whole") {
    std::string input;
    std::vector<std::string> expected;
    for (const std::size_t length :
         {0, 1, 262'142, 262'143, 262'144, 262'145, 524'287, 524'288, 1'000'000, 3, 0, 300'000}) {
        expected.emplace_back(length, static_cast<char>('a' + expected.size()));
        input += expected.back() + "\n";
    }
    CHECK(lines_of(input) == expected);
}

TEST_CASE("A line that is too long gives its length, and the lines around it are whole") {
    const PipeInput pipe("before\n" + std::string(2'000'000, 'x') + "\nafter");
    LineReader reader(pipe.descriptor(), "input", 1000);
    std::vector<std::string> short_lines;
    std::vector<std::uint64_t> long_lines;
    while (reader.fill()) {
        while (const auto line = reader.next()) {
            if (line->bytes > 1000) {
                long_lines.push_back(line->bytes);
            } else {
                short_lines.emplace_back(line->text);
            }
        }
    }
    CHECK(short_lines == std::vector<std::string>{"before", "after"});
    CHECK(long_lines == std::vector<std::uint64_t>{2'000'000});
}

TEST_CASE("A last line that is too long and has no newline gives its length") {
    const PipeInput pipe(std::string(1'500'000, 'x'));
    LineReader reader(pipe.descriptor(), "input", 1000);
    std::uint64_t bytes = 0;
    while (reader.fill()) {
        while (const auto line = reader.next())
            bytes = line->bytes;
    }
    CHECK(bytes == 1'500'000);
}

TEST_CASE("An input that cannot be read is named with the reason") {
    const int directory = ::open("/", O_RDONLY | O_CLOEXEC);
    REQUIRE(directory >= 0);
    LineReader reader(directory, "standard input", 1000);
    CHECK_THROWS_WITH(reader.fill(), contains("standard input") && contains("Is a directory"));
    ::close(directory);
}

}  // namespace ringmain::cli
