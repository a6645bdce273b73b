// All peers that were there when this was built, and a note for each that was not.
#pragma once

#include <cstddef>
#include <string>

#include "bench/peers/boost_queue.hpp"
#include "bench/peers/pipe.hpp"
#include "bench/peers/posix_queue.hpp"
#include "bench/peers/unix_socket.hpp"
#if defined(RINGMAIN_BENCH_DPDK)
#include "bench/peers/dpdk_ring.hpp"
#endif
#if defined(RINGMAIN_BENCH_MOODYCAMEL)
#include "bench/peers/moodycamel.hpp"
#endif
#if defined(RINGMAIN_BENCH_ZEROMQ)
#include "bench/peers/zeromq.hpp"
#endif
#if defined(RINGMAIN_BENCH_REDIS)
#include "bench/peers/redis_stream.hpp"
#endif

namespace ringmain::bench {

/// All of these call `visit.template peer<Link>()` for each link that carries records of `kBytes`, and
/// `visit.missing(name, package)` for what could not be built. First, the peers in shared memory.
template <std::size_t kBytes, class Visit>
void visit_fast_peers(Visit&& visit) {
#if defined(RINGMAIN_BENCH_DPDK)
    visit.template peer<DpdkRingLink<kBytes, RingSenders::one>>();
    visit.template peer<DpdkRingLink<kBytes, RingSenders::many>>();
#else
    visit.missing("rte_ring sp/sc", "libdpdk-dev");
#endif
    visit.template peer<BoostQueueLink<kBytes>>();
}

/// Peers that go through the kernel.
template <std::size_t kBytes, class Visit>
void visit_kernel_peers(Visit&& visit) {
    visit.template peer<PipeLink<kBytes>>();
    visit.template peer<UnixSocketLink<kBytes>>();
    visit.template peer<PosixQueueLink<kBytes>>();
}

/// Peers with threads or a server of their own.
template <std::size_t kBytes, unsigned kPipeline, class Visit>
void visit_served_peers(Visit&& visit) {
#if defined(RINGMAIN_BENCH_ZEROMQ)
    visit.template peer<ZeromqLink<kBytes>>();
#else
    visit.missing("ZeroMQ ipc", "libzmq3-dev");
#endif
#if defined(RINGMAIN_BENCH_REDIS)
    visit.template peer<RedisStreamLink<kBytes, kPipeline>>();
#else
    visit.missing("Redis stream", "libhiredis-dev, redis-tools");
#endif
}

/// References within one process.
template <std::size_t kBytes, class Visit>
void visit_in_process_peers(Visit&& visit) {
#if defined(RINGMAIN_BENCH_MOODYCAMEL)
    visit.template peer<ReaderWriterLink<kBytes>>();
    visit.template peer<ConcurrentLink<kBytes>>();
#else
    visit.missing("readerwriterqueue (threads)", "libreaderwriterqueue-dev, libconcurrentqueue-dev");
#endif
}

/// Why a peer that could not be built is left out.
inline std::string missing_text(const char* package) {
    return std::string("not there when this was built (Debian: ") + package + ")";
}

}  // namespace ringmain::bench
