// A peer: a Redis stream on a server of its own: XADD in pipelines, XREAD BLOCK.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "bench/common/payload.hpp"
#include "bench/peers/facts.hpp"
#include "bench/peers/redis_server.hpp"

namespace ringmain::bench {

/// `kPipeline`: how many XADD are sent before their answers are read. Nothing is trimmed and nothing goes to disk.
template <std::size_t kBytes, unsigned kPipeline>
class RedisStreamLink {
public:
    static constexpr PeerFacts kFacts{"Redis stream", "XADD in pipelines of 64 (round trips: one), XREAD BLOCK", 0.25e6,
                                      true};

    class Sender {
    public:
        explicit Sender(const RedisServer& server) : client_(server) {}
        void send(std::uint64_t sequence) {
            Payload<kBytes>::write(record_, sequence);
            client_.append({"XADD", "records", "*", "d", {reinterpret_cast<const char*>(record_), kBytes}});
            if (++waiting_ == kPipeline)
                flush();
        }
        /// Reads the answers that are still to come.
        void flush() {
            for (; waiting_ > 0; --waiting_)
                client_.answer();
        }

    private:
        RedisClient client_;
        unsigned waiting_ = 0;
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(const RedisServer& server) : client_(server) {}
        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            client_.append({"XREAD", "COUNT", std::to_string(max), "BLOCK", "100", "STREAMS", "records", last_id_});
            const RedisClient::Answer answer = client_.answer();
            if (answer->type != REDIS_REPLY_ARRAY)
                return 0;  // nothing came within the 100 ms
            const redisReply& entries = *answer->element[0]->element[1];
            for (std::size_t i = 0; i < entries.elements; ++i) {
                const redisReply& entry = *entries.element[i];
                const redisReply& value = *entry.element[1]->element[1];
                std::memcpy(record_, value.str, std::min(value.len, kBytes));
                sink(record_, value.len);
                last_id_.assign(entry.element[0]->str, entry.element[0]->len);
            }
            return entries.elements;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        RedisClient client_;
        std::string last_id_ = "0";
        alignas(64) std::byte record_[kBytes];
    };

    Sender sender(unsigned) { return Sender(server_); }
    Receiver receiver() { return Receiver(server_); }
    [[nodiscard]] const RedisServer& server() const noexcept { return server_; }

private:
    RedisServer server_;
};

}  // namespace ringmain::bench
