// What became of a dead-letter topic's letters.
#include "letters_file.hpp"

#include <cstring>

#include "damage.hpp"
#include "error_about.hpp"
#include "file_stamp.hpp"
#include "group_table/shared_text.hpp"
#include "platform/files.hpp"
#include "platform/rights.hpp"
#include "rights_of_topic.hpp"
#include "topic_name.hpp"
#include "topic_paths.hpp"
#include "work_names.hpp"

namespace ringmain {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInTheMaking = ".letters-";

layout::LettersGeometry geometry_of(const TopicFiles& topic) noexcept {
    return {topic.options().records, topic.options().partitions, 0};
}

std::uint64_t settled_word(std::uint64_t offset, Settlement how) noexcept {
    return offset << 2 | static_cast<std::uint64_t>(how);
}

bool is_settlement(std::uint64_t word) noexcept { return (word & 3) == 1 || (word & 3) == 2; }

void sweep_half_made(const Broker::Impl& broker, const fs::path& topic) {
    for (const std::string& name : platform::names_in(topic)) {
        if (!name.starts_with(kInTheMaking))
            continue;
        const auto maker = maker_of(std::string_view(name).substr(kInTheMaking.size()));
        if (maker && broker.clients().proven_dead(*maker))
            platform::remove_file(topic / name);
    }
}

void make(Broker::Impl& broker, const TopicFiles& topic) {
    sweep_half_made(broker, topic.directory());
    const fs::path made = topic.directory() / (std::string(kInTheMaking) + broker.work_name());
    const layout::LettersGeometry geometry = geometry_of(topic);
    try {
        const platform::Mapping file = platform::create_file(made, layout::letters_file_bytes(geometry));
        write_stamp(file, layout::FileKind::letters, topic.id());
        *reinterpret_cast<layout::LettersGeometry*>(file.data() + layout::kLettersGeometryAt) = geometry;
        mark_ready(file);  // the rest is right as zeros: nobody has the letters in hand, none is settled
        give_rights_of_topic(topic, made, platform::set_rights_of_file);
        platform::sync_path(made);
        (void)platform::link_file(made, letters_path(topic.directory()));  // or somebody else's, which is as good
    } catch (...) {
        platform::remove_file(made);
        throw;
    }
    platform::remove_file(made);
    platform::sync_path(topic.directory());
}

std::uint64_t id_word(const TopicId& id, std::size_t half) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, id.data() + half * sizeof word, sizeof word);
    return word;
}

TopicId id_from(std::uint64_t low, std::uint64_t high) noexcept {
    TopicId id;
    std::memcpy(id.data(), &low, sizeof low);
    std::memcpy(id.data() + sizeof low, &high, sizeof high);
    return id;
}

}  // namespace

LettersFile::LettersFile(const TopicFiles& topic, platform::Access access)
    : path_(letters_path(topic.directory()).string()),
      geometry_(geometry_of(topic)),
      mapping_(path_, access, layout::letters_file_bytes(geometry_)) {
    const bool same = check_stamp(mapping_, path_, layout::FileKind::letters) == topic.id() &&
                      std::memcmp(mapping_.data() + layout::kLettersGeometryAt, &geometry_, sizeof geometry_) == 0;
    if (!same)
        throw Error(ErrorCode::corrupt, path_,
                    "'" + path_ + "' belongs to another topic, or has another geometry than its topic");
}

std::optional<LettersFile> LettersFile::open(const TopicFiles& topic, platform::Access access) {
    try {
        return LettersFile(topic, access);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::not_found)
            throw;
        return std::nullopt;
    }
}

LettersFile LettersFile::open_or_create(Broker::Impl& broker, const TopicFiles& topic) {
    if (auto file = open(topic, platform::Access::read_write))
        return std::move(*file);
    try {
        make(broker, topic);
        return LettersFile(topic, platform::Access::read_write);
    } catch (const Error&) {
        if (topic.deleted())
            throw error_about(ErrorCode::topic_deleted, "topic '" + topic.name() + "'", "was deleted");
        throw;
    }
}

LettersFile::Control& LettersFile::control() const noexcept {
    return *reinterpret_cast<Control*>(mapping_.data() + layout::kLettersControlAt);
}

LettersFile::Word& LettersFile::word(std::uint32_t partition, std::uint64_t offset) const noexcept {
    const std::uint64_t index = partition * geometry_.records + (offset & (geometry_.records - 1));
    return reinterpret_cast<Word*>(mapping_.data() + layout::kLettersWordsAt)[index];
}

bool LettersFile::is_settled(std::uint32_t partition, std::uint64_t offset) const noexcept {
    const std::uint64_t seen = word(partition, offset).load(std::memory_order_acquire);  // acquire LETTERS
    return is_settlement(seen) && seen >> 2 == offset;
}

