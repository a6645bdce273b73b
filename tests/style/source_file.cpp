// Reads the source tree and takes comments and literals apart from code.
#include "style/source_file.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace ringmain::style {

namespace {

namespace fs = std::filesystem;

// Walks over C++ text once, blanking what is not code and collecting line comments.
class Scanner {
public:
    Scanner(const std::string& text, std::string& code, std::vector<std::string>& comments)
        : text_(text), code_(code), comments_(comments) {}

    void run() {
        while (at_ < text_.size()) {
            if (starts("//")) {
                line_comment();
            } else if (starts("/*")) {
                blank_until("*/");
            } else if (starts("R\"") && !identifier_before()) {
                raw_string();
            } else if (text_[at_] == '"' || (text_[at_] == '\'' && !identifier_before())) {
                literal(text_[at_]);
            } else {
                keep();
            }
        }
    }

private:
    [[nodiscard]] bool starts(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }

    // Also true for digit separators (1'000), which must not open a character literal.
    [[nodiscard]] bool identifier_before() const {
        return at_ > 0 && (std::isalnum(static_cast<unsigned char>(text_[at_ - 1])) != 0 || text_[at_ - 1] == '_');
    }

    void keep() {
        line_ += text_[at_] == '\n' ? 1 : 0;
        ++at_;
    }

    void blank() {
        if (text_[at_] != '\n')
            code_[at_] = ' ';
        keep();
    }

    void line_comment() {
        std::size_t end = std::min(text_.find('\n', at_), text_.size());
        std::string comment = text_.substr(at_, end - at_);
        comment.erase(0, std::min(comment.find_first_not_of("/! <"), comment.size()));
        comments_[line_] = std::move(comment);
        while (at_ < end)
            blank();
    }

    void blank_until(const std::string& end) {
        const std::size_t found = text_.find(end, at_ + 1);
        const std::size_t stop = found == std::string::npos ? text_.size() : found + end.size();
        while (at_ < stop)
            blank();
    }

    void raw_string() {
        const std::size_t open = std::min(text_.find('(', at_), text_.size());
        blank_until(")" + text_.substr(at_ + 2, open - at_ - 2) + "\"");
    }

    void literal(char quote) {
        keep();
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
            if (text_[at_] == '\\' && at_ + 1 < text_.size())
                blank();
            blank();
        }
        if (at_ < text_.size())
            keep();
    }

    const std::string& text_;
    std::string& code_;
    std::vector<std::string>& comments_;
    std::size_t at_ = 0;
    std::size_t line_ = 0;
};

bool is_left_out(const fs::path& name) {
    static const std::set<std::string> kNames = {".git", ".cache", ".vscode", ".idea", "compile_commands.json"};
    const std::string text = name.string();
    return kNames.contains(text) || text.starts_with("build");
}

std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

SourceFile::SourceFile(std::string path_in_tree, std::string content)
    : path(std::move(path_in_tree)), text(std::move(content)), code(text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    comments.resize(lines.size() + 1);
    if (is_cpp())
        Scanner(text, code, comments).run();
}

std::size_t SourceFile::line_at(std::size_t position) const {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size()));
    return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

bool SourceFile::is_under(std::string_view directory) const {
    return path.starts_with(directory) && path.size() > directory.size() && path[directory.size()] == '/';
}

bool SourceFile::is_header() const { return path.ends_with(".hpp"); }

bool SourceFile::is_cpp() const { return is_header() || path.ends_with(".cpp"); }

std::vector<SourceFile> load_tree() {
    const fs::path root = RINGMAIN_SOURCE_DIR;
    std::vector<SourceFile> files;
    for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
        if (is_left_out(entry->path().filename())) {
            entry.disable_recursion_pending();
            continue;
        }
        if (!entry->is_regular_file() || entry->is_symlink())
            continue;
        std::string text = read(entry->path());
        if (text.find('\0') != std::string::npos)
            continue;
        files.emplace_back(fs::relative(entry->path(), root).generic_string(), std::move(text));
    }
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return files;
}

std::vector<SourceFile> load_cpp_files() {
    std::vector<SourceFile> files = load_tree();
    std::erase_if(files, [](const SourceFile& file) { return !file.is_cpp(); });
    return files;
}

}  // namespace ringmain::style
