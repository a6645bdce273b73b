// The public consumer: a thin shell over its implementation.
#include "ringmain/consumer.hpp"

#include "consumer_impl.hpp"

namespace ringmain {

Consumer::Consumer(const Broker& broker, const ConsumerOptions& options)
    : impl_(std::make_unique<Impl>(broker.impl(), options)) {}
Consumer::Consumer(Consumer&&) noexcept = default;
Consumer& Consumer::operator=(Consumer&&) noexcept = default;
Consumer::~Consumer() = default;

Consumer::Consumer(const Broker& broker, const GroupOptions& group, const ConsumerOptions& options)
    : impl_(std::make_unique<Impl>(broker.impl(), group, options)) {}

void Consumer::subscribe(std::string_view topic) { impl_->subscribe(topic); }
void Consumer::unsubscribe(std::string_view topic) { impl_->unsubscribe(topic); }
CommitResult Consumer::commit() noexcept { return impl_->commit(); }
CommitResult Consumer::commit(std::span<const ConsumerRecord> records) noexcept { return impl_->commit(records); }
CommitResult Consumer::commit(std::span<const PartitionOffset> offsets) noexcept { return impl_->commit(offsets); }
SeekResult Consumer::replay(std::string_view topic, std::uint32_t partition, Position to) { return impl_->replay(topic, partition, to); }
std::vector<TopicPartition> Consumer::assignment() const { return impl_->assignment(); }
std::optional<std::uint64_t> Consumer::committed(std::string_view topic, std::uint32_t partition) const { return impl_->committed(topic, partition); }
CommitResult Consumer::close() noexcept { return impl_->close(); }

void Consumer::assign(std::string_view topic, Position from) { impl_->assign(topic, from); }
void Consumer::assign(std::string_view topic, std::uint32_t partition, Position from) { impl_->assign(topic, partition, from); }
void Consumer::unassign(std::string_view topic, std::uint32_t partition) { impl_->unassign(topic, partition); }

PollResult Consumer::poll(std::size_t max_records, std::chrono::nanoseconds timeout) noexcept {
    return impl_->poll(max_records, timeout);
}

VisitStatus Consumer::visit_erased(void (*call)(void*, const ConsumerRecord&), void* handler) { return impl_->visit(call, handler); }
const Gap& Consumer::last_gap() const noexcept { return impl_->last_gap(); }
const PartitionFailure& Consumer::last_failure() const noexcept { return impl_->last_failure(); }
Status Consumer::last_status() const noexcept { return impl_->last_status(); }

SeekResult Consumer::seek(std::string_view topic, std::uint32_t partition, Position to) {
    return impl_->seek(topic, partition, to);
}
std::uint64_t Consumer::position(std::string_view topic, std::uint32_t partition) const {
    return impl_->cursor(topic, partition).position();
}
std::uint64_t Consumer::log_start(std::string_view topic, std::uint32_t partition) const {
    return impl_->cursor(topic, partition).reader().log_start();
}
std::uint64_t Consumer::log_end(std::string_view topic, std::uint32_t partition) const {
    return impl_->cursor(topic, partition).reader().log_end();
}

void Consumer::hold_gates(std::string_view name) { impl_->hold_gates(name); }
void Consumer::move_gates() noexcept { impl_->move_gates(); }
void Consumer::drop_gates() noexcept { impl_->drop_gates(); }

int Consumer::descriptor() { return impl_->descriptor(); }

}  // namespace ringmain
