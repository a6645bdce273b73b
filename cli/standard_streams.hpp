// What a program does about standard streams that were closed when it was started.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace ringmain::cli {

/// Occupies the numbers of closed standard streams, so that no file gets one and is printed into. Opened the wrong way
/// round, they fail as closed ones do: what cannot be printed is still an error.
inline void occupy_closed_streams() noexcept {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0)
            (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}

}  // namespace ringmain::cli
