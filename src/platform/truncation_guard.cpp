// Surviving the truncation of mapped files: SIGBUS in one of the library's own mappings ends nobody.
//
// A page that lies beyond the end of its file raises SIGBUS when it is touched. What is replaced is always the whole
// mapping, and in one step: nobody then believes half of a file, the pieces of huge pages need no thought, and whoever
// uses the mapping finds in it what the owner of the range put there to say so.
#include "platform/truncation_guard.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <mutex>

#include "platform/system_failure.hpp"
#include "ringmain/error.hpp"

namespace ringmain::platform {

struct GuardedRange::Slot {
    std::atomic<std::uintptr_t> begin{0};  // kFree, kTaken, or where the mapping begins; stored last
    std::atomic<std::uintptr_t> end{0};
    std::atomic<Replacement> call{nullptr};
    std::atomic<void*> object{nullptr};
    std::atomic<std::uint32_t> replacements{0};
};

namespace {

using Slot = GuardedRange::Slot;

constexpr std::uintptr_t kFree = 0;
constexpr std::uintptr_t kTaken = 1;
// Threads that touched the mapping at the same moment may each replace it. More than that, and replacing does not help.
constexpr std::uint32_t kReplacementsMax = 256;

// Blocks of slots, each twice as long as the one before; none is ever given back, so that a handler may walk them at
// any time.
constexpr std::size_t kFirstBlock = 256;
constexpr std::size_t kBlocks = 20;
constinit std::array<Slot, kFirstBlock> g_first{};
constinit std::array<std::atomic<Slot*>, kBlocks> g_blocks{};
constinit std::atomic<std::size_t> g_hint{0};  // where a free slot may be

static_assert(std::atomic<std::uintptr_t>::is_always_lock_free && std::atomic<Replacement>::is_always_lock_free);

constexpr std::size_t length_of(std::size_t block) noexcept { return kFirstBlock << block; }
constexpr std::size_t first_of(std::size_t block) noexcept { return kFirstBlock * ((std::size_t{1} << block) - 1); }

// Null: there is no such block yet.
Slot* slots_of(std::size_t block) noexcept {
    return block == 0 ? g_first.data() : g_blocks[block].load(std::memory_order_acquire);  // acquire: its slots
}

// Null: all of the block are in use.
Slot* take_in(std::size_t block, std::size_t from) noexcept {
    Slot* const slots = slots_of(block);
    for (std::size_t i = from; i < length_of(block); ++i) {
        std::uintptr_t seen = kFree;
        // lost: another thread's; a slot that was freed and taken again is as good as another, so ABA does no harm
        if (slots[i].begin.load(std::memory_order_relaxed) == kFree &&
            slots[i].begin.compare_exchange_strong(seen, kTaken, std::memory_order_acq_rel)) {
            g_hint.store(first_of(block) + i + 1, std::memory_order_relaxed);  // relaxed: a hint
            return &slots[i];
        }
    }
    return nullptr;
}

void add_block(std::size_t block) {
    auto fresh = std::make_unique<Slot[]>(length_of(block));
    Slot* none = nullptr;
    // release: its slots; lost: another thread made it, which serves as well
    if (g_blocks[block].compare_exchange_strong(none, fresh.get(), std::memory_order_acq_rel))
        (void)fresh.release();
}

Slot* take_slot() {
    const std::size_t hint = g_hint.load(std::memory_order_relaxed);  // relaxed: a hint
    for (const bool from_hint : {true, false}) {
        for (std::size_t block = 0; block < kBlocks && slots_of(block) != nullptr; ++block) {
            const std::size_t first = first_of(block);
            if (from_hint && hint >= first + length_of(block))
                continue;
            if (Slot* const slot = take_in(block, from_hint && hint > first ? hint - first : 0))
                return slot;
        }
    }
    for (std::size_t block = 1; block < kBlocks; ++block) {
        if (slots_of(block) != nullptr)
            continue;
        add_block(block);
        if (Slot* const slot = take_in(block, 0))
            return slot;
    }
    throw std::bad_alloc();  // the kernel gives out no such number of mappings
}

std::uintptr_t page_bytes() noexcept {
    static const auto bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    return bytes;
}

// --- in the handler: nothing but loads, stores and system calls from here on ---

Slot* find(std::uintptr_t address) noexcept {
    for (std::size_t block = 0; block < kBlocks; ++block) {
        Slot* const slots = slots_of(block);
        if (slots == nullptr)
            return nullptr;
        for (std::size_t i = 0; i < length_of(block); ++i) {
            const std::uintptr_t begin =
                slots[i].begin.load(std::memory_order_acquire);  // acquire: the rest of the slot
            // relaxed: ordered by the load before; the touched mapping is not taken away while it is touched
            if (begin > kTaken && address >= begin && address < slots[i].end.load(std::memory_order_relaxed))
                return &slots[i];
        }
    }
    return nullptr;
}

bool replace(Slot& slot) noexcept {
    // relaxed throughout: one thread at a time uses a mapping, and this is that thread
    if (slot.replacements.fetch_add(1, std::memory_order_relaxed) >= kReplacementsMax)
        return false;
    auto* const begin = reinterpret_cast<std::byte*>(slot.begin.load(std::memory_order_relaxed));
    const std::size_t bytes = slot.end.load(std::memory_order_relaxed) - slot.begin.load(std::memory_order_relaxed);
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    if (const Replacement call = slot.call.load(std::memory_order_relaxed))
        call(static_cast<std::byte*>(memory), bytes, slot.object.load(std::memory_order_relaxed));
    if (::mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, begin) != MAP_FAILED)
        return true;
    ::munmap(memory, bytes);
    return false;
}

struct sigaction g_previous {};

// What would have happened without the guard. By default that is an end with a core: the instruction runs once more and
// finds nobody.
void pass_on(int signal, siginfo_t* info, void* context) noexcept {
    const bool raised = info->si_code <= 0;  // by a process, not by an instruction
    if ((g_previous.sa_flags & SA_SIGINFO) != 0) {
        g_previous.sa_sigaction(signal, info, context);
    } else if (g_previous.sa_handler == SIG_IGN && raised) {
        return;
    } else if (g_previous.sa_handler != SIG_DFL && g_previous.sa_handler != SIG_IGN) {
        g_previous.sa_handler(signal);
    } else {
        struct sigaction plain {};
        plain.sa_handler = SIG_DFL;
        ::sigaction(signal, &plain, nullptr);
        if (raised)
            ::raise(signal);  // blocked in here: delivered on the way out
    }
}

void on_bus_error(int signal, siginfo_t* info, void* context) noexcept {
    const int before = errno;
    Slot* const slot = info->si_code == BUS_ADRERR ? find(reinterpret_cast<std::uintptr_t>(info->si_addr)) : nullptr;
    if (slot == nullptr || !replace(*slot))
        pass_on(signal, info, context);
    errno = before;
}

}  // namespace

