// That effects and accesses are told apart as effects.hpp says: what is not counted there is not killed at elsewhere.
#include "crash/effects.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "crash/shared_bytes.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace ringmain::crash;

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kMany = 1'000;

struct Place {
    test::ScratchDirectory scratch;
    SharedBytes flag{kPage};
    SharedBytes bytes{2 * kPage};
    std::atomic<std::uint32_t>& done = *new (flag.data()) std::atomic<std::uint32_t>(0);
    volatile std::uint64_t* const words = reinterpret_cast<volatile std::uint64_t*>(bytes.data());

    /// How many points there are, and that the operation is what it is without them.
    std::uint64_t count(Effects::Points points, const std::function<void()>& operation) {
        done.store(0);
        Victim victim(operation, done);
        Effects effects(victim, points, {bytes.data(), 2 * kPage});
        const std::uint64_t made = effects.advance(kMany);
        CHECK(victim.done());
        CHECK(effects.trace().size() == made);
        return made;
    }
};

void store_twice_in_a_file(const std::filesystem::path& path) {
    const int file = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);  // 1
    if (::ftruncate(file, kPage) != 0)
        return;  // 2
    void* const mapped = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return;
    auto* const words = static_cast<volatile std::uint64_t*>(mapped);
    words[0] = 1;         // 3
    words[1] = words[0];  // 4
    words[1] = 1;         // what is there
    ::munmap(mapped, kPage);
    ::close(file);
    ::unlink(path.c_str());  // 5
}

}  // namespace

TEST_CASE("effects: stores into shared memory count when they change it") {
    if (const auto refused = effects_refused())
        SKIP(*refused);
    Place place;
    volatile std::uint64_t own = 0;
    const auto operation = [&] {
        own = 1;
        place.words[0] = 7;
        place.words[0] = 7;
        place.words[0] = own + place.words[1];
        own = 2;
    };
    CHECK(place.count(Effects::Points::effects, operation) == 2);
    place.words[0] = 0;
    CHECK(place.count(Effects::Points::accesses, operation) == 4);
    CHECK(place.words[0] == 1);
    CHECK(place.count(Effects::Points::effects, [] {}) == 0);
}

TEST_CASE("effects: an instruction that goes across pages is one effect, one that repeats is many") {
    if (const auto refused = effects_refused())
        SKIP(*refused);
    Place place;
    CHECK(place.count(Effects::Points::effects, [&] {
        *reinterpret_cast<volatile std::uint64_t*>(place.bytes.data() + kPage - 3) =
            ~0ULL;  // no atomic object: only the pages matter
    }) == 1);
    CHECK(place.bytes.data()[kPage] == std::byte{0xff});
#if defined(__x86_64__)
    CHECK(place.count(Effects::Points::effects, [&] {
        std::byte* to = place.bytes.data() + kPage - 4;
        std::size_t count = 8;
        asm volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(1) : "memory");
    }) == 8);
#endif
}

TEST_CASE("effects: system calls count when they leave something behind, and mapped files are watched") {
    if (const auto refused = effects_refused())
        SKIP(*refused);
    Place place;
    const std::filesystem::path path = place.scratch.path() / "file";
    CHECK(place.count(Effects::Points::effects, [&] { store_twice_in_a_file(path); }) == 5);
    CHECK(place.count(Effects::Points::effects, [&] {
        (void)::getppid();
        const int file = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ::close(file);
    }) == 0);
}

TEST_CASE("effects: what happens before the mark is not counted, and a victim goes on to its end when it is let") {
    if (const auto refused = effects_refused())
        SKIP(*refused);
    Place place;
    const auto operation = [&] {
        place.words[0] = 1;
        ::raise(SIGTRAP);
        place.words[0] = 2;
        place.words[0] = 3;
        place.words[0] = 4;
    };
    Victim victim(operation, place.done);
    Effects effects(victim, Effects::Points::effects, {place.bytes.data(), 2 * kPage});
    REQUIRE(effects.go_to_mark());
    CHECK(effects.trace().empty());
    CHECK(place.words[0] == 1);
    CHECK(effects.advance(2) == 2);
    CHECK(place.words[0] == 3);
    CHECK(effects.resume());
    CHECK(place.words[0] == 4);
}

TEST_CASE("effects: a victim that crashes has not done what it was to do") {
    if (const auto refused = effects_refused())
        SKIP(*refused);
    Place place;
    volatile std::uint64_t* const nowhere = reinterpret_cast<volatile std::uint64_t*>(kPage);
    Victim victim(
        [&] {
            *nowhere = 1;
            ::raise(SIGTRAP);
        },
        place.done);
    Effects effects(victim);
    CHECK_FALSE(effects.go_to_mark());
    CHECK(effects.advance(1) == 0);
    CHECK_FALSE(victim.done());
}
