// The public runner: a thin shell over its implementation.
#include "retry_runner_impl.hpp"

namespace ringmain {

namespace {

constexpr std::chrono::milliseconds kStopEvery{
    20};  // how often a run that has nothing to do asks whether it should stop

}  // namespace

std::string_view to_string(StopReason reason) noexcept {
    switch (reason) {
        case StopReason::letters_full:
            return "letters_full";
        case StopReason::letters_gone:
            return "letters_gone";
        case StopReason::exhausted:
            return "exhausted";
        case StopReason::position_lost:
            return "position_lost";
    }
    return "unknown";
}

RunCounts& RunCounts::operator+=(const RunCounts& other) noexcept {
    handled += other.handled;
    succeeded += other.succeeded;
    failed += other.failed;
    dead_lettered += other.dead_lettered;
    skipped += other.skipped;
    died += other.died;
    late += other.late;
    lost += other.lost;
    return *this;
}

RetryRunner::RetryRunner(const Broker& broker, std::string_view topic, const GroupOptions& group,
                         const RetryOptions& options)
    : impl_(std::make_unique<Impl>(broker.impl(), topic, group, options)) {}
RetryRunner::RetryRunner(RetryRunner&&) noexcept = default;
RetryRunner& RetryRunner::operator=(RetryRunner&&) noexcept = default;
RetryRunner::~RetryRunner() = default;

RunResult RetryRunner::run_once(const RetryHandler& handler, std::chrono::nanoseconds timeout) {
    return impl_->run_once(handler, timeout);
}
RunResult RetryRunner::run(const RetryHandler& handler, const std::function<bool()>& stop,
                           const std::function<void(const RunResult&)>& each) {
    return impl_->run(handler, stop, each, kStopEvery);
}
const std::string& RetryRunner::topic() const noexcept { return impl_->topic(); }
const std::string& RetryRunner::group() const noexcept { return impl_->group(); }
const RetryOptions& RetryRunner::options() const noexcept { return impl_->options(); }
std::span<const std::uint32_t> RetryRunner::partitions() const noexcept { return impl_->partitions(); }
void RetryRunner::close() noexcept { impl_->close(); }

}  // namespace ringmain
