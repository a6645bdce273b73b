// Functions and files stay short enough to be read.
#include "support/catch.hpp"

#include "style/rules.hpp"

namespace style = ringmain::style;

namespace {

std::string lines_of(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += "    step();\n";
    return text;
}

std::size_t functions_too_long(const std::string& before, const std::string& after = "}\n") {
    const std::string text = "// A planted file.\n" + before + " {\n" + lines_of(style::kFunctionLinesMax - 1) + after;
    return style::check_function_length({"src/a.cpp", text}).size();
}

}  // namespace

TEST_CASE("no function is longer than 70 lines") {
    REQUIRE(style::report(style::load_cpp_files(), style::check_function_length) == "");
}

TEST_CASE("no file is longer than 600 lines") {
    REQUIRE(style::report(style::load_cpp_files(), style::check_file_length) == "");
}

TEST_CASE("the length rule finds a long function in all its shapes") {
    CHECK(functions_too_long("void run()") == 1);
    CHECK(functions_too_long("template <class T>\nauto Log<T>::run(const T& a) const noexcept -> std::vector<T>") == 1);
    CHECK(functions_too_long("Log::Log(int a) : a_{a}, b_(a), c_{a}") == 1);
    CHECK(functions_too_long("namespace a {\nclass B {\npublic:\n    int c = 3;\n    void run()", "}\n};\n}\n") == 1);
    CHECK(functions_too_long("TEST_CASE(\"a test\")") == 1);
    CHECK(functions_too_long("bool operator()(int a = {1}, const struct stat& s = {})") == 1);
    CHECK(functions_too_long("void run() {\n    const auto lambda = [] {}; for (int i : all())", "}\n}\n") == 1);
}

TEST_CASE("the length rule leaves long scopes and tables alone") {
    CHECK(functions_too_long("namespace ringmain") == 0);
    CHECK(functions_too_long("struct alignas(64) Cell") == 0);
    CHECK(functions_too_long("constexpr int kTable[] =", "};\n") == 0);
    CHECK(style::check_function_length({"src/a.cpp", "void run() {\n" + lines_of(style::kFunctionLinesMax - 2) + "}\n"})
              .empty());
}

TEST_CASE("the length rule finds a long file") {
    CHECK(style::check_file_length({"src/a.cpp", lines_of(style::kFileLinesMax)}).empty());
    CHECK(style::check_file_length({"src/a.cpp", lines_of(style::kFileLinesMax + 1)}).size() == 1);
}
