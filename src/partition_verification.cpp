// Looking for contradictions in one partition's file and its readers' block.
//
// Others change the bytes meanwhile. So every check holds at any moment of a sound log, whatever is read first; where
// two words are compared, the one that only grows and must be the larger is read last.
#include "partition_verification.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "gate_table/gate_table.hpp"
#include "layout/clients.hpp"
#include "partition_log/control_check.hpp"
#include "partition_log/intents.hpp"
#include "partition_log/reader.hpp"

namespace ringmain {

namespace {

using partition_log::CellState;
using partition_log::Found;
using platform::HostMemory;
using Log = partition_log::LogMemory<HostMemory>;
using Reader = partition_log::Reader<HostMemory>;

constexpr std::size_t kFindingsMax = 100;  // per partition

class PartitionVerifier {
public:
    PartitionVerifier(const TopicFiles& topic, std::uint32_t partition, const platform::Mapping& file,
                      VerifyReport& report)
        : topic_(topic),
          partition_(partition),
          log_(topic.log_in(file, partition)),
          reader_(log_),
          report_(report) {}

    void run() {
        const bool sound = check_control();
        check_names();
        check_marks(log_.marks->ages, "ages");
        check_marks(log_.marks->sizes, "sizes");
        check_producers();
        check_extents();
        check_readers();
        check_words();
        if (sound)
            walk_records();
        if (findings_ > kFindingsMax) {
            report_.damage.push_back({file(), std::to_string(findings_ - kFindingsMax) + " more findings"});
        }
    }

private:
    [[nodiscard]] std::string file() const { return topic_.partition_path(partition_).string(); }
    void damage(const std::string& what) {
        if (++findings_ <= kFindingsMax)
            report_.damage.push_back({file(), what});
    }

    // False: the offsets contradict each other, so that there is nothing to walk.
    bool check_control() {
        // relaxed: compared with later reads of words that only grow
        const std::uint64_t floor = log_.control->gate_floor.load(std::memory_order_relaxed);
        const partition_log::ControlCheck check = partition_log::check_control(log_);
        if (!check.sound())
            damage(to_text(check, log_.first_offset));
        else if (floor > check.end)
            damage("gate floor " + std::to_string(floor) + " is beyond the log end " + std::to_string(check.end));
        return check.sound();
    }

    static bool names_a_client(std::uint64_t owner) noexcept {
        const std::uint64_t client = layout::client_of(owner);
        return owner == 0 ||
               ((client & 0xffffffffU) <= layout::kClientsMax && (client & 0xffffffffU) != 0 && client >> 32 != 0);
    }

    void check_names() {
        if (log_.control->names.load(std::memory_order_acquire) > layout::kProducerNamesMax)  // acquire NAME
            damage("more producer names than there can be");
        for (std::uint32_t i = 0; i < partition_log::names_used(log_); ++i) {
            const auto& entry = log_.named[i];
            const std::string who = "producer name " + std::to_string(i);
            if (entry.id.load(std::memory_order_acquire) == 0)  // acquire NAME
                damage(who + " has no id");
            if (entry.name_length.load(std::memory_order_acquire) > layout::kProducerNameBytesMax)  // acquire NAME
                damage(who + " has an impossible length");
            if (!names_a_client(entry.hold.high.load(std::memory_order_acquire)))  // acquire NAME
                damage(who + " has an impossible owner");
            const std::uint64_t intent = entry.hold.low.load(std::memory_order_acquire);  // acquire INTENT
            const bool none = partition_log::intent_state(intent) == partition_log::IntentState::none;
            // an exclusive producer moves the log end after its commits
            if (none ? intent != 0 : partition_log::offset_of(intent) > reader_.log_end())
                damage(who + " has an impossible intent");
        }
    }

    // Of the marks only the newest: a keeper believes the others by it, or not at all.
    void check_marks(const layout::MarkRing<HostMemory>& ring, const std::string& which) {
        const std::uint64_t written = ring.written.load(std::memory_order_acquire);  // acquire MARK
        if (written == 0)
            return;
        // relaxed: it came with the number
        const std::uint64_t offset = ring.marks[(written - 1) % layout::kMarks].offset.load(std::memory_order_relaxed);
        if (offset > reader_.log_end())
            damage("the newest mark of " + which + " is at offset " + std::to_string(offset) + ", beyond the log end");
    }

    void check_producers() {
        for (std::uint32_t slot = 0; slot < log_.producer_slots; ++slot) {
            const auto& entry = log_.producers[slot];
            const std::string who = "producer slot " + std::to_string(slot);
            if (!names_a_client(entry.owner.load(std::memory_order_acquire)))
                damage(who + " has an impossible owner");
            const std::uint64_t ticket = entry.ticket.load(std::memory_order_acquire);  // acquire ENTRY
            const bool holding = (ticket & 3) == 2;
            if (ticket > partition_log::kTaking && !holding)
                damage(who + " has an impossible ticket word");
            if (holding && ticket >> 2 >= reader_.log_end())
                damage(who + " holds a ticket beyond the log end");
        }
    }

