// The public producer: a thin shell over its implementation.
#include "ringmain/producer.hpp"

#include <utility>

#include "producer_impl.hpp"

namespace ringmain {

Loan::Loan(Loan&& other) noexcept { *this = std::move(other); }

Loan& Loan::operator=(Loan&& other) noexcept {
    std::swap(impl_, other.impl_);
    std::swap(value_, other.value_);
    std::swap(partition_, other.partition_);
    std::swap(status_, other.status_);
    return *this;
}

Loan::~Loan() {
    if (impl_ != nullptr) impl_->take_back();
}

Producer::Producer(const Broker& broker, std::string_view topic, const ProducerOptions& options)
    : impl_(std::make_unique<Impl>(broker.impl(), topic, options)) {}
Producer::Producer(Producer&&) noexcept = default;
Producer& Producer::operator=(Producer&&) noexcept = default;
Producer::~Producer() = default;

PublishResult Producer::publish(const ProducerRecord& record) noexcept { return impl_->publish(record, Wait::yes); }
PublishResult Producer::try_publish(const ProducerRecord& record) noexcept { return impl_->publish(record, Wait::no); }

BatchResult Producer::publish_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results) noexcept {
    return impl_->publish_batch(records, results, Wait::yes);
}
BatchResult Producer::try_publish_batch(std::span<const ProducerRecord> records, std::span<PublishResult> results) noexcept {
    return impl_->publish_batch(records, results, Wait::no);
}

Loan Producer::loan(std::size_t value_bytes, const ProducerRecord& record) noexcept {
    const Impl::Lent lent = impl_->lend(value_bytes, record);
    Loan loan;
    loan.status_ = lent.status;
    loan.value_ = lent.value;
    loan.partition_ = lent.partition;
    if (lent.status == Status::ok) loan.impl_ = impl_.get();
    return loan;
}

PublishResult Producer::publish_loan(Loan& loan, bool wait) noexcept {
    if (loan.impl_ != impl_.get()) return {Status::invalid};
    const PublishResult result = impl_->publish_lent(wait ? Wait::yes : Wait::no);
    if (result.status == Status::ok) loan = Loan();
    return result;
}
PublishResult Producer::publish(Loan& loan) noexcept { return publish_loan(loan, true); }
PublishResult Producer::try_publish(Loan& loan) noexcept { return publish_loan(loan, false); }

void Producer::attach(std::uint32_t partition) { impl_->attach(partition); }

std::uint64_t Producer::last_sequence(std::uint32_t partition) { return impl_->last_sequence(partition); }

std::optional<GateDescription> Producer::blocking_gate(std::uint32_t partition) const {
    return impl_->attach(partition).lowest_gate();
}

std::uint32_t Producer::partitions() const noexcept { return impl_->topic().options().partitions; }
const std::string& Producer::topic() const noexcept { return impl_->topic().name(); }
const TopicOptions& Producer::options() const noexcept { return impl_->topic().options(); }
std::uint64_t Producer::record_bytes_max() const noexcept { return impl_->record_bytes_max(); }
std::uint64_t Producer::batch_records_max() const noexcept { return impl_->batch_records_max(); }

}  // namespace ringmain
