// Scenarios of named producers: one dies anywhere, its cells are used again, and whoever takes its name sends the rest.
#include <string_view>

#include "explore/log_stage.hpp"
#include "partition_log/exclusive_publisher.hpp"
#include "partition_log/named_publisher.hpp"
#include "recovery/attachment.hpp"
#include "recovery/named_attachment.hpp"

namespace ringmain::explore {

namespace {

// Sequence s is record 10 + s, whoever sends it: a sequence that is sent twice is one record at two offsets.
class NamedStage : public LogStage {
public:
    NamedStage(LogShape shape, const Bounds& bounds, unsigned threads) : LogStage(with_names(shape), bounds, threads) {}

    void finish() override {
        note_commits();
        LogStage::finish();
    }
    // A record is known from its commit on, also if its producer died behind it: before its cell is written again.
    void stores(unsigned thread, const void* address) override {
        note_commits();
        LogStage::stores(thread, address);
    }

protected:
    static constexpr std::uint64_t kSequences = 2;
    static constexpr std::uint64_t kNameId = 77;
    using Named = partition_log::NamedPublisher<M>;
    using Claims = recovery::NamedAttachment<M, IsDead>;

    [[nodiscard]] Log::Named& entry() const noexcept { return log_.named[0]; }

    /// Thread 0 holds the name at the beginning.
    void own_name() const {
        entry().id.store(kNameId, std::memory_order_relaxed);
        entry().name_length.store(1, std::memory_order_relaxed);
        entry().name[0].store('n', std::memory_order_relaxed);
        entry().hold.high.store(owner_of(0), std::memory_order_relaxed);
        log_.control->names.store(1, std::memory_order_relaxed);
    }

    /// Sends every sequence that is not in the log yet, as far as the last one that the name knows.
    template <class Publisher>
    void send_rest(Publisher& publisher) {
        Named named(log_, entry());
        for (std::uint64_t sequence = named.last() + 1; sequence <= kSequences; ++sequence) {
            const std::uint64_t id = 10 + sequence;
            oracle_.starts(id);
            const Value value(id, 1);
            const partition_log::Published sent = named.publish(publisher, value.parts(), sequence);
            if (sent.status == Status::exhausted)
                return;  // every cell was quarantined
            require(sent.status == Status::ok, "a named producer is refused");
            oracle_.published(id, sent.offset);
        }
    }

    /// Takes the name if its holder is gone.
    [[nodiscard]] bool take_name(std::uint64_t owner) {
        const recovery::ClaimedName claimed = Claims(log_, owner, is_dead_).claim("n", kNameId);
        require(claimed.outcome == recovery::NameOutcome::claimed || claimed.outcome == recovery::NameOutcome::held,
                "a name cannot be had, for another reason than that somebody has it");
        return claimed.outcome == recovery::NameOutcome::claimed;
    }

    void check_last() const {
        const std::uint64_t last = entry().last.load(std::memory_order_relaxed);
        require(last <= kSequences, "a name knows a sequence that nobody sent");
        for (std::uint64_t sequence = 1; sequence <= last; ++sequence)
            require(oracle_.knows(10 + sequence), "a name believes that a record is in the log that is not");
    }

