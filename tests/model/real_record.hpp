// Reference records as producers give them and as consumers get them.
#pragma once

#include <string>
#include <vector>

#include "model/reference_log.hpp"
#include "ringmain/record.hpp"

namespace ringmain::test {

/// Throws std::runtime_error unless it holds.
void require(bool holds, const std::string& what);

/// Keeps what a ProducerRecord refers to.
class RealRecord {
public:
    explicit RealRecord(ReferenceRecord record) : record_(std::move(record)) {
        for (const auto& [name, value] : record_.headers)
            headers_.push_back({name, bytes_of(value)});
    }
    RealRecord(const RealRecord& other) : RealRecord(other.record_) {}
    RealRecord& operator=(const RealRecord&) = delete;

    [[nodiscard]] ProducerRecord get() const {
        ProducerRecord real;
        real.value = bytes_of(record_.value);
        real.key = bytes_of(record_.key);
        real.headers = headers_;
        real.timestamp_ns = record_.timestamp_ns;
        return real;
    }

private:
    static OptionalBytes bytes_of(const Text& text) {
        if (!text)
            return std::nullopt;
        return as_bytes(*text);
    }

    ReferenceRecord record_;
    std::vector<Header> headers_;
};

[[nodiscard]] inline ReferenceRecord read_record(const ConsumerRecord& real) {
    const auto text_of = [](const OptionalBytes& bytes) { return bytes ? Text(std::string(as_text(*bytes))) : Text(); };
    ReferenceRecord record{text_of(real.key), text_of(real.value), {}, real.timestamp_ns};
    for (const Header& header : real.headers)
        record.headers.emplace_back(std::string(header.name), text_of(header.value));
    return record;
}

}  // namespace ringmain::test
