// Effectively once into a database: what a record does to the tables and the offset behind it are one transaction.
//
// Payments are added to the balances of accounts in SQLite. Killed anywhere and started again, the sink reads on from the offset
// that the database holds: either both the balance and the offset have a payment, or neither has.
#include <ringmain/ringmain.hpp>
#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kAccounts = 7;

/// Just enough of SQLite: every error is an exception, and so an end of the program between two transactions.
class Database {
public:
    explicit Database(const char* path) {
        sqlite3* opened = nullptr;
        const int code = sqlite3_open(path, &opened);
        db_.reset(opened);
        check(code);
        run("PRAGMA synchronous = OFF");  // a killed process loses nothing by that; a crashed machine loses the log as well
        run("CREATE TABLE IF NOT EXISTS balances (account INTEGER PRIMARY KEY, cents INTEGER NOT NULL, payments INTEGER NOT NULL)");
        run("CREATE TABLE IF NOT EXISTS position (topic TEXT PRIMARY KEY, next_offset INTEGER NOT NULL)");
    }

    void run(const std::string& sql) { check(sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr)); }

    /// The first column of the first row, or 0.
    std::int64_t number(const std::string& sql) {
        std::int64_t found = 0;
        const auto take = [](void* to, int, char** columns, char**) {
            *static_cast<std::int64_t*>(to) = columns[0] == nullptr ? 0 : std::strtoll(columns[0], nullptr, 10);
            return 0;
        };
        check(sqlite3_exec(db_.get(), sql.c_str(), take, &found, nullptr));
        return found;
    }

private:
    void check(int code) const {
        if (code != SQLITE_OK)
            throw std::runtime_error(std::string("sqlite: ") + sqlite3_errmsg(db_.get()));
    }
    struct Close {
        void operator()(sqlite3* db) const noexcept { sqlite3_close(db); }
    };
    std::unique_ptr<sqlite3, Close> db_;
};

/// Payment n is of n cents, to account n mod 7.
void feed(const ringmain::Broker& broker, std::uint64_t payments) {
    ringmain::Producer producer(broker, "payments", {.name = "bank"});
    for (std::uint64_t n = producer.last_sequence() + 1; n <= payments; ++n) {
        const std::string text = std::to_string(n);
        if (producer.publish({.value = ringmain::as_bytes(text), .sequence = n}).status != ringmain::Status::ok)
            throw std::runtime_error("a payment cannot be published");
    }
}

void apply(Database& database, const ringmain::ConsumerRecord& record) {
    const std::string cents(ringmain::text_or(record.value, "0"));
    const std::string account = std::to_string(std::stoull(cents) % kAccounts);
    database.run("INSERT INTO balances VALUES (" + account + ", " + cents + ", 1) ON CONFLICT (account) DO UPDATE SET cents = cents + " +
                 cents + ", payments = payments + 1");
}

void sink(const ringmain::Broker& broker, Database& database) {
    ringmain::Consumer consumer(broker);
    const std::int64_t next = database.number("SELECT next_offset FROM position WHERE topic = 'payments'");
    consumer.assign("payments", ringmain::Position::at(static_cast<std::uint64_t>(next)));
    for (;;) {
        const auto [status, records, gaps, failures] = consumer.poll(64, 50ms);
        if (status != ringmain::Status::ok || !gaps.empty())
            throw std::runtime_error("payments were lost to retention");
        if (records.empty())
            return;  // a real sink would go on waiting
        database.run("BEGIN");
        for (const auto& record : records)
            apply(database, record);
        database.run("INSERT OR REPLACE INTO position VALUES ('payments', " + std::to_string(records.back().offset + 1) + ")");
        database.run("COMMIT");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const char* path = argc > 1 ? argv[1] : "balances.db";
    const std::uint64_t payments = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20'000;
    try {
        ringmain::Broker broker(ringmain::default_broker_directory(), ringmain::Broker::Mode::open_or_create);
        broker.ensure_topic("payments", {.records = 1 << 17, .payload_bytes = 0});
        Database database(path);
        feed(broker, payments);
        sink(broker, database);
        const auto cents = static_cast<std::uint64_t>(database.number("SELECT sum(cents) FROM balances"));
        const auto counted = static_cast<std::uint64_t>(database.number("SELECT sum(payments) FROM balances"));
        const bool good = counted == payments && cents == payments * (payments + 1) / 2;
        std::cout << "payments " << counted << ", cents " << cents << ", each once: " << (good ? "yes" : "no") << '\n';
        return good ? 0 : 1;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
}
