// The partition log as a contestant without the public classes: the structure on a plain shared array.
//
// What the classes in between cost is the difference to library_link.hpp.
#pragma once

#include <sched.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "bench/common/payload.hpp"
#include "bench/common/shared.hpp"
#include "bench/contestants/library_link.hpp"
#include "gate_table/gate_table.hpp"
#include "partition_log/exclusive_publisher.hpp"
#include "partition_log/publisher.hpp"
#include "partition_log/reader.hpp"
#include "topic_geometry.hpp"

namespace ringmain::bench {

/// Records that fit a cell only. Reads copy the body out and validate, as poll does.
template <std::size_t kBytes>
class DirectLink {
    using Memory = platform::HostMemory;
    using Log = partition_log::LogMemory<Memory>;

public:
    DirectLink(Broker&, const std::string&, const LibraryOptions& options)
        : exclusive_(options.exclusive),
          geometry_(geometry_for(options.topic)),
          file_(Shared<std::byte>::array(partition_file_bytes(geometry_))),
          log_(file_.get(), geometry_, readers_.get()) {}

    class Sender {
    public:
        Sender(const Log& log, bool exclusive, std::uint32_t slot) {
            if (exclusive) {
                exclusive_.emplace(log, slot, 1);
            } else {
                shared_.emplace(log, slot, 1);
            }
            parts_.value = record_;
            parts_.value_bytes = kBytes;
            parts_.flags = layout::kNullKey;
        }

        void send(std::uint64_t sequence) noexcept {
            Payload<kBytes>::write(record_, sequence);
            while (publish() == Status::would_block)
                ::sched_yield();
        }

    private:
        Status publish() noexcept {
            return shared_ ? shared_->publish(parts_).status : exclusive_->publish(parts_).status;
        }

        std::optional<partition_log::SharedPublisher<Memory>> shared_;
        std::optional<partition_log::ExclusivePublisher<Memory>> exclusive_;
        partition_log::RecordParts parts_;
        alignas(64) std::byte record_[kBytes];
    };

    class Receiver {
    public:
        explicit Receiver(const Log& log) : log_(log), reader_(log), gates_(log.readers) {
            if (!log_.block)
                return;
            gate_index_ = gates_.claim(kReader, "bench").value();
            gates_.hold(gate_index_, 0, log_.control->gate_floor);
        }

        template <class Sink>
        std::uint64_t drain(std::uint64_t max, Sink&& sink) {
            std::uint64_t taken = 0;
            while (taken < max && take_one(sink))
                ++taken;
            if (log_.block && (next_ - gate_ >= log_.chunk || (taken == 0 && gate_ != next_)))
                gates_.move(gate_index_, gate_ = next_);
            return taken;
        }
        [[nodiscard]] std::uint64_t lost() const noexcept { return 0; }

    private:
        template <class Sink>
        bool take_one(Sink& sink) {
            partition_log::RecordView view;
            if (reader_.look(next_, view) != partition_log::Found::record)
                return false;
            reader_.copy_body(view, copy_);
            if (!reader_.valid(next_))
                throw std::runtime_error("a gated reader was lapped");
            sink(copy_, view.value_bytes);
            ++next_;
            return true;
        }

        Log log_;
        partition_log::Reader<Memory> reader_;
        gate_table::GateTable<Memory> gates_;
        static constexpr std::uint64_t kReader = 2;  // an owner word; nobody asks whether it lives

        std::uint32_t gate_index_ = 0;
        std::uint64_t next_ = 0;
        std::uint64_t gate_ = 0;
        alignas(64) std::byte copy_[256];
    };

    Sender sender(unsigned index) { return Sender(log_, exclusive_, index); }
    Receiver receiver() {
        touch_pages(log_.cells, log_.records << log_.cell_shift);
        return Receiver(log_);
    }

private:
    bool exclusive_;
    layout::PartitionGeometry geometry_;
    Shared<std::byte> file_;
    Shared<layout::ReaderBlock<Memory>> readers_;
    Log log_;
};

}  // namespace ringmain::bench
