// Memory orders are named, and releases name their acquires.
#include "support/catch.hpp"

#include "style/rules.hpp"

namespace style = ringmain::style;

namespace {

std::vector<style::SourceFile> library_files() {
    std::vector<style::SourceFile> files = style::load_cpp_files();
    std::erase_if(files, [](const style::SourceFile& file) { return !file.is_under("src"); });
    return files;
}

std::string memory_order_text() {
    for (const style::SourceFile& file : style::load_tree()) {
        if (file.path == "docs/memory-order.md")
            return file.text;
    }
    return "";
}

std::size_t orders_missing(const std::string& statement) {
    return style::check_atomic_orders({"src/a.cpp", "// A planted file.\n" + statement + "\n"}).size();
}

std::size_t labels_broken(const std::string& code, const std::string& table) {
    return style::check_sync_labels({{"src/a.cpp", "// A planted file.\n" + code}}, table).size();
}

}  // namespace

TEST_CASE("every atomic operation in src names its memory order") {
    REQUIRE(style::report(library_files(), style::check_atomic_orders) == "");
}

TEST_CASE("the order rule finds operations and fences without an order") {
    CHECK(orders_missing("a.load();") == 1);
    CHECK(orders_missing("a->store(f(1, 2));") == 1);
    CHECK(orders_missing("a.fetch_add(1);") == 1);
    CHECK(orders_missing("a.compare_exchange_strong(seen,\n    next);") == 1);
    CHECK(orders_missing("a.exchange(1);") == 1);
    CHECK(orders_missing("M::fence();") == 1);
    CHECK(orders_missing("std::atomic_thread_fence();") == 1);
}

TEST_CASE("the order rule accepts named orders and text that only looks like an operation") {
    CHECK(orders_missing("a.load(std::memory_order_acquire);") == 0);
    CHECK(orders_missing("a.store(f(1, 2), std::memory_order::release);") == 0);
    CHECK(orders_missing("a.compare_exchange_weak(seen, to, order, std::memory_order_relaxed);") == 0);
    CHECK(orders_missing("std::exchange(a, b);  // a.load() without an order") == 0);
    CHECK(orders_missing("say(\"a.load()\");") == 0);
}

TEST_CASE("every release in src names its acquire, and docs/memory-order.md knows both") {
    REQUIRE(style::report(style::check_sync_labels(library_files(), memory_order_text())) == "");
}

TEST_CASE("the label rule finds labels without a partner, without a row, and rows without a site") {
    const std::string row = "| `CELL_COMMIT` | commit | read |\n";
    CHECK(labels_broken("a();  // release CELL_COMMIT: published\nb();  // acquire CELL_COMMIT\n", row) == 0);
    CHECK(labels_broken("// release CELL_COMMIT: published\n", row) == 1);
    CHECK(labels_broken("// acquire CELL_COMMIT: read\n", row) == 1);
    CHECK(labels_broken("// release CELL_COMMIT, acquire CELL_COMMIT: both\n", "") == 1);
    CHECK(labels_broken("", row) == 1);
}

TEST_CASE("the label rule reads lists of labels") {
    const std::string rows = "| AAA | | |\n| BBB | | |\n";
    CHECK(labels_broken("// release AAA, BBB: why\n// acquire BBB (start), AAA\n", rows) == 0);
    CHECK(labels_broken("// release AAA (start), acquire BBB: why\n", rows) == 2);
}
