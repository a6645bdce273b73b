// Histories in mapped files.
#include "journal.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace ringmain::nemesis {

namespace {

std::string file_name(Role role, std::uint32_t index, std::uint32_t life) {
    return std::to_string(life) + "-" + std::to_string(static_cast<int>(role)) + "-" + std::to_string(index) + "-" +
           to_string(role);
}

std::byte* map(int descriptor, std::size_t bytes, int protection) {
    void* const at = ::mmap(nullptr, bytes, protection, MAP_SHARED, descriptor, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

[[noreturn]] void fail(const std::filesystem::path& path) {
    throw std::runtime_error("cannot map the history " + path.string());
}

}  // namespace

std::uint64_t now_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

MappedFile MappedFile::create(const std::filesystem::path& path, std::size_t bytes) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    std::byte* data = nullptr;
    if (descriptor >= 0 && ::ftruncate(descriptor, static_cast<off_t>(bytes)) == 0)
        data = map(descriptor, bytes, PROT_READ | PROT_WRITE);
    ::close(descriptor);
    if (data == nullptr)
        fail(path);
    return {data, bytes};
}

MappedFile MappedFile::open(const std::filesystem::path& path) {
    const std::size_t bytes = std::filesystem::file_size(path);
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::byte* const data = descriptor >= 0 && bytes != 0 ? map(descriptor, bytes, PROT_READ) : nullptr;
    ::close(descriptor);
    if (data == nullptr)
        fail(path);
    return {data, bytes};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

MappedFile::~MappedFile() {
    if (data_ != nullptr)
        ::munmap(data_, bytes_);
}

Journal::Journal(const std::filesystem::path& directory, Role role, std::uint32_t index, std::uint32_t life,
                 std::size_t events_max)
    : file_(MappedFile::create(directory / file_name(role, index, life), events_max * sizeof(Event))),
      events_max_(events_max),
      life_(life) {}

void Journal::note(Event event) noexcept {
    if (count_ == events_max_)
        return;
    Event* const place = reinterpret_cast<Event*>(file_.data()) + count_++;
    const Event::Kind kind = std::exchange(event.kind, Event::Kind::none);
    if (event.time == 0)
        event.time = now_ns();
    *place = event;
    // The kind last: an event whose process was killed on the way is none. Nobody reads before the process is gone.
    std::atomic_signal_fence(std::memory_order_release);
    place->kind = kind;
}

Histories::Histories(const std::filesystem::path& directory) {
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        unsigned life = 0;
        unsigned role = 0;
        unsigned index = 0;
        if (std::sscanf(entry.path().filename().c_str(), "%u-%u-%u", &life, &role, &index) != 3 ||
            entry.file_size() == 0)
            continue;
        files_.push_back(MappedFile::open(entry.path()));
        const std::span all(reinterpret_cast<const Event*>(files_.back().data()), files_.back().size() / sizeof(Event));
        const auto end = std::partition_point(all.begin(), all.end(),
                                              [](const Event& event) { return event.kind != Event::Kind::none; });
        all_.push_back({life, static_cast<Role>(role), index, all.first(static_cast<std::size_t>(end - all.begin()))});
    }
    std::sort(all_.begin(), all_.end(), [](const History& a, const History& b) { return a.life < b.life; });
}

void keep_histories(const std::vector<History>& histories, const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    for (const History& one : histories) {
        std::ofstream file(directory / file_name(one.role, one.index, one.life), std::ios::binary);
        file.write(reinterpret_cast<const char*>(one.events.data()),
                   static_cast<std::streamsize>(one.events.size_bytes()));
    }
}

}  // namespace ringmain::nemesis
