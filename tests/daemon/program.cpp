// Starting a program in a child.
#include "program.hpp"

#include <fcntl.h>
#include <grp.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace ringmain::test {

namespace {

bool become(uid_t uid) {
    return uid == 0 ||
           (::setgroups(0, nullptr) == 0 && ::setresgid(uid, uid, uid) == 0 && ::setresuid(uid, uid, uid) == 0);
}

int run(const char* program, const std::vector<std::string>& arguments, const Circumstances& circumstances) {
    ::unsetenv("RINGMAIN_DIR");
    for (const auto& [name, value] : circumstances.environment)
        ::setenv(name.c_str(), value.c_str(), 1);
    const int file = ::open(program, O_RDONLY | O_CLOEXEC);
    const int output = circumstances.output_descriptor >= 0
                           ? circumstances.output_descriptor
                           : ::open(circumstances.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || output < 0 || ::dup2(output, STDOUT_FILENO) < 0 || ::dup2(output, STDERR_FILENO) < 0)
        return 126;
    const int high = ::fcntl(file, F_DUPFD_CLOEXEC, 10);
    for (const int stream : circumstances.closed_streams)
        ::close(stream);
    std::vector<char*> pointers{const_cast<char*>(program)};
    for (const std::string& argument : arguments)
        pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    if (become(circumstances.uid))
        ::fexecve(high, pointers.data(), environ);
    return 127;
}

}  // namespace

Child start(const char* program, const std::vector<std::string>& arguments, const Circumstances& circumstances) {
    return Child([=] { return run(program, arguments, circumstances); });
}

std::string text_in(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

}  // namespace ringmain::test
