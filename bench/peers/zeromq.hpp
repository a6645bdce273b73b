// A peer: ZeroMQ, PUSH to PULL over its ipc transport.
#pragma once

#include <unistd.h>
#include <zmq.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/common/payload.hpp"
#include "bench/common/scratch.hpp"
#include "bench/common/shared.hpp"
#include "bench/peers/facts.hpp"

namespace ringmain::bench {

/// A context with one socket of its own; closing waits until what was sent has gone out.
class ZeromqSocket {
public:
    explicit ZeromqSocket(int type) : context_(zmq_ctx_new()), socket_(zmq_socket(context_, type)) {
        if (socket_ == nullptr)
            fail("zmq_socket");
    }
    ~ZeromqSocket() {
        zmq_close(socket_);
        zmq_ctx_term(context_);
    }
    ZeromqSocket(const ZeromqSocket&) = delete;
    ZeromqSocket& operator=(const ZeromqSocket&) = delete;

    [[nodiscard]] void* get() const noexcept { return socket_; }
    [[noreturn]] static void fail(const char* call) {
        throw std::runtime_error(std::string(call) + ": " + zmq_strerror(zmq_errno()));
    }

private:
    void* context_;
    void* socket_;
};

/// Default options. The library moves records by a thread of its own in each process. A sender stays until the receiver
/// has everything: a receiver at its high-water mark does not read what is left in the socket of a peer that has gone.
template <std::size_t kBytes>
class ZeromqLink {
public:
    static constexpr PeerFacts kFacts{"ZeroMQ ipc", "PUSH to PULL, default options, blocking receiver", 1.5e6, true};

    ZeromqLink() : address_("ipc://" + (directory_.path() / "zeromq").string()) {}

    class Sender {
    public:
        explicit Sender(ZeromqLink& link)
            : socket_(std::make_unique<ZeromqSocket>(ZMQ_PUSH)), received_(*link.received_) {
            if (zmq_connect(socket_->get(), link.address_.c_str()) != 0)
                ZeromqSocket::fail("zmq_connect");
        }
        void send(std::uint64_t sequence) {
            Payload<kBytes>::write(record_, sequence);
            if (zmq_send(socket_->get(), record_, kBytes, 0) < 0)
                ZeromqSocket::fail("zmq_send");
        }
        void flush() const noexcept {
            while (!received_.load(std::memory_order_acquire))
                ::usleep(1000);
        }

    private:
        std::unique_ptr<ZeromqSocket> socket_;
        const std::atomic<bool>& received_;
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(ZeromqLink& link)
            : socket_(std::make_unique<ZeromqSocket>(ZMQ_PULL)), received_(*link.received_) {
            const int patience_ms = 100;  // then it says that there was nothing
            zmq_setsockopt(socket_->get(), ZMQ_RCVTIMEO, &patience_ms, sizeof patience_ms);
            if (zmq_bind(socket_->get(), link.address_.c_str()) != 0)
                ZeromqSocket::fail("zmq_bind");
        }
        ~Receiver() { received_.store(true, std::memory_order_release); }
        Receiver(const Receiver&) = delete;
        Receiver& operator=(const Receiver&) = delete;
        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            for (std::uint64_t taken = 0; taken < max; ++taken) {
                const int bytes = zmq_recv(socket_->get(), record_, kBytes, taken == 0 ? 0 : ZMQ_DONTWAIT);
                if (bytes < 0 && zmq_errno() != EAGAIN)
                    ZeromqSocket::fail("zmq_recv");
                if (bytes < 0)
                    return taken;
                sink(record_, static_cast<std::size_t>(bytes));
            }
            return max;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        std::unique_ptr<ZeromqSocket> socket_;
        std::atomic<bool>& received_;
        alignas(64) std::byte record_[kBytes];
    };

    Sender sender(unsigned) { return Sender(*this); }
    Receiver receiver() { return Receiver(*this); }

private:
    ScratchDirectory directory_;
    std::string address_;
    Shared<std::atomic<bool>> received_;  // the receiver has ended
};

}  // namespace ringmain::bench
