// One partition, a named producer that is stopped or killed, plain producers that go on, and successors of the name.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "crash/step_ledger.hpp"
#include "crash/step_world.hpp"
#include "partition_log/named_publisher.hpp"
#include "recovery/named_attachment.hpp"

namespace ringmain::crash {

inline constexpr std::uint64_t kNameId = 0x1234'5678'9abc'def1;

/// How the named producer publishes.
struct NamedShape {
    bool block = false;
    bool exclusive = false;
    std::size_t value_bytes = 16;
    std::uint32_t records = 1;      // in the operation
    std::uint32_t before = 21;      // named records before it, with as many plain ones between them if shared
    std::uint64_t first_offset = 0;
};

struct NamedProducer {
    std::uint64_t owner = 0;
    recovery::Attached slot;
    std::uint32_t entry = 0;
    std::optional<partition_log::SharedPublisher<Host>> shared;
    std::optional<partition_log::ExclusivePublisher<Host>> exclusive;
    std::optional<partition_log::NamedPublisher<Host>> named;
    std::string value;
    std::array<std::byte, layout::kStampBytes> stamp{};
};

/// Copies share the memory and have everything else for themselves.
struct NamedStage {
    NamedStage(std::byte* base, const NamedShape& wanted);

    NamedShape shape;
    Log log;
    std::atomic<std::uint32_t>* done;
    std::vector<std::uint64_t> dead;
    NamedProducer victim;
    std::optional<partition_log::SharedPublisher<Host>> plain;
    recovery::Attached plain_slot;
    std::uint64_t last = 0;  // the newest sequence that was ever committed, by what the cells showed

    [[nodiscard]] static std::size_t bytes(const NamedShape& shape);
    [[nodiscard]] IsDead is_dead() const noexcept { return {&dead}; }

    recovery::NameOutcome attach(NamedProducer& who, std::uint32_t client);
    void attach_plain();
    Status publish(NamedProducer& who, std::uint64_t sequence);
    /// The plain producer publishes; never refused, or `publish_plain` is false.
    bool publish_plain(std::uint64_t records);
    /// Looks at every cell, before anybody else uses it again.
    void look();
    /// Counts what does not agree: a successor must know the last sequence, refuse it, and publish the next one.
    [[nodiscard]] std::uint64_t wrong_successor(std::uint32_t client);
};

[[nodiscard]] test::PlainShape plain_shape(const NamedShape& shape);

}  // namespace ringmain::crash
