// A replay of dead letters is killed at many instructions of a letter's way; whoever comes next makes the number right:
// each letter that was selected is in its topic exactly once, and the others stay.
//
// The quick run takes a sample; RINGMAIN_LONG=1 takes many more.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "crash/victim.hpp"
#include "ringmain/dead_letters.hpp"
#include "ringmain/group_admin.hpp"
#include "support/letter_place.hpp"

using namespace ringmain;
using test::LetterPlace;
using Counts = std::map<std::string, int>;

namespace {

const std::string kLetters = "orders.dlq";

class SharedFlag {
public:
    SharedFlag() : memory_(::mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
        REQUIRE(memory_ != MAP_FAILED);
        new (memory_) Word(0);
    }
    ~SharedFlag() { ::munmap(memory_, sizeof(Word)); }
    SharedFlag(const SharedFlag&) = delete;
    SharedFlag& operator=(const SharedFlag&) = delete;
    [[nodiscard]] std::atomic<std::uint32_t>& word() noexcept { return *static_cast<Word*>(memory_); }

private:
    using Word = std::atomic<std::uint32_t>;
    void* memory_;
};

LetterFilter selected() {
    LetterFilter filter;
    filter.group = "selected";
    return filter;
}

/// Three letters, of which the first and the last are meant; the first is on its way when the victim is stopped.
struct Stage {
    Stage() {
        place.send("a", "selected");
        place.send("b", "other");
        place.send("c", "selected");
    }

    /// In the victim: traps before the `letter`-th letter.
    void replay(int letter) const {
        const Broker own(place.scratch.broker());
        int seen = 0;
        (void)DeadLetters(own).replay(kLetters, selected(), {.stop = [&] {
                                          if (++seen == letter)
                                              ::raise(SIGTRAP);
                                          return false;
                                      }});
    }

    /// Whoever comes next.
    void check() {
        DeadLetters letters(place.broker);
        const LettersReplayed done = letters.replay(kLetters, selected());
        CHECK_FALSE(done.stopped);
        CHECK(done.why.empty());
        CHECK(place.replayed_values() == Counts{{"a", 1}, {"c", 1}});
        CHECK(place.values() == std::vector<std::string>{"b"});
        CHECK(letters.purge(kLetters, {}).purged == 1);
        CHECK(GroupAdmin(place.broker).describe(kLetters, kDeadLettersGroup).partitions.at(0).lag.position == 3);
        CHECK(place.broker.verify().damage.empty());
    }

    LetterPlace place;
    SharedFlag finished;
};

std::uint64_t instructions_of(int letter) {
    Stage stage;
    crash::Victim victim([&] { stage.replay(letter); }, stage.finished.word());
    (void)victim.resume();
    return victim.step(10'000'000);
}

void kill_at(int letter, std::uint64_t instruction) {
    Stage stage;
    crash::Victim victim([&] { stage.replay(letter); }, stage.finished.word());
    (void)victim.resume();  // up to its trap
    (void)victim.step(instruction);
    victim.kill();
    INFO("letter " << letter << ", instruction " << instruction);
    stage.check();
}

}  // namespace

TEST_CASE("G13 A replay of dead letters is killed anywhere, and each letter is replayed once") {
    if (const auto refused = crash::stepping_refused())
        SKIP(*refused);
    crash::stay_on_one_core();
    const std::uint64_t times = std::getenv("RINGMAIN_LONG") != nullptr ? 100 : 1;
    struct Part {
        int letter;  // the first of all opens where letters go; at the last one all is open
        std::uint64_t points;
    };
    std::uint64_t tried = 0;
    for (const Part& part : {Part{1, 6 * times}, Part{3, 20 * times}}) {
        const std::uint64_t length = instructions_of(part.letter);
        std::printf("from letter %d on: %llu instructions\n", part.letter, static_cast<unsigned long long>(length));
        REQUIRE(length > 1'000);
        const std::uint64_t stride = std::max<std::uint64_t>(1, length / part.points);
        for (std::uint64_t instruction = stride / 2; instruction < length; instruction += stride, ++tried)
            kill_at(part.letter, instruction);
    }
    CHECK(tried >= 26);
}
