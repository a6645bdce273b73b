// What every file has, and what none may contain.
#include "support/catch.hpp"

#include "style/rules.hpp"

namespace style = ringmain::style;

TEST_CASE("every file says in its first line what it is about") {
    REQUIRE(style::report(style::load_tree(), style::check_first_line) == "");
}

TEST_CASE("the first-line rule finds a file that starts with code") {
    CHECK(style::check_first_line({"src/a.cpp", "#include <vector>\n"}).size() == 1);
    CHECK(style::check_first_line({"src/a.hpp", ""}).size() == 1);
    CHECK(style::check_first_line({"cmake/a.cmake", "set(a b)\n"}).size() == 1);
    CHECK(style::check_first_line({"src/a.cpp", "// The cells of a log.\n"}).empty());
}

TEST_CASE("every header has #pragma once and nothing else as a guard") {
    REQUIRE(style::report(style::load_tree(), style::check_include_guard) == "");
}

TEST_CASE("the guard rule finds missing, doubled, late and misplaced guards") {
    const std::string pragma = "#pragma once\n";
    CHECK(style::check_include_guard({"src/a.hpp", "// A.\n" + pragma}).empty());
    CHECK(style::check_include_guard({"src/a.hpp", "// A.\nint a;\n"}).size() == 1);
    CHECK(style::check_include_guard({"src/a.hpp", "// A.\n" + pragma + pragma}).size() == 1);
    CHECK(style::check_include_guard({"src/a.hpp", "// A.\n#ifndef A_HPP\n" + pragma + "#endif\n"}).size() == 1);
    CHECK(style::check_include_guard({"src/a.cpp", "// A.\n" + pragma}).size() == 1);
}

TEST_CASE("no file names a path of somebody's machine") {
    REQUIRE(style::report(style::load_tree(), style::check_machine_paths) == "");
}

TEST_CASE("the path rule finds machine paths and leaves others alone") {
    CHECK(style::check_machine_paths({"README.md", std::string("see /ho") + "me/ann/ringmain\n"}).size() == 1);
    CHECK(style::check_machine_paths({"README.md", std::string("\"/wo") + "rk/a\"\n"}).size() == 1);
    CHECK(style::check_machine_paths({"README.md", std::string("/dev/shm/ringmain, build/wo") + "rk/a, ${X}/ro" + "ot/a\n"}).empty());
}

TEST_CASE("no file carries a mark of unfinished work") {
    REQUIRE(style::report(style::load_tree(), style::check_unfinished_marks) == "");
}

TEST_CASE("the mark rule finds marks of unfinished work") {
    CHECK(style::check_unfinished_marks({"src/a.cpp", std::string("// TO") + "DO: later\n"}).size() == 1);
    CHECK(style::check_unfinished_marks({"src/a.cpp", std::string("// FIX") + "ME\n"}).size() == 1);
    CHECK(style::check_unfinished_marks({"src/a.cpp", "int method = 1;\n"}).empty());
}
