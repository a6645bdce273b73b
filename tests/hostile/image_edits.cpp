// Damage to an image as a list of edits that know where something stands.
#include "hostile/image_edits.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "hostile/broker_image.hpp"
#include "hostile/image_regions.hpp"

namespace ringmain::test {

namespace {

constexpr std::array kKindNames = {"set",      "add", "flip", "copy",      "copy_from", "run",
                                   "copy_run", "cut", "grow", "swap_file", "remove"};
static_assert(kKindNames.size() == static_cast<std::size_t>(EditKind::count));
constexpr std::uint64_t kGrowMax = 1 << 16;

EditKind kind_of(const ImageEdit& edit) {
    return EditKind{static_cast<std::uint8_t>(edit.kind % static_cast<std::uint8_t>(EditKind::count))};
}
std::size_t width_of(const ImageEdit& edit) { return std::size_t{1} << edit.width % 4; }

ImageFiles::const_iterator file_at(const ImageFiles& files, std::uint64_t index) {
    return std::next(files.begin(), static_cast<std::ptrdiff_t>(index % files.size()));
}

/// The word of the region that `index` means, inside `bytes`; the region is one of the file as it was.
std::uint64_t place_of(const Region& region, std::uint64_t index, std::size_t width) {
    const std::uint64_t words = std::max<std::uint64_t>(region.bytes / width, 1);
    return region.at + index % words * width;
}

std::uint64_t word_at(const std::string& bytes, std::uint64_t at) {
    std::uint64_t word = 0;
    if (at < bytes.size())
        std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(sizeof word, bytes.size() - at));
    return word;
}
void set_word(std::string& bytes, std::uint64_t at, std::uint64_t word, std::size_t width) {
    if (at < bytes.size())
        std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(width, bytes.size() - at));
}

/// Applies the edit to `bytes`, which were those of `original`, or what earlier edits made of them.
void apply(const ImageFiles& files, const ImageEdit& edit, const std::string& original, EditedFile& file) {
    const std::vector<Region> regions = regions_of(original);
    const Region& region = regions[edit.region % regions.size()];
    const std::size_t width = width_of(edit);
    const std::uint64_t at = place_of(region, edit.at, width);
    const std::uint64_t old = word_at(file.bytes, at);
    const std::uint64_t other = place_of(region, edit.value, width);
    const std::size_t run = 1 + (edit.value >> 32) % 64;
    switch (kind_of(edit)) {
        case EditKind::set:
            set_word(file.bytes, at, edit.value, width);
            break;
        case EditKind::add:
            set_word(file.bytes, at, old + edit.value, width);
            break;
        case EditKind::flip:
            set_word(file.bytes, at, old ^ std::uint64_t{1} << edit.value % 64, width);
            break;
        case EditKind::copy:
            set_word(file.bytes, at, word_at(original, other), width);
            break;
        case EditKind::copy_from: {
            const std::string& from = file_at(files, edit.value >> 32)->second;
            set_word(file.bytes, at, from.size() < 8 ? 0 : word_at(from, edit.value % (from.size() / 8) * 8), width);
            break;
        }
        case EditKind::run:
            for (std::size_t i = 0; i < run; ++i)
                set_word(file.bytes, at + i * width, edit.value, width);
            break;
        case EditKind::copy_run:
            for (std::size_t i = 0; i < run; ++i)
                set_word(file.bytes, at + i * width, word_at(original, other + i * width), width);
            break;
        case EditKind::cut:
            file.bytes.resize(std::min<std::uint64_t>(at, file.bytes.size()));
            break;
        case EditKind::grow:
            file.bytes.resize(file.bytes.size() + edit.value % kGrowMax);
            break;
        case EditKind::swap_file:
            file.bytes = file_at(files, edit.value)->second;
            break;
        case EditKind::remove:
            file.removed = true;
            break;
        case EditKind::count:
            break;
    }
}

}  // namespace

std::vector<ImageEdit> decode_edits(std::span<const std::uint8_t> bytes) {
    std::vector<ImageEdit> edits(std::min(bytes.size() / sizeof(ImageEdit), kEditsMax));
    if (!edits.empty())
        std::memcpy(edits.data(), bytes.data(), edits.size() * sizeof(ImageEdit));
    return edits;
}

