// Damage to an image as a list of edits that know where something stands: 16 bytes each, so that a fuzzer can keep,
// change and join them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace ringmain::test {

/// Files by name, and their bytes.
using ImageFiles = std::map<std::filesystem::path, std::string>;

enum class EditKind : std::uint8_t {
    set,        // the word becomes `value`
    add,        // `value` is added to it
    flip,       // one of its bits is turned
    copy,       // it becomes another word of its region
    copy_from,  // it becomes a word of another file
    run,        // it and some behind it become `value`
    copy_run,   // it and some behind it become what another place of the region holds
    cut,        // the file ends here
    grow,       // the file gets longer
    swap_file,  // the file becomes another one
    remove,     // the file is not there
    count,
};

/// All numbers count modulo what there is, so that any bytes are an edit.
struct ImageEdit {
    std::uint8_t file = 0;
    std::uint8_t region = 0;
    std::uint8_t kind = 0;
    std::uint8_t width = 3;  // the word has 1 << width bytes
    std::uint32_t at = 0;    // which word of the region
    std::uint64_t value = 0;
};
static_assert(sizeof(ImageEdit) == 16);

inline constexpr std::size_t kEditsMax = 24;

/// Whole edits of the bytes, at most kEditsMax.
[[nodiscard]] std::vector<ImageEdit> decode_edits(std::span<const std::uint8_t> bytes);
/// What of `files` the edits change, or take away (no bytes and `removed`).
struct EditedFile {
    std::filesystem::path name;
    std::string bytes;
    bool removed = false;
};
[[nodiscard]] std::vector<EditedFile> edited(const ImageFiles& files, std::span<const ImageEdit> edits);

/// One more edit, most likely of a word that is followed.
[[nodiscard]] ImageEdit random_edit(const ImageFiles& files, std::mt19937_64& random);
/// Adds, drops, or changes something.
void mutate(std::vector<ImageEdit>& edits, const ImageFiles& files, std::mt19937_64& random);
/// For each region of each file one list that damages it, so that a corpus begins everywhere.
[[nodiscard]] std::vector<std::vector<ImageEdit>> seed_edits(const ImageFiles& files);

/// For people: the places and what is done there.
[[nodiscard]] std::string to_text(const ImageFiles& files, std::span<const ImageEdit> edits);

}  // namespace ringmain::test
