// Taking, restoring and damaging the image of a broker.
#include "hostile/broker_image.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "hostile/image_content.hpp"
#include "ringmain/broker.hpp"

namespace ringmain::test {

namespace fs = std::filesystem;

BrokerImage::BrokerImage(fs::path directory) : directory_(std::move(directory)) {
    Broker broker(directory_, Broker::Mode::open_or_create);
    const HeldImage held = fill_image(broker);
    remember();
}

void BrokerImage::remember() {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory_)) {
        if (entry.is_directory())
            directories_.push_back(fs::relative(entry.path(), directory_));
        if (!entry.is_regular_file())
            continue;
        std::ifstream in(entry.path(), std::ios::binary);
        files_[fs::relative(entry.path(), directory_)] = std::string(std::istreambuf_iterator<char>(in), {});
    }
    if (log_file().empty())
        throw std::runtime_error("no log in the image");
}

fs::path BrokerImage::log_file() const {
    const auto found = files_.find(fs::path("topics") / kImageTopic / "0.log");
    return found == files_.end() ? fs::path() : found->first;
}

void BrokerImage::write(const fs::path& file, const std::string& bytes) const {
    std::ofstream(directory_ / file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void BrokerImage::restore() const {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    for (const fs::path& name : directories_)
        fs::create_directories(directory_ / name);
    for (const auto& [name, bytes] : files_)
        write(name, bytes);
}

std::uint64_t nasty_word(std::uint64_t truth, std::mt19937_64& random) {
    const std::uint64_t draw = random();
    switch (draw % 12) {
        case 0:
            return 0;
        case 1:
            return ~std::uint64_t{0} - draw / 16 % 3;
        case 2:
            return random();
        case 3:
            return truth + draw / 16 % 64;
        case 4:
            return truth - draw / 16 % 64;
        case 5:
            return truth ^ (std::uint64_t{1} << (draw / 16 % 64));
        case 6:
            return std::uint64_t{1} << (draw / 16 % 64);
        case 7:
            return truth + (std::uint64_t{1} << (draw / 16 % 63));
        case 8:
            return (draw / 16 % 64) << 2 | (draw / 4096 & 3);  // a cell word
        case 9:
            return truth << (draw / 16 % 32);
        case 10:
            return 0x0000'0001'0000'0001ULL * (draw / 16 % 5);
        default:
            return random() >> (draw / 16 % 64);
    }
}

void BrokerImage::damage(std::span<const ImageEdit> edits) const {
    restore();
    for (const EditedFile& file : edited(files_, edits)) {
        if (file.removed) {
            fs::remove(directory_ / file.name);
        } else {
            write(file.name, file.bytes);
        }
    }
}

std::string BrokerImage::damage(std::mt19937_64& random) const {
    std::vector<ImageEdit> edits(1 + random() % 3);
    for (ImageEdit& edit : edits)
        edit = random_edit(files_, random);
    damage(edits);
    return to_text(files_, edits);
}

}  // namespace ringmain::test
