// Subscriptions to streams: a runner whose handlers run elsewhere.
#include <memory>
#include <utility>

#include "push_impl.hpp"
#include "retry_runner_impl.hpp"

namespace ringmain {

namespace {

class StreamPush final : public Subscription::Impl {
public:
    StreamPush(const Broker& broker, std::string_view topic, const GroupOptions& group, const RetryOptions& retry,
               RetryHandler handler, const PushOptions& push)
        : Impl(*broker.impl()),
          handler_(std::move(handler)),
          runner_(broker.impl(), topic, group, retry, push.executor, push.executor ? push.max_in_flight : 1) {}
    ~StreamPush() override {
        if (!forked())
            stop();
    }

private:
    void run() override {
        const RunResult last = runner_.run(
            handler_, [this] { return stopping(); }, [this](const RunResult& one) { tell(one); }, kSleepMax);
        runner_.close();
        note([&](PushStatistics& told) {
            told.counts += runner_.last_counts();
            told.status = stopping() ? Status::ok : last.status;
            told.error = runner_.refusal();
        });
    }
    void wake() noexcept override { runner_.wake(); }

    void tell(const RunResult& one) {
        note([&](PushStatistics& told) {
            told.counts += one.counts;
            told.stopped_partitions = one.stopped.size();
        });
    }

    static constexpr std::chrono::milliseconds kSleepMax{250};
    RetryHandler handler_;
    RetryRunner::Impl runner_;
};

}  // namespace

Subscription subscribe(const Broker& broker, std::string_view topic, const GroupOptions& group,
                       const RetryOptions& retry, RetryHandler handler, const PushOptions& push) {
    check_push_options(push);
    auto impl = std::make_unique<StreamPush>(broker, topic, group, retry, std::move(handler), push);
    impl->start();
    return Subscription(std::move(impl));
}

}  // namespace ringmain
