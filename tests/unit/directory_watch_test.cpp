// Hearing of it when names in directories change.
#include "platform/directory_watch.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "platform/files.hpp"
#include "support/catch.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using platform::DirectoryWatch;
using test::ScratchDirectory;

namespace {

namespace fs = std::filesystem;

struct Place {
    ScratchDirectory scratch;
    fs::path directory = scratch.path() / "watched";
    DirectoryWatch watch = DirectoryWatch::open();

    Place() { fs::create_directory(directory); }
    [[nodiscard]] bool heard(int number) {
        const auto changes = watch.changes();
        return std::find(changes.directories.begin(), changes.directories.end(), number) != changes.directories.end();
    }
};

void write(const fs::path& path, const char* text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("Names that come and go in a watched directory are heard, and files that are truncated, but not what mappings write") {
    Place place;
    const auto number = place.watch.watch(place.directory);
    REQUIRE(number);
    CHECK_FALSE(place.heard(*number));
    write(place.directory / "file", "text");
    CHECK(place.heard(*number));
    fs::resize_file(place.directory / "file", 1);
    CHECK(place.heard(*number));
    const platform::Mapping mapped(place.directory / "file", platform::Access::read_write, 1);
    *mapped.data() = std::byte{7};
    CHECK_FALSE(place.heard(*number));
    fs::rename(place.directory / "file", place.directory / "other");
    CHECK(place.heard(*number));
    write(place.scratch.path() / "beside", "text");
    CHECK_FALSE(place.heard(*number));
    fs::rename(place.scratch.path() / "beside", place.directory / "other");
    CHECK(place.heard(*number));
    fs::remove(place.directory / "other");
    CHECK(place.heard(*number));
}

TEST_CASE("Who reads a file in a watched directory is heard if that was asked for, who lists the directory is not told of as a name") {
    Place place;
    const fs::path other = place.scratch.path() / "quiet";
    fs::create_directory(other);
    for (const fs::path& directory : {place.directory, other})
        write(directory / "file", "text");
    const auto heard = place.watch.watch(place.directory, DirectoryWatch::Reads::heard);
    const auto quiet = place.watch.watch(other);
    REQUIRE((heard && quiet));
    platform::knock(place.directory / "file");
    CHECK(place.heard(*heard));
    platform::knock(other / "file");
    CHECK_FALSE(place.heard(*quiet));
    (void)platform::names_in(other);
    CHECK_FALSE(place.heard(*quiet));
    platform::knock(place.directory / "nothing");
    CHECK_FALSE(place.heard(*heard));
}

TEST_CASE("The end and the moving away of a watched directory are heard") {
    Place place;
    const auto number = place.watch.watch(place.directory);
    REQUIRE(number);
    fs::rename(place.directory, place.scratch.path() / "moved");
    CHECK(place.heard(*number));
    CHECK(place.watch.watch(place.scratch.path() / "moved") == number);  // the same directory under another name
    fs::remove(place.scratch.path() / "moved");
    CHECK(place.heard(*number));
    CHECK_FALSE(place.watch.watch(place.directory));
}

TEST_CASE("A directory that is forgotten is not heard any more, and one that watches nothing hears nothing") {
    Place place;
    const auto number = place.watch.watch(place.directory);
    REQUIRE(number);
    place.watch.forget(*number);
    write(place.directory / "file", "text");
    CHECK(place.watch.changes().directories.empty());
    DirectoryWatch none;
    CHECK(none.descriptor() < 0);
    CHECK_FALSE(none.watch(place.directory));
    CHECK(none.changes().directories.empty());
    CHECK_FALSE(none.changes().everything);
}
