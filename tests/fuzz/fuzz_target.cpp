// The libFuzzer target: a broker's files with the edits that the input says, used as programs and tools use them.
//
// An input is a list of edits (tests/hostile/image_edits.hpp) and mutated as such. `ringmain_fuzz --seeds=DIRECTORY`
// writes a corpus that damages every region of every file once, and ends; `--show=FILE` says what an input does.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>

#include "hostile/broker_image.hpp"
#include "support/scratch_directory.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t bytes, std::size_t bytes_max);

namespace {

using namespace ringmain::test;

/// Where the broker is: in RINGMAIN_FUZZ_DIRECTORY, which somebody else removes (after a crash nobody does it here), or
/// in a directory of its own.
struct Fuzzed {
    std::unique_ptr<ScratchDirectory> scratch;
    BrokerImage image;

    Fuzzed()
        : scratch(std::getenv("RINGMAIN_FUZZ_DIRECTORY") == nullptr ? std::make_unique<ScratchDirectory>() : nullptr),
          image(place()) {}

private:
    [[nodiscard]] std::filesystem::path place() const {
        if (scratch)
            return scratch->broker();
        return std::filesystem::path(std::getenv("RINGMAIN_FUZZ_DIRECTORY")) / ("broker-" + std::to_string(::getpid()));
    }
};

// Ended with the process, so that nothing is left in /dev/shm.
Fuzzed& fuzzed() {
    static Fuzzed all;
    return all;
}

std::size_t encode(const std::vector<ImageEdit>& edits, std::uint8_t* to, std::size_t bytes_max) {
    const std::size_t bytes = std::min(edits.size(), bytes_max / sizeof(ImageEdit)) * sizeof(ImageEdit);
    if (bytes != 0)
        std::memcpy(to, edits.data(), bytes);
    return bytes;
}

void write_seeds(const std::filesystem::path& directory) {
    std::filesystem::create_directories(directory);
    std::size_t number = 0;
    for (const std::vector<ImageEdit>& edits : seed_edits(fuzzed().image.files())) {
        std::ofstream out(directory / ("seed-" + std::to_string(number++)), std::ios::binary);
        out.write(reinterpret_cast<const char*>(edits.data()),
                  static_cast<std::streamsize>(edits.size() * sizeof(ImageEdit)));
    }
    std::printf("fuzz: %zu seeds, %zu files\n", number, fuzzed().image.files().size());
}

void show(const std::filesystem::path& input) {
    std::ifstream in(input, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const auto edits = decode_edits({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    std::printf("%s\n", to_text(fuzzed().image.files(), edits).c_str());
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
    const std::string first = *count > 1 ? (*arguments)[1] : "";
    if (first.rfind("--seeds=", 0) == 0) {
        write_seeds(first.substr(8));
        std::exit(0);
    }
    if (first.rfind("--show=", 0) == 0) {
        show(first.substr(7));
        std::exit(0);
    }
    (void)fuzzed();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    const BrokerImage& image = fuzzed().image;
    image.damage(decode_edits({data, bytes}));
    use_broker(image.directory());
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t bytes, std::size_t bytes_max,
                                               unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<ImageEdit> edits = decode_edits({data, bytes});
    for (std::uint64_t times = 1 + random() % 3; times != 0; --times)
        mutate(edits, fuzzed().image.files(), random);
    if (!edits.empty() && random() % 8 == 0) {
        // values that the library was seen to compare with
        ImageEdit& edit = edits[random() % edits.size()];
        (void)LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(&edit.value), sizeof edit.value, sizeof edit.value);
    }
    return encode(edits, data, bytes_max);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t bytes1,
                                                 const std::uint8_t* data2, std::size_t bytes2, std::uint8_t* to,
                                                 std::size_t bytes_max, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<ImageEdit> edits = decode_edits({data1, bytes1});
    for (const ImageEdit& edit : decode_edits({data2, bytes2})) {
        if (random() % 2 == 0 && edits.size() < kEditsMax)
            edits.push_back(edit);
    }
    return encode(edits, to, bytes_max);
}
