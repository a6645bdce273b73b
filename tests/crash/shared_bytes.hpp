// Memory that a process shares with the children it forks, and whose content can be put back to what it was.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

namespace ringmain::crash {

class SharedBytes {
public:
    explicit SharedBytes(std::size_t bytes) : bytes_(bytes) {
        void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        if (mapped == MAP_FAILED)
            throw std::bad_alloc();
        base_ = static_cast<std::byte*>(mapped);
    }
    ~SharedBytes() { ::munmap(base_, bytes_); }
    SharedBytes(const SharedBytes&) = delete;
    SharedBytes& operator=(const SharedBytes&) = delete;

    [[nodiscard]] std::byte* data() const noexcept { return base_; }

    void remember() { image_.assign(base_, base_ + bytes_); }
    void restore() noexcept { std::memcpy(base_, image_.data(), bytes_); }

private:
    std::size_t bytes_;
    std::byte* base_ = nullptr;
    std::vector<std::byte> image_;
};

}  // namespace ringmain::crash
