// Moving lines, blocks and copies: the highest throughput two cores can have.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "bench/common/payload.hpp"
#include "bench/common/process.hpp"
#include "bench/common/shared.hpp"
#include "bench/limits/limits.hpp"

namespace ringmain::bench {
namespace {

struct alignas(64) Line {
    std::uint64_t words[7];
    std::atomic<std::uint64_t> sequence;  // written last
};
static_assert(sizeof(Line) == 64);

struct Board {
    alignas(128) std::atomic<std::uint64_t> consumed{0};
    alignas(128) StartBarrier start;
    std::uint64_t elapsed_ticks = 0;
};

constexpr std::size_t kBlockBytes = 16 * 1024;

/// Spins until fewer than `slots` of what was produced are still unread; `known` caches the consumer's word.
void await_room(const Board& board, std::uint64_t produced, std::uint64_t slots, std::uint64_t& known) noexcept {
    while (produced - known >= slots)
        known = board.consumed.load(std::memory_order_acquire);
}

void produce_lines(Board& board, Line* ring, std::uint64_t slots, std::uint64_t lines) {
    std::uint64_t known = 0;
    for (std::uint64_t i = 0; i < lines; ++i) {
        await_room(board, i, slots, known);
        Line& line = ring[i & (slots - 1)];
        for (std::uint64_t w = 0; w < 7; ++w)
            line.words[w] = i + w;
        line.sequence.store(i + 1, std::memory_order_release);
    }
}

void consume_lines(Board& board, Line* ring, std::uint64_t slots, std::uint64_t lines) {
    const std::uint64_t step = std::max<std::uint64_t>(slots / 8, 1);
    std::uint64_t sum = 0;
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < lines; ++i) {
        const Line& line = ring[i & (slots - 1)];
        while (line.sequence.load(std::memory_order_acquire) != i + 1) {
        }
        for (const std::uint64_t word : line.words)
            sum += word;
        expected += 7 * i + 21;
        if ((i + 1) % step == 0)
            board.consumed.store(i + 1, std::memory_order_release);
    }
    if (sum != expected)
        throw std::runtime_error("a streamed line arrived damaged");
}

struct Block {
    alignas(64) std::byte bytes[kBlockBytes];
};

}  // namespace

double line_stream_per_s(CpuPair cpus, std::size_t ring_bytes, std::uint64_t lines) {
    const std::uint64_t slots = ring_bytes / sizeof(Line);
    Shared<Board> board;
    const auto ring = Shared<Line>::array(slots);
    ChildGroup group;
    group.start(cpus.first, [&] {
        touch_pages(ring.get(), ring_bytes);
        board->start.arrive_and_wait(2);
        produce_lines(*board, ring.get(), slots, lines);
    });
    group.start(cpus.second, [&] {
        touch_pages(ring.get(), ring_bytes);
        board->start.arrive_and_wait(2);
        const std::uint64_t from = ticks_now();
        consume_lines(*board, ring.get(), slots, lines);
        board->elapsed_ticks = ticks_now() - from;
    });
    group.wait();
    return static_cast<double>(lines) / ticks_to_s(board->elapsed_ticks);
}

double bulk_copy_bytes_per_s(CpuPair cpus, std::size_t ring_bytes, std::size_t block_bytes, std::uint64_t blocks) {
    if (block_bytes != kBlockBytes)
        throw std::invalid_argument("bulk copy is measured with blocks of 16 KiB");
    const std::uint64_t slots = ring_bytes / block_bytes;
    Shared<Board> board;
    const auto produced = Shared<std::atomic<std::uint64_t>>::array(16);
    const auto ring = Shared<Block>::array(slots);
    ChildGroup group;
    group.start(cpus.first, [&] {
        const auto block = std::make_unique<Block>();
        std::uint64_t known = 0;
        touch_pages(ring.get(), ring_bytes);
        board->start.arrive_and_wait(2);
        for (std::uint64_t i = 0; i < blocks; ++i) {
            Payload<kBlockBytes>::write(block->bytes, i);
            await_room(*board, i, slots, known);
            std::memcpy(ring.get()[i % slots].bytes, block->bytes, kBlockBytes);
            produced->store(i + 1, std::memory_order_release);
        }
    });
    group.start(cpus.second, [&] {
        const auto block = std::make_unique<Block>();
        PayloadCheck<kBlockBytes> check;
        touch_pages(ring.get(), ring_bytes);
        board->start.arrive_and_wait(2);
        const std::uint64_t from = ticks_now();
        for (std::uint64_t i = 0; i < blocks; ++i) {
            while (produced->load(std::memory_order_acquire) <= i) {
            }
            std::memcpy(block->bytes, ring.get()[i % slots].bytes, kBlockBytes);
            board->consumed.store(i + 1, std::memory_order_release);
            check(block->bytes, kBlockBytes);
        }
        board->elapsed_ticks = ticks_now() - from;
        check.expect_complete(blocks);
    });
    group.wait();
    return static_cast<double>(blocks * block_bytes) / ticks_to_s(board->elapsed_ticks);
}

double memcpy_bytes_per_s(int cpu, std::size_t span_bytes, std::uint64_t blocks) {
    Shared<Board> board;
    ChildGroup group;
    group.start(cpu, [&] {
        const auto block = std::make_unique<Block>();
        std::vector<std::byte> span(span_bytes, std::byte{1});
        const std::uint64_t from = ticks_now();
        for (std::uint64_t i = 0; i < blocks; ++i) {
            std::byte* to = span.data() + (i * kBlockBytes) % span_bytes;
            std::memcpy(to, block->bytes, kBlockBytes);
            asm volatile("" : : "r"(to) : "memory");  // the copy is wanted
        }
        board->elapsed_ticks = ticks_now() - from;
    });
    group.wait();
    return static_cast<double>(blocks * kBlockBytes) / ticks_to_s(board->elapsed_ticks);
}

}  // namespace ringmain::bench
