// Every shared byte of a topic's `topic.meta`: its identity and its options. One page.
//
//   0            64
//   +------------+------------------------------------------------------------+
//   | FileHeader | TopicMeta                                                  |
//   +------------+------------------------------------------------------------+
//   written once, before the topic's directory gets its name; afterwards change only
//     state        0 live -> deleter                                                     TOPIC_STATE
//     retention_*  whoever may write the topic, at any time; keepers look at each step. Each limit stands for itself, so that
//                  they are relaxed: who dies between two of them leaves some of the old ones
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "layout/file_header.hpp"

namespace ringmain::layout {

struct TopicMeta {
    std::uint32_t partitions;
    std::uint32_t cell_bytes;
    std::uint64_t records;
    std::uint64_t payload_bytes;
    std::uint64_t first_offset;
    std::uint32_t producer_slots;
    std::uint32_t when_full;           // 0 overwrite, 1 block
    std::atomic<std::uint64_t> state;  // 0 live; otherwise deleted: incarnation << 32 | client slot + 1 of the deleter
    std::uint32_t type_size;
    std::uint32_t type_alignment;
    std::uint16_t name_length;
    std::uint16_t type_name_length;
    std::uint16_t groups;
    std::uint16_t members;
    std::array<char, 256> name;
    std::array<char, 128> type_name;
    std::atomic<std::uint64_t> retention_age_ms;   // 0: no limit
    std::atomic<std::uint64_t> retention_records;  // per partition; 0: no limit
    std::atomic<std::uint64_t> retention_bytes;    // of keys, values and headers, per partition; 0: no limit
};
static_assert(sizeof(TopicMeta) == 472);
static_assert(offsetof(TopicMeta, partitions) == 0);
static_assert(offsetof(TopicMeta, cell_bytes) == 4);
static_assert(offsetof(TopicMeta, records) == 8);
static_assert(offsetof(TopicMeta, payload_bytes) == 16);
static_assert(offsetof(TopicMeta, first_offset) == 24);
static_assert(offsetof(TopicMeta, producer_slots) == 32);
static_assert(offsetof(TopicMeta, when_full) == 36);
static_assert(offsetof(TopicMeta, state) == 40);
static_assert(offsetof(TopicMeta, type_size) == 48);
static_assert(offsetof(TopicMeta, type_alignment) == 52);
static_assert(offsetof(TopicMeta, name_length) == 56);
static_assert(offsetof(TopicMeta, type_name_length) == 58);
static_assert(offsetof(TopicMeta, groups) == 60);
static_assert(offsetof(TopicMeta, members) == 62);
static_assert(offsetof(TopicMeta, name) == 64);
static_assert(offsetof(TopicMeta, type_name) == 320);
static_assert(offsetof(TopicMeta, retention_age_ms) == 448);
static_assert(offsetof(TopicMeta, retention_records) == 456);
static_assert(offsetof(TopicMeta, retention_bytes) == 464);

inline constexpr std::uint64_t kTopicMetaAt = sizeof(FileHeader);
inline constexpr std::uint64_t kTopicFileBytes = 4096;
static_assert(kTopicMetaAt + sizeof(TopicMeta) <= kTopicFileBytes);

}  // namespace ringmain::layout
