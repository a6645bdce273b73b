// Which file system something is on, by statfs(2).
#include "platform/file_system.hpp"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace ringmain::platform {

namespace {

struct KnownType {
    std::uint64_t magic;
    const char* name;
    bool remote;
};

// From the kernel's headers and the man page of statfs.
constexpr std::array kKnownTypes = {
    KnownType{0x01021994, "tmpfs", false}, KnownType{0x958458f6, "hugetlbfs", false},
    KnownType{0xef53, "ext4", false},      KnownType{0x58465342, "xfs", false},
    KnownType{0x9123683e, "btrfs", false}, KnownType{0x794c7630, "overlay", false},
    KnownType{0x2fc12fc1, "zfs", false},   KnownType{0xf2f52010, "f2fs", false},
    KnownType{0x858458f6, "ramfs", false}, KnownType{0x6969, "nfs", true},
    KnownType{0xff534d42, "cifs", true},   KnownType{0xfe534d42, "smb2", true},
    KnownType{0x517b, "smb", true},        KnownType{0x00c36400, "ceph", true},
    KnownType{0x01021997, "9p", true},     KnownType{0x65735546, "fuse", true},
    KnownType{0x5346414f, "afs", true},    KnownType{0x0bd00bd0, "lustre", true},
    KnownType{0x01161970, "gfs2", true},   KnownType{0x7461636f, "ocfs2", true},
};

KnownType type_of(std::uint64_t magic) noexcept {
    const auto* const found = std::find_if(kKnownTypes.begin(), kKnownTypes.end(),
                                           [&](const KnownType& type) { return type.magic == magic; });
    return found != kKnownTypes.end() ? *found : KnownType{magic, nullptr, false};
}

std::string name_of(const KnownType& type) {
    if (type.name != nullptr)
        return type.name;
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(type.magic));
    return text.data();
}

}  // namespace

std::optional<FileSystem> file_system_of(const std::filesystem::path& path) noexcept {
    struct statfs status {};
    if (::statfs(path.c_str(), &status) != 0)
        return std::nullopt;
    const KnownType type = type_of(static_cast<std::uint32_t>(status.f_type));
    const auto block = static_cast<std::uint64_t>(status.f_frsize != 0 ? status.f_frsize : status.f_bsize);
    FileSystem found{name_of(type), type.remote, status.f_blocks * block, status.f_bavail * block, std::nullopt};
    if (status.f_files != 0)
        found.free_inodes = status.f_ffree;
    return found;
}

}  // namespace ringmain::platform
