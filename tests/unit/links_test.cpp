// Links and pipes that somebody puts where files of a broker should be lead nobody to another's files, and hang nobody.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "platform/file_lock.hpp"
#include "platform/files.hpp"
#include "platform/mapping.hpp"
#include "platform/rights.hpp"
#include "ringmain/error.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using namespace ringmain::platform;
using test::thrown_by;

namespace {

namespace fs = std::filesystem;

/// A directory of somebody else with a file in it, and ours, which somebody may write who has no right to the former.
struct Place {
    test::ScratchDirectory scratch;
    fs::path theirs = scratch.path() / "theirs";
    fs::path file = theirs / "file";
    fs::path ours = scratch.path() / "ours";

    Place() {
        fs::create_directory(theirs);
        fs::create_directory(ours);
        std::ofstream(file) << "precious";
        ::chmod(file.c_str(), 0600);
    }
    [[nodiscard]] bool untouched() const {
        std::ifstream in(file);
        const std::string text(std::istreambuf_iterator<char>(in), {});
        struct stat status {};
        return ::stat(file.c_str(), &status) == 0 && (status.st_mode & 07777U) == 0600 && text == "precious";
    }
};

}  // namespace

TEST_CASE("Removing a directory removes a link that lies in its place, and nothing behind it") {
    const Place place;
    fs::create_symlink(place.theirs, place.ours / "grave");
    CHECK(remove_directory(place.ours / "grave"));
    CHECK_FALSE(fs::exists(fs::symlink_status(place.ours / "grave")));
    CHECK(place.untouched());
    CHECK(remove_directory(place.ours / "grave"));  // gone is gone
    std::ofstream(place.ours / "a") << "x";
    CHECK(remove_directory(place.ours));
    CHECK_FALSE(fs::exists(place.ours));
}

TEST_CASE("Rights of a topic reach no file behind a link, and none that has a name elsewhere too") {
    const Place place;
    std::ofstream(place.ours / "0.log") << "x";
    fs::create_symlink(place.file, place.ours / "1.log");
    fs::create_hard_link(place.file, place.ours / "2.log");
    set_rights(place.ours, {.owner = {}, .group = {}, .mode = 0666});
    CHECK(rights_of(place.ours / "0.log").mode == 0666U);
    CHECK(place.untouched());
    CHECK(thrown_by([&] {
              set_mode(place.ours / "1.log", 0666);
              return 0;
          }).code == ErrorCode::io);
    CHECK(place.untouched());
    set_mode(place.ours / "0.log", 0600);
    CHECK(rights_of(place.ours / "0.log").mode == 0600U);
}

TEST_CASE("A link in the place of a file is neither locked, mapped nor written") {
    const Place place;
    fs::create_symlink(place.file, place.ours / "keeper.lock");
    CHECK(thrown_by([&] { return FileLock(place.ours / "keeper.lock"); }).code == ErrorCode::io);
    CHECK(thrown_by([&] { return Mapping(place.ours / "keeper.lock", Access::read_only, 1); }).code == ErrorCode::io);
    replace_text(place.ours / "keeper.lock", "4711\n");
    CHECK(place.untouched());
    CHECK(read_text(place.ours / "keeper.lock", 8).empty());
    CHECK(read_text(place.file, 8) == "precious");
    CHECK(read_text(place.file, 3) == "pre");
}

TEST_CASE("A pipe in the place of a file has no text, and reading it waits for nobody") {
    const Place place;
    REQUIRE(::mkfifo((place.ours / "keeper.lock").c_str(), 0666) == 0);
    CHECK(read_text(place.ours / "keeper.lock", 8).empty());
    replace_text(place.ours / "keeper.lock", "4711\n");
}
