// What happens to a process whose mapped files are truncated by somebody else.
#pragma once

#include "ringmain/export.hpp"

namespace ringmain {

/// Lets this process survive the truncation of a broker's files.
///
/// Whoever may write a topic's files can truncate them, by accident or not (`> 0.log`, a copy onto a full disk). The
/// kernel then ends every process that touches a page which is no longer there, with SIGBUS. After this call it does
/// not: the whole mapping becomes private memory instead, and the handles that use it say so. Producers and consumers
/// answer Status::corrupt for that partition, from the call on that found it out, and go on with the others; set-up
/// calls throw Error corrupt, which names the file, its size and the size needed. No record that went into private
/// memory is ever said to be published, and none that was read from it is delivered. What others do in the meantime,
/// and what was published before, is as lost as it is without this.
///
/// Off unless called: the library installs no signal handlers by itself. `ringmaind` and the command `ringmain` call
/// it. Call it once, at the start, in any thread; calling it again changes nothing. It concerns the whole process,
/// files that are mapped already among them. Costs nothing where nothing is truncated.
///
/// It installs a handler for SIGBUS, async-signal-safe, that looks at the address alone: a fault outside of Ringmain's
/// own mappings, one of another kind (broken memory), and a SIGBUS that a process sent go to the handler that was there
/// before, or end the process as they would have. Whoever installs a handler of his own later has to call this one for
/// what he does not know (SA_SIGINFO), or calls this function again after it. Pages may be of any size, also huge ones.
/// fork(): the child has it too; exec: not. Throws Error: io.
RINGMAIN_API void survive_truncation();

}  // namespace ringmain
