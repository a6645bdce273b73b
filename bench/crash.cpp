// How long do the others wait when a producer is killed or stopped in the middle of a publish?
//
// One producer and one reader work. Another producer publishes a record whose second half cannot be read: the copy that
// touches it is interrupted, after the place was reserved and before it was filled, and the process kills or stops
// itself there. What is measured is the time from then until a record that was begun later is published, and until one
// is read.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "bench/common/contest.hpp"
#include "bench/common/duel.hpp"
#include "bench/common/trap.hpp"
#include "bench/contestants/library_link.hpp"
#include "bench/contestants/plans.hpp"
#include "bench/peers/list.hpp"

namespace {

using namespace ringmain::bench;

constexpr std::size_t kBytes = 40;  // a record that travels in its cell: the copy is made under the ticket
constexpr double kCapS = 10;
constexpr double kQuickCapS = 0.5;
constexpr std::uint64_t kSlots = 65'536;
constexpr int kRecordsBefore = 1000;

struct Board {
    alignas(128) StartBarrier start;
    alignas(128) std::atomic<std::uint64_t> sprung_at{0};
    alignas(128) std::atomic<std::uint64_t> published_at{0};  // a record that was begun after it
    alignas(128) std::atomic<std::uint64_t> read_at{0};       // such a record
};

/// Ringmain by its public classes, default options.
class OwnQueue {
public:
    explicit OwnQueue(ScratchBroker& scratch) : broker_(scratch.broker()) { broker_.create_topic(kTopic); }
    ~OwnQueue() { broker_.delete_topic(kTopic); }
    OwnQueue(const OwnQueue&) = delete;
    OwnQueue& operator=(const OwnQueue&) = delete;

    class Writer {
    public:
        explicit Writer(const std::filesystem::path& directory) : producer_(ringmain::Broker(directory), kTopic) {}
        void write(const std::byte* record) {
            require_ok(producer_.publish({.value = ringmain::Bytes(record, kBytes)}).status);
        }

    private:
        ringmain::Producer producer_;
    };
    class Reader {
    public:
        explicit Reader(const std::filesystem::path& directory)
            : consumer_(ringmain::Broker(directory), {.wait = ringmain::WaitStrategy::spin}) {
            consumer_.assign(kTopic);
        }
        template <class Sink>
        void read(Sink&& sink) {
            const ringmain::PollResult result = consumer_.poll();
            require_ok(result.status);
            for (const ringmain::ConsumerRecord& record : result.records)
                sink(record.value->data());
        }

    private:
        ringmain::Consumer consumer_;
    };

    Writer writer() { return Writer(broker_.directory()); }
    Reader reader() { return Reader(broker_.directory()); }
    /// Throws unless somebody was found to hold a ticket open: only then was it the middle of a publish.
    void expect_ticket_closed() const {
        if (broker_.describe_topic(kTopic).partitions.at(0).closed_tickets == 0)
            throw std::runtime_error("the producer stopped outside of its publish");
    }

private:
    static constexpr const char* kTopic = "crash";
    ringmain::Broker& broker_;
};

class BoostQueue {
public:
    class Writer {
    public:
        explicit Writer(BoostQueueLink<kBytes>::Queue& queue) : queue_(queue) {}
        void write(const std::byte* record) {
            for (RoomWait wait; !queue_.try_send(record, kBytes, 0);)
                wait();
        }

    private:
        BoostQueueLink<kBytes>::Queue& queue_;
    };
    class Reader {
    public:
        explicit Reader(BoostQueueLink<kBytes>::Receiver receiver) : receiver_(receiver) {}
        template <class Sink>
        void read(Sink&& sink) {
            receiver_.drain(kDrainMax, [&sink](const std::byte* data, std::size_t) { sink(data); });
        }

    private:
        BoostQueueLink<kBytes>::Receiver receiver_;
    };

    Writer writer() { return Writer(link_.queue()); }
    Reader reader() { return Reader(link_.receiver()); }

private:
    BoostQueueLink<kBytes> link_{kSlots};
};

#if defined(RINGMAIN_BENCH_DPDK)
class DpdkRing {
public:
    class Writer {
    public:
        explicit Writer(rte_ring* ring) : ring_(ring) {}
        void write(const std::byte* record) {
            for (RoomWait wait; rte_ring_mp_enqueue_elem(ring_, const_cast<std::byte*>(record), kBytes) != 0;)
                wait();
        }

    private:
        rte_ring* ring_;
    };
    class Reader {
    public:
        explicit Reader(DpdkRingLink<kBytes, RingSenders::many>::Receiver receiver) : receiver_(receiver) {}
        template <class Sink>
        void read(Sink&& sink) {
            receiver_.drain(kDrainMax, [&sink](const std::byte* data, std::size_t) { sink(data); });
        }

    private:
        DpdkRingLink<kBytes, RingSenders::many>::Receiver receiver_;
    };