GuardedRange::GuardedRange(std::byte* data, std::uint64_t bytes) : slot_(take_slot()) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    const std::uintptr_t page = page_bytes();
    // relaxed: whoever finds the slot has loaded `begin`
    slot_->end.store(begin + (bytes + page - 1) / page * page, std::memory_order_relaxed);
    slot_->call.store(nullptr, std::memory_order_relaxed);
    slot_->object.store(nullptr, std::memory_order_relaxed);
    slot_->replacements.store(0, std::memory_order_relaxed);
    slot_->begin.store(begin, std::memory_order_release);
}

GuardedRange::~GuardedRange() { slot_->begin.store(kFree, std::memory_order_release); }

bool GuardedRange::replaced() const noexcept {
    return slot_->replacements.load(std::memory_order_relaxed) != 0;  // relaxed: nothing is published by it
}

void GuardedRange::on_replacement(Replacement call, void* object) noexcept {
    // relaxed: the handler runs in this thread; never the call of one with the object of another
    slot_->call.store(nullptr, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // seq_cst: the compiler keeps the order, towards the handler
    slot_->object.store(object, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // seq_cst: as above
    slot_->call.store(call, std::memory_order_relaxed);
}

void install_truncation_guard() {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    struct sigaction now {};
    if (::sigaction(SIGBUS, nullptr, &now) != 0)
        throw Error(ErrorCode::io, "SIGBUS", "SIGBUS: its handler cannot be asked for", errno);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &on_bus_error)
        return;
    g_previous = now;  // before anybody can need it
    struct sigaction guard {};
    guard.sa_sigaction = &on_bus_error;
    guard.sa_flags = SA_SIGINFO | SA_ONSTACK;
    if (::sigaction(SIGBUS, &guard, nullptr) != 0)
        throw Error(ErrorCode::io, "SIGBUS", "SIGBUS: its handler cannot be installed", errno);
}

}  // namespace ringmain::platform