    IsDead is_dead_;

private:
    [[nodiscard]] static LogShape with_names(LogShape shape) noexcept {
        shape.names = true;
        return shape;
    }
    void note_commits() {
        for (std::uint64_t index = 0; index < log_.records; ++index) {
            const auto& cell = log_.cell_at(index);
            const std::uint64_t word = newest(&cell.word);
            const bool committed = partition_log::state_of(word) == partition_log::CellState::committed;
            if (committed && oracle_.id_at(partition_log::offset_of(word)) == 0)
                oracle_.accepted(newest(&cell.timestamp), partition_log::offset_of(word));
        }
    }
};

// Another producer laps the named one, so that it has to settle what is intended.
class NamedLapped : public NamedStage {
public:
    explicit NamedLapped(const Bounds& bounds) : NamedLapped(bounds, {.records = 2, .producer_slots = 3}) {}
    NamedLapped(const Bounds& bounds, const LogShape& shape) : NamedStage(shape, bounds, 3) {}
    void set_up() override {
        NamedStage::set_up();
        own_name();
    }
    void thread(unsigned index) override {
        Shared publisher = shared_publisher(index);
        if (index == 1) {
            for (std::uint64_t id = 20; id < 22; ++id)
                (void)publish(publisher, id, 1);
        } else if (index == 0) {
            send_rest(publisher);
        } else {
            (void)take_name(owner_of(2));  // sends later: two cells are too few for three producers at once
        }
    }
    void finish() override {
        NamedStage::finish();
        check_last();
        if (!proven_dead(0))
            return;
        release_cells();
        if (entry().hold.high.load(std::memory_order_relaxed) != owner_of(2))
            require(take_name(owner_of(2)), "the name of the dead is not to be had");
        Shared publisher = shared_publisher(2);
        send_rest(publisher);
        NamedStage::finish();
        check_last();
        require(entry().last.load(std::memory_order_relaxed) == kSequences, "a sequence is not sent");
    }
};

// log_start moves two tickets at a time: who laps the named one looks at what it intends once, and not again at its
// cell.
class NamedPassed : public NamedLapped {
public:
    NamedPassed()
        : NamedLapped({.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 1},
                      {.records = 2, .producer_slots = 3, .chunk = 2, .published = 1}) {}
};

// The name is new: whoever laps its first record may not have heard of it.
class NamedNew : public NamedLapped {
public:
    NamedNew() : NamedLapped({.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 1}) {}
    void set_up() override { NamedStage::set_up(); }
    void thread(unsigned index) override {
        if (index == 0 && !take_name(owner_of(0)))
            return;
        NamedLapped::thread(index);
    }
};

// The holder of name and lease dies anywhere. A keeper and a successor take the lease away from it at once.
class NamedExclusive : public NamedStage {
public:
    NamedExclusive()
        : NamedStage({.records = 2, .producer_slots = 2}, {.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 1}, 3) {
    }
    void set_up() override {
        NamedStage::set_up();
        own_name();
        log_.control->lease.store(recovery::lease_word(0, kGeneration), std::memory_order_relaxed);
        log_.producers[1].owner.store(0, std::memory_order_relaxed);
    }
    void thread(unsigned index) override {
        if (index == 0) {
            Exclusive publisher(log_, 0, kGeneration);
            send_rest(publisher);
        } else if (index == 1) {
            (void)succeed(1);
        } else {
            (void)recovery::reap_producers(log_, is_dead_);
        }
    }
    void finish() override {
        NamedStage::finish();
        check_last();
        if (!proven_dead(0))
            return;
        require(entry().hold.high.load(std::memory_order_relaxed) == owner_of(1) || succeed(1),
                "there is no successor to the dead");
        NamedStage::finish();
        check_last();
        require(entry().last.load(std::memory_order_relaxed) == kSequences, "a sequence is not sent");
    }

private:
    using Exclusive = partition_log::ExclusivePublisher<M>;