    Writer writer() { return Writer(link_.ring()); }
    Reader reader() { return Reader(link_.receiver()); }

private:
    DpdkRingLink<kBytes, RingSenders::many> link_{kSlots};
};
#endif

std::uint64_t begun_at(const std::byte* record) noexcept {
    std::uint64_t ticks = 0;
    std::memcpy(&ticks, record, sizeof ticks);
    return ticks;
}

/// Notes the time once, for a record that was begun after the trap sprang.
void note_progress(const Board& board, std::atomic<std::uint64_t>& at, std::uint64_t begun) noexcept {
    const std::uint64_t sprung = board.sprung_at.load(std::memory_order_acquire);
    if (sprung != 0 && begun > sprung &&
        at.load(std::memory_order_relaxed) == 0)  // relaxed: only this process stores it
        at.store(ticks_now(), std::memory_order_release);
}

template <class Queue>
[[noreturn]] void go_on_writing(Queue& queue, Board& board) {
    auto writer = queue.writer();
    std::array<std::byte, kBytes> record{};
    board.start.arrive_and_wait(3);
    for (;;) {
        const std::uint64_t now = ticks_now();
        std::memcpy(record.data(), &now, sizeof now);
        writer.write(record.data());
        note_progress(board, board.published_at, now);
    }
}

template <class Queue>
[[noreturn]] void go_on_reading(Queue& queue, Board& board) {
    auto reader = queue.reader();
    board.start.arrive_and_wait(3);
    for (;;)
        reader.read([&board](const std::byte* record) { note_progress(board, board.read_at, begun_at(record)); });
}

template <class Queue>
void stop_in_the_middle(Queue& queue, Board& board, int signal) {
    auto writer = queue.writer();
    const Trap trap(signal, board.sprung_at);
    const std::array<std::byte, kBytes> record{};
    board.start.arrive_and_wait(3);
    for (int i = 0; i < kRecordsBefore; ++i)
        writer.write(record.data());
    writer.write(trap.record(kBytes));
    throw std::runtime_error("the publish touched no byte of its record");
}

/// Sleeps until both have made progress, at most `cap_s` from when the trap sprang.
void watch(const Board& board, double cap_s) {
    const timespec pause{0, 1'000'000};
    for (;;) {
        const std::uint64_t sprung = board.sprung_at.load(std::memory_order_acquire);
        const bool both = board.published_at.load(std::memory_order_acquire) != 0 &&
                          board.read_at.load(std::memory_order_acquire) != 0;
        if (both || (sprung != 0 && ticks_to_s(ticks_now() - sprung) > cap_s))
            return;
        ::nanosleep(&pause, nullptr);
    }
}

double wait_us(const Board& board, const std::atomic<std::uint64_t>& at, double cap_s) {
    const std::uint64_t ticks = at.load(std::memory_order_acquire);
    return ticks == 0 ? cap_s * 1e6 : ticks_to_ns(ticks - board.sprung_at.load(std::memory_order_acquire)) / 1000;
}

template <class Queue>
Sample measure(const ContestOptions& options, Queue& queue, int signal) {
    const double cap_s = options.scale < 1 ? kQuickCapS : kCapS;
    Shared<Board> board;
    {
        ChildGroup group;
        group.start(options.cpus[0], [&] { go_on_writing(queue, *board); });
        group.start(options.cpus[1], [&] { go_on_reading(queue, *board); });
        group.start(options.cpus[0], [&] {
            ChildGroup victims;  // its end is no failure of the measurement: nobody reaps it here
            victims.start(options.cpus[0], [&] { stop_in_the_middle(queue, *board, signal); });
            for (;;)
                ::pause();
        });
        group.wait_for(group.start(-1, [&] { watch(*board, cap_s); }));
    }
    const double published = wait_us(*board, board->published_at, cap_s);
    const double read = wait_us(*board, board->read_at, cap_s);
    Sample sample{std::max(published, read), {{"published_us", published}, {"read_us", read}}};
    if (sample.value >= cap_s * 1e6)
        sample.extras["never_within_s"] = cap_s;
    return sample;
}

std::string name_of(const std::string& queue, int signal) {
    return queue + (signal == SIGKILL ? ", SIGKILL" : ", SIGSTOP");
}

/// One that never went on is not tried again: its further rounds are what the first one found.
template <class Round>
void add(Contest& contest, const std::string& name, const std::string& what, Round round) {
    const auto never = std::make_shared<std::optional<Sample>>();
    contest.add({name, "us", what, [never, round] {
                     if (*never)
                         return **never;
                     const Sample sample = round();
                     if (sample.extras.contains("never_within_s"))
                         *never = sample;
                     return sample;
                 }});
}

void add_all(Contest& contest, ScratchBroker& scratch, int signal) {
    const ContestOptions& options = contest.options();
    add(contest, name_of("Ringmain", signal), "until both others go on: default options, 40 bytes",
        [&options, &scratch, signal] {
            OwnQueue queue(scratch);
            const Sample sample = measure(options, queue, signal);
            queue.expect_ticket_closed();
            return sample;
        });
    add(contest, name_of("boost message_queue", signal), "until both others go on: the mutex stays locked",
        [&options, signal] {
            BoostQueue queue;
            return measure(options, queue, signal);
        });
#if defined(RINGMAIN_BENCH_DPDK)
    add(contest, name_of("rte_ring mp/sc", signal),
        "until both others go on: they wait for the reservation before theirs", [&options, signal] {
            DpdkRing queue;
            return measure(options, queue, signal);
        });
#else
    contest.add(left_out(name_of("rte_ring mp/sc", signal), "us", missing_text("libdpdk-dev")));
#endif
}

}  // namespace

int main(int argc, char** argv) {
    const char* question =
        "How long do the others wait when a producer is killed or stopped in the middle of a publish?";
    return contest_main(argc, argv, "crash", question, [](Contest& contest) {
        static ScratchBroker scratch;
        for (const int signal : {SIGKILL, SIGSTOP})
            add_all(contest, scratch, signal);
    });
}
