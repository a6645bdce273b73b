// A Redis server in a scratch directory on a Unix socket, and a connection to it.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/common/process.hpp"
#include "bench/common/scratch.hpp"

namespace ringmain::bench {

/// Starts with the object and is ended by its pid with it; it dies with this process as well.
class RedisServer {
public:
    /// Throws Skipped if no server is installed.
    RedisServer();
    ~RedisServer();
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    [[nodiscard]] std::string socket() const { return (directory_.path() / "redis.sock").string(); }

private:
    void await_answer() const;

    ScratchDirectory directory_;
    ChildGroup group_;
    pid_t server_ = -1;
};

class RedisClient {
public:
    struct FreeAnswer {
        void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
    };
    using Answer = std::unique_ptr<redisReply, FreeAnswer>;

    /// Throws std::runtime_error if it cannot connect.
    explicit RedisClient(const RedisServer& server);

    /// Adds a command to what is sent with the next answer().
    void append(std::initializer_list<std::string_view> words);
    /// Sends what was appended, and waits for the oldest answer. Throws std::runtime_error for an error.
    Answer answer();

private:
    struct Close {
        void operator()(redisContext* context) const noexcept { redisFree(context); }
    };
    std::unique_ptr<redisContext, Close> context_;
    std::vector<const char*> words_;
    std::vector<std::size_t> lengths_;
};

}  // namespace ringmain::bench
