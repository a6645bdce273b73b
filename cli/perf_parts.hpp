// What the measuring processes of `ringmain perf` have in common: a temporary topic, a record's content, checked
// answers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "bench/common/guardian.hpp"
#include "bench/common/ticks.hpp"
#include "perf_plan.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/record.hpp"
#include "ringmain/status.hpp"

namespace ringmain::cli::perf {

/// A topic with a name of its own, deleted again by the process that made it, or by a guardian if that is killed.
class TemporaryTopic {
public:
    TemporaryTopic(const Plan& plan, const std::string& purpose, std::uint32_t partitions);
    ~TemporaryTopic();
    TemporaryTopic(const TemporaryTopic&) = delete;
    TemporaryTopic& operator=(const TemporaryTopic&) = delete;
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
    Broker broker_;
    std::string name_;
    bench::Guardian guardian_;
};

/// Throws CommandError naming the status.
void expect_ok(Status status, const char* what);

/// The value of a record: when it was to be sent, its number, filler, and the number again in the last eight bytes.
class Value {
public:
    explicit Value(std::uint64_t bytes) : bytes_(bytes, std::byte{0x5a}) {}

    Bytes stamp(std::uint64_t ticks, std::uint64_t number) noexcept {
        std::memcpy(bytes_.data(), &ticks, sizeof ticks);
        std::memcpy(bytes_.data() + 8, &number, sizeof number);
        std::memcpy(bytes_.data() + bytes_.size() - 8, &number, sizeof number);
        return bytes_;
    }

private:
    std::vector<std::byte> bytes_;
};

struct Stamp {
    std::uint64_t ticks = 0;
    std::uint64_t number = 0;
};

/// Throws CommandError if the record is not one that was sent.
Stamp read_stamp(const ConsumerRecord& record, std::uint64_t size);

}  // namespace ringmain::cli::perf