std::optional<std::string> LettersFile::fault_of_words(std::uint32_t partition,
                                                       const std::function<std::uint64_t()>& log_end) const {
    for (std::uint64_t index = 0; index < geometry_.records; ++index) {
        const std::uint64_t seen = word(partition, index).load(std::memory_order_acquire);  // acquire LETTERS
        const std::uint64_t offset = seen >> 2;
        if (seen == 0 || (is_settlement(seen) && (offset & (geometry_.records - 1)) == index && offset < log_end()))
            continue;
        return "word " + std::to_string(index) + " of partition " + std::to_string(partition) +
               " settles a letter that there cannot be: " + std::to_string(offset) + " of a log that ends at " +
               std::to_string(log_end());
    }
    return std::nullopt;
}

// relaxed: for show
std::uint64_t LettersFile::replayed() const noexcept { return control().replayed.load(std::memory_order_relaxed); }
std::uint64_t LettersFile::purged() const noexcept { return control().purged.load(std::memory_order_relaxed); }

void LettersFile::check_whole() const {
    if (mapping_.truncated())
        throw truncated_error(path_, mapping_.size());
}

std::uint64_t LettersFile::owner() const noexcept {
    return control().owner.load(std::memory_order_acquire);  // acquire LETTERS
}

bool LettersFile::change_owner(std::uint64_t from, std::uint64_t to) noexcept {
    // release LETTERS, acquire LETTERS: what the last owner did; lost: somebody else was faster. A client's word is
    // never used again after its death, so there is no ABA
    return control().owner.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_relaxed);
}

void LettersFile::settle(std::uint32_t partition, std::uint64_t offset, Settlement how) noexcept {
    word(partition, offset).store(settled_word(offset, how), std::memory_order_release);  // release LETTERS
    auto& counter = how == Settlement::replayed ? control().replayed : control().purged;
    counter.fetch_add(1, std::memory_order_relaxed);  // relaxed: for show
}

/// The letter first, then that it is under way: a successor that sees the one sees the other.
void LettersFile::begin(const LetterUnderWay& letter) noexcept {
    Control& to = control();
    // relaxed: `pending` publishes them
    to.partition.store(letter.partition, std::memory_order_relaxed);
    to.offset.store(letter.offset, std::memory_order_relaxed);
    to.sequence.store(letter.sequence, std::memory_order_relaxed);
    to.to_partition.store(letter.to_partition, std::memory_order_relaxed);
    to.to_id_low.store(id_word(letter.topic_id, 0), std::memory_order_relaxed);
    to.to_id_high.store(id_word(letter.topic_id, 1), std::memory_order_relaxed);
    to.to_name_length.store(letter.topic.size(), std::memory_order_relaxed);
    group_table::write_text(to.to_name, letter.topic);
    to.pending.store(1, std::memory_order_release);  // release LETTERS
}

void LettersFile::end() noexcept { control().pending.store(0, std::memory_order_release); }  // release LETTERS

std::optional<LetterUnderWay> LettersFile::under_way() const {
    const Control& from = control();
    const std::uint64_t pending = from.pending.load(std::memory_order_acquire);  // acquire LETTERS
    check_whole();
    if (pending == 0)
        return std::nullopt;
    LetterUnderWay letter;
    // relaxed: `pending` published them
    const std::uint64_t partition = from.partition.load(std::memory_order_relaxed);
    letter.offset = from.offset.load(std::memory_order_relaxed);
    letter.sequence = from.sequence.load(std::memory_order_relaxed);
    const std::uint64_t to_partition = from.to_partition.load(std::memory_order_relaxed);
    letter.topic_id =
        id_from(from.to_id_low.load(std::memory_order_relaxed), from.to_id_high.load(std::memory_order_relaxed));
    letter.topic = group_table::read_text(from.to_name, from.to_name_length.load(std::memory_order_relaxed));
    const bool possible = pending == 1 && partition < geometry_.partitions && letter.offset <= kOffsetMax &&
                          letter.sequence != 0 && to_partition < kPartitionsMax && is_topic_name(letter.topic);
    if (!possible)
        throw Error(ErrorCode::corrupt, path_,
                    "'" + path_ + "' names a letter under way that cannot be; run 'ringmain verify'");
    letter.partition = static_cast<std::uint32_t>(partition);
    letter.to_partition = static_cast<std::uint32_t>(to_partition);
    return letter;
}

LettersInHand::LettersInHand(Broker::Impl& broker, LettersFile& file, const std::string& topic)
    : broker_(broker), file_(file), me_(broker.client().word()) {
    for (;;) {
        const std::uint64_t owner = file.owner();
        if (owner != 0 && !broker.clients().proven_dead_word(owner)) {
            throw error_about(
                ErrorCode::busy, "the letters of topic '" + topic + "'",
                "are being replayed or purged by " +
                    to_string(broker.clients().describe(layout::ClientId::from_word(layout::client_of(owner)))) +
                    "; another one can when that has ended, not while it is stopped");
        }
        if (file.change_owner(owner, me_))
            return;
    }
}

LettersInHand::~LettersInHand() {
    if (!broker_.fork_guard().forked())
        (void)file_.change_owner(me_, 0);
}

}  // namespace ringmain
