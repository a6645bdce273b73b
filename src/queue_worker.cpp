// The public worker: a thin shell over its implementation.
#include "queue_worker_impl.hpp"
#include "ringmain/queue.hpp"
#include "ringmain/queue_admin.hpp"

namespace ringmain {

std::string_view to_string(Settled settled) noexcept {
    switch (settled) {
        case Settled::done: return "done";
        case Settled::lock_lost: return "lock_lost";
        case Settled::record_lost: return "record_lost";
        case Settled::reset: return "reset";
        case Settled::letters_full: return "letters_full";
        case Settled::unavailable: return "unavailable";
    }
    return "unknown";
}

QueueWorker::QueueWorker(const Broker& broker, std::string_view topic, std::string_view queue, const QueueWorkerOptions& options)
    : impl_(std::make_unique<Impl>(broker.impl(), topic, queue, options)) {}

QueueWorker::QueueWorker(const Broker& broker, std::string_view topic, std::string_view queue, const QueueOptions& create,
                         const QueueWorkerOptions& options) {
    QueueAdmin(broker).ensure(topic, queue, create);
    impl_ = std::make_unique<Impl>(broker.impl(), topic, queue, options);
}

QueueWorker::QueueWorker(QueueWorker&&) noexcept = default;
QueueWorker& QueueWorker::operator=(QueueWorker&&) noexcept = default;
QueueWorker::~QueueWorker() = default;

AcquireResult QueueWorker::acquire(std::size_t records_max, std::chrono::nanoseconds timeout) noexcept {
    return impl_->acquire(records_max, timeout);
}
SettleResult QueueWorker::ack(const Lock& lock) noexcept { return impl_->ack(lock); }
SettleResult QueueWorker::nack(const Lock& lock, std::optional<std::chrono::milliseconds> delay, std::string_view error) noexcept {
    return impl_->nack(lock, delay, error);
}
SettleResult QueueWorker::release(const Lock& lock) noexcept { return impl_->release(lock); }
SettleResult QueueWorker::reject(const Lock& lock, std::string_view error) noexcept { return impl_->reject(lock, error); }
SettleResult QueueWorker::renew(Lock& lock, std::optional<std::chrono::milliseconds> lock_time) noexcept {
    return impl_->renew(lock, lock_time);
}
std::size_t QueueWorker::ack(std::span<const QueueRecord> records, std::span<SettleResult> results) noexcept {
    return impl_->ack(records, results);
}

std::uint32_t QueueWorker::in_flight() const noexcept { return impl_->in_flight(); }
std::uint32_t QueueWorker::slot() const noexcept { return impl_->slot(); }
const std::string& QueueWorker::topic() const noexcept { return impl_->topic(); }
const std::string& QueueWorker::queue() const noexcept { return impl_->queue(); }
const QueueOptions& QueueWorker::options() const noexcept { return impl_->queue_options(); }

void QueueWorker::close() noexcept { impl_->close(); }

}  // namespace ringmain