    void check_extents() {
        for (std::uint32_t i = 0; i < log_.extent_count; ++i) {
            const std::uint64_t word = log_.extents[i].word.load(std::memory_order_acquire);  // acquire EXTENT
            if (!sound_extent(word))
                damage("extent " + std::to_string(i) + " has an impossible state word");
        }
    }
    [[nodiscard]] bool sound_extent(std::uint64_t word) const noexcept {
        switch (partition_log::extent_state(word)) {
            case partition_log::ExtentState::free:
                return word == 0;
            case partition_log::ExtentState::owned:
                return ((word >> 48) & 0x3fff) < log_.producer_slots;
            // an exclusive producer moves the log end after its commits
            case partition_log::ExtentState::sealed:
                return partition_log::sealed_end(word) <= reader_.log_end() + log_.batch_records_max;
        }
        return false;
    }

    void check_readers() {
        constexpr std::uint64_t kFlagsAll = layout::kTopicDeleted | layout::kCloseRequested | layout::kPartitionDamaged;
        const std::uint64_t doorbell = log_.readers->doorbell.load(std::memory_order_acquire);  // acquire DOORBELL
        if ((doorbell >> 32 << 32 & ~kFlagsAll) != 0)
            damage("the readers' doorbell has unknown flags");
        if ((doorbell & layout::kTopicDeleted) != 0 && !topic_.deleted())
            damage("marked as deleted, but the topic lives");
        const gate_table::GateTable<HostMemory> gates(log_.readers);
        for (std::uint32_t i = 0; i < layout::kGatesMax; ++i) {
            const std::string which = "gate " + std::to_string(i);
            if (!names_a_client(gates.owner(i)))
                damage(which + " has an impossible owner");
            const std::uint64_t word = gates.word(i);
            if (word != 0 && !gates.held(word))
                damage(which + " has an impossible word");
        }
    }

    // Every cell, also those outside the log: what it names must be an offset of this cell that has been given out.
    void check_words() {
        for (std::uint64_t index = 0; index < log_.records; ++index) {
            const std::uint64_t word =
                log_.cell_at(index).word.load(std::memory_order_acquire);  // acquire RECORD_COMMIT
            if (word == 0 || sound_word(word, index))
                continue;
            damage("cell " + std::to_string(index) + " has an impossible word " + std::to_string(word));
        }
    }
    [[nodiscard]] bool sound_word(std::uint64_t word, std::uint64_t index) const noexcept {
        const std::uint64_t offset = partition_log::offset_of(word);
        return partition_log::state_of(word) != CellState::unused && log_.cell_index(offset) == index &&
               offset >= log_.first_offset && offset < reader_.log_end() + log_.batch_records_max;
    }

    void walk_records() {
        const std::uint64_t start = reader_.log_start();
        const std::uint64_t end = reader_.log_end();
        // a lap and the slack at most, also if somebody scribbles over the two words now
        const std::uint64_t count = end > start ? std::min(end - start, log_.records + log_.slack) : 0;
        for (std::uint64_t offset = start; offset < start + count; ++offset) {
            switch (examine(offset)) {
                case Found::record:
                    ++report_.records;
                    break;
                case Found::skip:
                    ++report_.skipped;
                    break;
                case Found::nothing:
                    ++report_.open;
                    break;
                case Found::corrupt:
                    damage("offset " + std::to_string(offset) + " holds a damaged record");
                    break;
                case Found::lapped:
                    break;  // producers were faster
            }
        }
    }

    [[nodiscard]] Found examine(std::uint64_t offset) {
        partition_log::RecordView view;
        const Found found = reader_.look(offset, view);
        if (found != Found::record)
            return found;
        const bool sound = lies_in_one_extent(view) && sound_headers(view);
        if (!reader_.valid(offset))
            return Found::lapped;
        return sound ? Found::record : Found::corrupt;
    }

    [[nodiscard]] bool lies_in_one_extent(const partition_log::RecordView& view) const noexcept {
        if ((view.flags & layout::kInExtent) == 0 || view.length == 0)
            return true;
        const auto location = static_cast<std::uint64_t>(view.body - log_.payload);
        return location / log_.extent_bytes == (location + view.length - 1) / log_.extent_bytes;
    }

    [[nodiscard]] bool sound_headers(const partition_log::RecordView& view) {
        if (view.headers_bytes == 0)
            return true;
        headers_.resize(view.headers_bytes);
        HostMemory::copy_out(headers_.data(), view.headers(), headers_.size());
        return partition_log::count_headers(headers_.data(), view.headers_bytes) >= 0;
    }

    const TopicFiles& topic_;
    std::uint32_t partition_;
    Log log_;
    Reader reader_;
    VerifyReport& report_;
    std::vector<std::byte> headers_;
    std::size_t findings_ = 0;
};

}  // namespace

void verify_partition(const TopicFiles& topic, std::uint32_t partition, const platform::Mapping& file,
                      VerifyReport& report) {
    PartitionVerifier(topic, partition, file, report).run();
}

}  // namespace ringmain
