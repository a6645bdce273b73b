// Rules: no function over 70 lines, no file over 600.
#include <cctype>
#include <regex>
#include <string_view>

#include "style/rules.hpp"

namespace ringmain::style {

namespace {

// Finds function bodies by following the braces. A brace opens a function when the statement before it has a parameter
// list and is not a type, a namespace, or a member that a constructor initializes.
class FunctionFinder {
public:
    FunctionFinder(const SourceFile& file, Findings& findings)
        : file_(file), code_(without_directives(file)), findings_(findings) {}

    void run() {
        for (at_ = 0; at_ < code_.size(); ++at_) {
            switch (code_[at_]) {
                case '{':
                    open();
                    break;
                case '}':
                    close();
                    break;
                case ';':
                    if (parentheses_ == 0)
                        statement_ = at_ + 1;
                    break;
                case '(':
                    ++parentheses_;
                    break;
                case ')':
                    --parentheses_;
                    break;
                default:
                    break;
            }
        }
    }

private:
    enum class Kind { scope, function, initializer };
    struct Open {
        Kind kind;
        std::size_t statement;
    };

    static std::string without_directives(const SourceFile& file) {
        std::string code = file.code;
        bool directive = false;
        for (std::size_t start = 0; start < code.size();) {
            const std::size_t end = std::min(code.find('\n', start), code.size());
            const std::size_t first = code.find_first_not_of(" \t", start);
            directive = directive || (first < end && code[first] == '#');
            const bool continues = end > start && code[end - 1] == '\\';
            if (directive)
                code.replace(start, end - start, end - start, ' ');
            directive = directive && continues;
            start = end + 1;
        }
        return code;
    }

    void open() {
        const Kind kind = kind_of(code_.substr(statement_, at_ - statement_));
        stack_.push_back({kind, statement_});
        if (kind != Kind::initializer)
            statement_ = at_ + 1;
    }

    void close() {
        if (stack_.empty())
            return;
        const Open opened = stack_.back();
        stack_.pop_back();
        if (opened.kind == Kind::initializer)
            return;
        if (opened.kind == Kind::function)
            measure(opened.statement);
        statement_ = at_ + 1;
    }

    [[nodiscard]] bool inside_function() const {
        for (const Open& one : stack_) {
            if (one.kind == Kind::function)
                return true;
        }
        return false;
    }

    [[nodiscard]] Kind kind_of(const std::string& statement) const {
        if (inside_function())
            return Kind::scope;
        if (parentheses_ > 0)
            return Kind::initializer;  // a default argument, or a lambda handed to a macro
        static const std::regex kType(
            R"(^\s*(template\s*<[^{]*>\s*)?(inline\s+)?(namespace|class|struct|union|enum|extern)\b)");
        if (std::regex_search(statement, kType) &&
            !std::regex_search(statement, std::regex(R"(\)\s*(const|noexcept|override|final|\s)*$)"))) {
            return Kind::scope;
        }
        const std::size_t last = statement.find_last_not_of(" \t\n");
        if (last == std::string::npos)
            return Kind::scope;
        static const std::regex kInitializerList(R"(\)[^():]*[^:]:[^:])");
        const bool after_name =
            std::isalnum(static_cast<unsigned char>(statement[last])) != 0 || statement[last] == '_';
        if (after_name && std::regex_search(statement, kInitializerList))
            return Kind::initializer;
        return statement.find('(') != std::string::npos ? Kind::function : Kind::initializer;
    }

    void measure(std::size_t statement) {
        const std::size_t first = file_.line_at(code_.find_first_not_of(" \t\n", statement));
        const std::size_t lines = file_.line_at(at_) - first + 1;
        if (lines <= kFunctionLinesMax)
            return;
        findings_.push_back(finding(file_, first, "a function of " + std::to_string(lines) + " lines"));
    }

    const SourceFile& file_;
    const std::string code_;
    Findings& findings_;
    std::vector<Open> stack_;
    std::size_t at_ = 0;
    std::size_t statement_ = 0;
    int parentheses_ = 0;
};

}  // namespace

Findings check_function_length(const SourceFile& file) {
    Findings findings;
    FunctionFinder(file, findings).run();
    return findings;
}

Findings check_file_length(const SourceFile& file) {
    if (file.lines.size() <= kFileLinesMax)
        return {};
    return {finding(file, file.lines.size(), "a file of " + std::to_string(file.lines.size()) + " lines")};
}

}  // namespace ringmain::style
