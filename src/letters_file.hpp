// What became of a dead-letter topic's letters: which are settled, who has them in hand, and the one that is under way.
//
// One client at a time replays or purges the letters of a topic. It owns every word but the owner's; a client that is
// proven dead is succeeded by the next, which first finds out what became of the letter that was under way.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "broker_impl.hpp"
#include "layout/letters.hpp"
#include "platform/access.hpp"
#include "platform/mapping.hpp"
#include "platform/memory.hpp"
#include "topic_files.hpp"

namespace ringmain {

enum class Settlement : std::uint8_t { replayed = 1, purged = 2 };

/// A letter on its way to another topic: it is there if that topic's log has this sequence of the letters' producer.
struct LetterUnderWay {
    std::uint32_t partition = 0;  // of the letter
    std::uint64_t offset = 0;
    std::uint64_t sequence = 0;
    std::string topic;
    TopicId topic_id{};
    std::uint32_t to_partition = 0;
};

/// The topic's file `letters`, mapped. All that is found in it is input.
class LettersFile {
public:
    using Memory = platform::HostMemory;

    /// Nothing: no letter was ever replayed or purged. Throws Error: permission_denied, corrupt, version_mismatch, io.
    [[nodiscard]] static std::optional<LettersFile> open(const TopicFiles& topic, platform::Access access);
    /// Makes it if it is not there, with the rights of the topic. Throws also no_space, limit, forked, topic_deleted.
    /// Dying in here leaves at most a file with a name of its maker's, which the next maker removes.
    [[nodiscard]] static LettersFile open_or_create(Broker::Impl& broker, const TopicFiles& topic);

    [[nodiscard]] bool is_settled(std::uint32_t partition, std::uint64_t offset) const noexcept;
    [[nodiscard]] std::uint64_t replayed() const noexcept;
    [[nodiscard]] std::uint64_t purged() const noexcept;
    /// What contradicts itself in the words of a partition; nothing: each is of no letter, or of one below the log end,
    /// which is asked for behind the word.
    [[nodiscard]] std::optional<std::string> fault_of_words(std::uint32_t partition,
                                                            const std::function<std::uint64_t()>& log_end) const;
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// What was read and written up to now was. Throws Error corrupt if the file was found truncated.
    void check_whole() const;
    /// The client word of who has the letters in hand; 0: nobody.
    [[nodiscard]] std::uint64_t owner() const noexcept;

    /// Lost: somebody else was faster.
    [[nodiscard]] bool change_owner(std::uint64_t from, std::uint64_t to) noexcept;

    // The owner alone.
    void settle(std::uint32_t partition, std::uint64_t offset, Settlement how) noexcept;
    void begin(const LetterUnderWay& letter) noexcept;
    void end() noexcept;
    /// What the last owner left. Throws Error corrupt: no such letter can be; and as check_whole.
    [[nodiscard]] std::optional<LetterUnderWay> under_way() const;

private:
    using Control = layout::LettersControl<Memory>;
    using Word = Memory::Atomic<std::uint64_t>;

    LettersFile(const TopicFiles& topic, platform::Access access);
    [[nodiscard]] Control& control() const noexcept;
    [[nodiscard]] Word& word(std::uint32_t partition, std::uint64_t offset) const noexcept;

    std::string path_;
    layout::LettersGeometry geometry_{};
    platform::Mapping mapping_;
};

/// Has the letters of a topic in hand for as long as it lives.
class LettersInHand {
public:
    /// `topic`: its name, for messages. Throws Error: busy (another client that is not proven dead has them), forked,
    /// limit.
    LettersInHand(Broker::Impl& broker, LettersFile& file, const std::string& topic);
    LettersInHand(const LettersInHand&) = delete;
    LettersInHand& operator=(const LettersInHand&) = delete;
    ~LettersInHand();

private:
    Broker::Impl& broker_;
    LettersFile& file_;
    std::uint64_t me_;
};

}  // namespace ringmain