    [[nodiscard]] bool succeed(unsigned thread) {
        recovery::Attachment<M, IsDead> attachment(log_, owner_of(thread), is_dead_);
        const recovery::Attached attached = attachment.attach_exclusive();
        if (attached.outcome != recovery::AttachOutcome::attached)
            return false;
        takes_slot(thread, attached.slot, attached.generation);
        require(take_name(owner_of(thread)), "whoever has the lease of the dead does not get its name");
        Exclusive publisher(log_, attached.slot, attached.generation);
        send_rest(publisher);
        return true;
    }
};

// Two come for one name, and each gives it back when it has sent the rest: no sequence is sent by both.
class NameHandedOn : public NamedStage {
public:
    NameHandedOn() : NamedStage({.records = 2, .producer_slots = 2}, {.preemptions = 2, .stale = 4}, 2) {}
    void set_up() override {
        NamedStage::set_up();
        own_name();
        entry().hold.high.store(0, std::memory_order_relaxed);
    }
    void thread(unsigned index) override {
        if (!take_name(owner_of(index)))
            return;
        Shared publisher = shared_publisher(index);
        send_rest(publisher);
        Claims(log_, owner_of(index), is_dead_).give_back(0);
    }
    void finish() override {
        NamedStage::finish();
        check_last();
        require(entry().last.load(std::memory_order_relaxed) == kSequences, "a sequence is not sent");
        require(entry().hold.high.load(std::memory_order_relaxed) == 0, "a name that was given back is not free");
    }
};

// The holder of a name dies anywhere. One who takes it gives it back without having sent anything, and the next one has
// nothing but that to learn from.
class NameOfTheDead : public NamedStage {
public:
    NameOfTheDead()
        : NamedStage({.records = 2, .producer_slots = 3}, {.preemptions = 1, .stale = 3, .deaths = 1, .mortal = 1}, 3) {
    }
    void set_up() override {
        NamedStage::set_up();
        own_name();
    }
    void thread(unsigned index) override {
        Shared publisher = shared_publisher(index);
        if (index == 0)
            return send_rest(publisher);
        if (!fell(0) || !take_name(owner_of(index)))
            return;
        if (index == 2)
            send_rest(publisher);
        Claims(log_, owner_of(index), is_dead_).give_back(0);
    }
    void finish() override {
        NamedStage::finish();
        check_last();
    }
};

// Two names begin at once: each has an entry of its own, also if who begins one dies in it and another one goes on.
class NamesAtOnce : public NamedStage {
public:
    NamesAtOnce()
        : NamedStage({.records = 2, .producer_slots = 2}, {.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 1}, 2) {
    }
    void begin() override {
        NamedStage::begin();
        entries_ = {};
    }
    void thread(unsigned index) override { claim(index, owner_of(index)); }
    void finish() override {
        NamedStage::finish();
        if (proven_dead(0))
            claim(0, owner_of(2));
        require(log_.control->names.load(std::memory_order_relaxed) == 2, "a name is not counted");
        for (unsigned index = 0; index < 2; ++index) {
            const auto& entry = log_.named[entries_[index] - 1];
            require(entry.id.load(std::memory_order_relaxed) == kNameId + index, "a name has another's id");
            require(entry.name_length.load(std::memory_order_relaxed) == 1, "a name is not written");
        }
    }

private:
    void claim(unsigned which, std::uint64_t owner) {
        const std::string_view name = which == 0 ? "n" : "m";
        const recovery::ClaimedName claimed = Claims(log_, owner, is_dead_).claim(name, kNameId + which);
        require(claimed.outcome == recovery::NameOutcome::claimed, "a new name is not to be had");
        entries_[which] = claimed.entry + 1;
        require(entries_[0] != entries_[1], "two names have one entry");
    }

    std::array<std::uint32_t, 2> entries_{};  // + 1
};

const Registered names_at_once{"log.names_at_once", [] { return std::make_unique<NamesAtOnce>(); }};
const Registered named_lapped{"log.named_lapped",
                              [] { return std::make_unique<NamedLapped>(Bounds{.preemptions = 4, .stale = 2}); }};
const Registered named_dies{
    "log.named_dies",
    [] { return std::make_unique<NamedLapped>(Bounds{.preemptions = 3, .stale = 2, .deaths = 1, .mortal = 1}); }};
const Registered named_exclusive{"log.named_exclusive", [] { return std::make_unique<NamedExclusive>(); }};
const Registered named_passed{"log.named_passed", [] { return std::make_unique<NamedPassed>(); }};
const Registered name_handed_on{"log.name_handed_on", [] { return std::make_unique<NameHandedOn>(); }};
const Registered name_of_the_dead{"log.name_of_the_dead", [] { return std::make_unique<NameOfTheDead>(); }};
const Registered named_new{"log.named_new", [] { return std::make_unique<NamedNew>(); }};

}  // namespace

}  // namespace ringmain::explore
