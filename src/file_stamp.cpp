// The stamp at the start of every file.
#include "file_stamp.hpp"

#include <array>
#include <cstdio>
#include <string>

#include "layout/fingerprint.hpp"
#include "platform/clock.hpp"
#include "platform/process.hpp"
#include "ringmain/error.hpp"

namespace ringmain {

namespace {

layout::FileHeader& header_of(const platform::Mapping& file) noexcept {
    return *reinterpret_cast<layout::FileHeader*>(file.data());
}

std::string hex(std::uint64_t value) {
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
    return text.data();
}

[[noreturn]] void refuse(ErrorCode code, const std::filesystem::path& path, const std::string& what) {
    throw Error(code, path.string(), "'" + path.string() + "' " + what);
}

// The version goes before everything else that another version may mean differently.
void check_version(const layout::FileHeader& header, const std::filesystem::path& path) {
    if (header.magic != layout::kMagic)
        refuse(ErrorCode::corrupt, path, "is not a file of Ringmain (no magic number)");
    const std::uint32_t version = header.layout_version;
    const std::uint64_t fingerprint = header.fingerprint;
    if (version == layout::kLayoutVersion && fingerprint == layout::fingerprint())
        return;
    refuse(ErrorCode::version_mismatch, path,
           "has layout version " + std::to_string(version) + " (fingerprint " + hex(fingerprint) +
               "), this library has layout version " + std::to_string(layout::kLayoutVersion) + " (fingerprint " +
               hex(layout::fingerprint()) + ")");
}

}  // namespace

void write_stamp(const platform::Mapping& file, layout::FileKind kind, const TopicId& topic) noexcept {
    layout::FileHeader& header = header_of(file);
    header.magic = layout::kMagic;
    header.layout_version = layout::kLayoutVersion;
    header.kind = static_cast<std::uint32_t>(kind);
    header.fingerprint = layout::fingerprint();
    header.file_bytes = file.size();
    header.topic_id = topic;
    header.created_ns = static_cast<std::uint64_t>(platform::realtime_ns());
    header.creator_pid = platform::this_process().pid;
}

void mark_ready(const platform::Mapping& file) noexcept {
    header_of(file).ready.store(layout::kReady, std::memory_order_release);  // release READY: everything in the file
}

bool has_stamp(const platform::Mapping& file, layout::FileKind kind, const TopicId& topic) noexcept {
    const layout::FileHeader& header = header_of(file);
    return header.magic == layout::kMagic && header.layout_version == layout::kLayoutVersion &&
           header.kind == static_cast<std::uint32_t>(kind) && header.topic_id == topic && header.file_bytes == file.size();
}

TopicId check_stamp(const platform::Mapping& file, const std::filesystem::path& path, layout::FileKind kind) {
    if (file.size() < sizeof(layout::FileHeader)) {
        refuse(ErrorCode::corrupt, path, "has " + std::to_string(file.size()) + " bytes, less than a file header");
    }
    const layout::FileHeader& header = header_of(file);
    check_version(header, path);
    const std::uint32_t ready = header.ready.load(std::memory_order_acquire);  // acquire READY
    if (ready == 0)
        refuse(ErrorCode::not_ready, path, "is not complete yet");
    if (ready != layout::kReady)
        refuse(ErrorCode::corrupt, path, "has a damaged ready word");
    if (header.kind != static_cast<std::uint32_t>(kind)) {
        refuse(ErrorCode::corrupt, path,
               "is a file of kind " + std::to_string(header.kind) + ", not " +
                   std::to_string(static_cast<std::uint32_t>(kind)));
    }
    if (header.file_bytes != file.size()) {
        refuse(ErrorCode::corrupt, path,
               "should have " + std::to_string(header.file_bytes) + " bytes and has " + std::to_string(file.size()));
    }
    return header.topic_id;
}

void check_stamp(const platform::Mapping& file, const std::filesystem::path& path, layout::FileKind kind, const TopicId& topic) {
    const TopicId found = check_stamp(file, path, kind);
    if (found != topic)
        refuse(ErrorCode::corrupt, path, "belongs to topic id " + to_string(found) + ", not " + to_string(topic));
}

}  // namespace ringmain
