// Starting, awaiting and ending the server; the calls of hiredis.
#include "bench/peers/redis_server.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "bench/common/contest.hpp"

namespace ringmain::bench {
namespace {

constexpr auto kStartPatience = std::chrono::seconds(10);

/// Debian's redis-tools has the server's program under the name of a tool; redis-server only adds a link and a service
/// that would start at once. The program goes by the name it is called by.
constexpr std::array kPrograms = {"/usr/bin/redis-server", "/usr/bin/redis-check-rdb"};

const char* server_program() {
    for (const char* program : kPrograms) {
        if (::access(program, X_OK) == 0)
            return program;
    }
    throw Skipped("redis-server is not installed (Debian: redis-tools)");
}

[[noreturn]] void become_server(const char* program, const std::string& directory, const std::string& socket) {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(nothing, STDOUT_FILENO);
    ::execl(program, "redis-server", "--port", "0", "--unixsocket", socket.c_str(), "--dir", directory.c_str(),
            "--save", "", "--appendonly", "no", "--daemonize", "no", static_cast<char*>(nullptr));
    throw std::runtime_error(std::string("cannot start ") + program);
}

}  // namespace

RedisServer::RedisServer() {
    const char* program = server_program();
    server_ = group_.start(-1, [this, program] { become_server(program, directory_.path().string(), socket()); });
    await_answer();
}

RedisServer::~RedisServer() { group_.end(server_); }

void RedisServer::await_answer() const {
    const auto until = std::chrono::steady_clock::now() + kStartPatience;
    for (;;) {
        redisContext* context = redisConnectUnix(socket().c_str());
        const bool connected = context != nullptr && context->err == 0;
        redisFree(context);
        if (connected)
            return;
        if (std::chrono::steady_clock::now() > until)
            throw Skipped("redis-server did not answer within 10 s");
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

RedisClient::RedisClient(const RedisServer& server) : context_(redisConnectUnix(server.socket().c_str())) {
    if (!context_ || context_->err != 0)
        throw std::runtime_error("cannot connect to redis-server");
}

void RedisClient::append(std::initializer_list<std::string_view> words) {
    words_.clear();
    lengths_.clear();
    for (const std::string_view word : words) {
        words_.push_back(word.data());
        lengths_.push_back(word.size());
    }
    redisAppendCommandArgv(context_.get(), static_cast<int>(words_.size()), words_.data(), lengths_.data());
}

RedisClient::Answer RedisClient::answer() {
    void* reply = nullptr;
    if (redisGetReply(context_.get(), &reply) != REDIS_OK)
        throw std::runtime_error(std::string("redis-server: ") + context_->errstr);
    Answer answer(static_cast<redisReply*>(reply));
    if (answer->type == REDIS_REPLY_ERROR)
        throw std::runtime_error(std::string("redis-server: ") + answer->str);
    return answer;
}

}  // namespace ringmain::bench