std::vector<EditedFile> edited(const ImageFiles& files, std::span<const ImageEdit> edits) {
    std::vector<EditedFile> all;
    for (const ImageEdit& edit : edits) {
        const auto original = file_at(files, edit.file);
        auto file =
            std::find_if(all.begin(), all.end(), [&](const EditedFile& one) { return one.name == original->first; });
        if (file == all.end())
            file = all.insert(all.end(), {original->first, original->second});
        apply(files, edit, original->second, *file);
    }
    return all;
}

ImageEdit random_edit(const ImageFiles& files, std::mt19937_64& random) {
    ImageEdit edit;
    edit.file = static_cast<std::uint8_t>(random() % files.size());
    // a log has the most that can go wrong
    const auto log = files.find(std::filesystem::path("topics") / kImageTopic / "0.log");
    if (random() % 3 == 0 && log != files.end())
        edit.file = static_cast<std::uint8_t>(std::distance(files.begin(), log));
    const std::string& bytes = file_at(files, edit.file)->second;
    const std::size_t regions = regions_of(bytes).size();
    // what is wrong in a header (the last but one) or anywhere (the last) is refused or missed soon
    edit.region =
        static_cast<std::uint8_t>(regions > 2 && random() % 8 != 0 ? random() % (regions - 2) : random() % regions);
    edit.width = static_cast<std::uint8_t>(random() % 3 == 0 ? random() % 4 : 3);
    edit.at = static_cast<std::uint32_t>(random() % 4 == 0 ? random() : random() % 32);
    const Region region = regions_of(bytes)[edit.region];
    edit.value = nasty_word(word_at(bytes, place_of(region, edit.at, width_of(edit))), random);
    // whole files change seldom: nothing else is to be found behind that
    const std::uint64_t kinds = static_cast<std::uint64_t>(random() % 40 == 0 ? EditKind::count : EditKind::cut);
    edit.kind = static_cast<std::uint8_t>(random() % 2 == 0 ? 0 : random() % kinds);
    return edit;
}

void mutate(std::vector<ImageEdit>& edits, const ImageFiles& files, std::mt19937_64& random) {
    if (edits.empty() || (edits.size() < kEditsMax && random() % 3 == 0)) {
        edits.push_back(random_edit(files, random));
        return;
    }
    const std::size_t index = random() % edits.size();
    ImageEdit& edit = edits[index];
    switch (random() % 7) {
        case 0:
            edits.erase(edits.begin() + static_cast<std::ptrdiff_t>(index));
            break;
        case 1:
            edit.value = nasty_word(edit.value, random);
            break;
        case 2:
            edit.at += static_cast<std::uint32_t>(random() % 5) - 2;
            break;
        case 3:
            edit.kind = random_edit(files, random).kind;
            break;
        case 4:
            edit.width = static_cast<std::uint8_t>(random() % 4);
            break;
        case 5:
            edit.at = static_cast<std::uint32_t>(random());
            break;
        default:
            edit = random_edit(files, random);
    }
}

std::vector<std::vector<ImageEdit>> seed_edits(const ImageFiles& files) {
    std::vector<std::vector<ImageEdit>> seeds{{}};
    std::uint8_t index = 0;
    for (const auto& [name, bytes] : files) {
        for (std::uint8_t region = 0; region < regions_of(bytes).size(); ++region) {
            for (std::uint32_t word = 0; word < 4; ++word)
                seeds.push_back({{index, region, static_cast<std::uint8_t>(EditKind::add), 3, word * word, word}});
        }
        ++index;
    }
    return seeds;
}

std::string to_text(const ImageFiles& files, std::span<const ImageEdit> edits) {
    std::string text;
    for (const ImageEdit& edit : edits) {
        const auto file = file_at(files, edit.file);
        const std::vector<Region> regions = regions_of(file->second);
        const Region& region = regions[edit.region % regions.size()];
        text += file->first.string() + " " + region.name + " +" +
                std::to_string(place_of(region, edit.at, width_of(edit))) + " " +
                kKindNames[static_cast<std::size_t>(kind_of(edit))] + " " + std::to_string(width_of(edit)) + " " +
                std::to_string(edit.value) + "; ";
    }
    return text;
}

}  // namespace ringmain::test
