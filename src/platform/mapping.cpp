// Files and their mapping into memory; the one place that uses Boost.Interprocess.
#include "platform/mapping.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <string>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/system_failure.hpp"
#include "ringmain/error.hpp"

namespace ringmain::platform {

namespace {

namespace bip = boost::interprocess;

// Boost's MemoryMappable over a descriptor of our own: its file_mapping opens without O_CLOEXEC, and a FIFO in the
// place of the file would hang it.
class MappableFile {
public:
    MappableFile(int fd, bip::mode_t mode) noexcept : fd_(fd), mode_(mode) {}
    [[nodiscard]] bip::mapping_handle_t get_mapping_handle() const {
        return bip::ipcdetail::mapping_handle_from_file_handle(fd_);
    }
    [[nodiscard]] bip::mode_t get_mode() const { return mode_; }

private:
    int fd_;
    bip::mode_t mode_;
};

struct stat status_of(const Descriptor& file, const std::filesystem::path& path) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0)
        throw system_failure("look at", path, errno);
    return status;
}

void check_shape(const struct stat& status, const std::filesystem::path& path, std::uint64_t bytes_min) {
    if (!S_ISREG(status.st_mode)) {
        throw Error(ErrorCode::corrupt, path.string(), "'" + path.string() + "' is not a regular file");
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);
    // An empty file cannot be mapped at all, whatever the caller would make of it.
    if (const std::uint64_t least = std::max<std::uint64_t>(bytes_min, 1); size < least) {
        throw Error(ErrorCode::corrupt, path.string(),
                    "'" + path.string() + "' has " + std::to_string(size) + " bytes, at least " +
                        std::to_string(least) + " are needed");
    }
}

}  // namespace

struct Mapping::Region {
    explicit Region(bip::mapped_region mapped)
        : region(std::move(mapped)), guarded(static_cast<std::byte*>(region.get_address()), region.get_size()) {}
    bip::mapped_region region;
    GuardedRange guarded;  // after the region, so that it ends before it
};

Mapping::Mapping() noexcept = default;
Mapping::~Mapping() = default;

Mapping::Mapping(const std::filesystem::path& path, Access access, std::uint64_t bytes_min) {
    const bool writable = access == Access::read_write;
    const Descriptor file = open_file(path, (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW);
    const struct stat status = status_of(file, path);
    check_shape(status, path, bytes_min);

    const bip::mode_t mode = writable ? bip::read_write : bip::read_only;
    const auto bytes = static_cast<std::size_t>(status.st_size);
    try {
        region_ = std::make_unique<Region>(bip::mapped_region(MappableFile(file.get(), mode), mode, 0, bytes));
    } catch (const bip::interprocess_exception& failure) {
        throw system_failure("map", path, failure.get_native_error());
    }
    data_ = static_cast<std::byte*>(region_->region.get_address());
    size_ = bytes;
    identity_ = {status.st_dev, status.st_ino};
}

bool Mapping::truncated() const noexcept { return region_ && region_->guarded.replaced(); }

void Mapping::on_truncation(Replacement call, void* object) const noexcept {
    if (region_)
        region_->guarded.on_replacement(call, object);
}

Mapping::Mapping(Mapping&& other) noexcept
    : region_(std::move(other.region_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      identity_(std::exchange(other.identity_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        region_ = std::move(other.region_);
        data_ = std::exchange(other.data_, nullptr);
        size_ = std::exchange(other.size_, 0);
        identity_ = std::exchange(other.identity_, {});
    }
    return *this;
}

}  // namespace ringmain::platform
