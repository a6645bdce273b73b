// The client table: identities by kernel-held locks.
#include "client_table/client_table.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "broker_directory.hpp"
#include "support/catch.hpp"
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/scratch_directory.hpp"

using namespace ringmain;
using client_table::ClientTable;
using layout::ClientId;
using test::Child;
using test::ScratchDirectory;

namespace {

struct Table {
    Table() { make_broker_directory(scratch.broker()); }
    [[nodiscard]] ClientTable open() const { return open_client_table(scratch.broker()); }
    ScratchDirectory scratch;
};

}  // namespace

TEST_CASE("A client is alive while its table object lives, and proven dead afterwards") {
    const Table files;
    const ClientTable observer = files.open();
    ClientId id;
    {
        ClientTable client = files.open();
        id = client.attach();
        CHECK(client.attach() == id);
        CHECK(client.id() == id);
        CHECK_FALSE(observer.proven_dead(id));
        CHECK_FALSE(client.proven_dead(id));
        CHECK(observer.describe(id).state == ClientState::alive);
        CHECK(observer.describe(id).pid == ::getpid());
    }
    CHECK(observer.proven_dead(id));
    CHECK(observer.proven_dead_word(id.word()));
    CHECK(observer.describe(id).state == ClientState::dead);
}

TEST_CASE("Two table objects of one process are two clients") {
    const Table files;
    ClientTable one = files.open();
    ClientTable two = files.open();
    CHECK_FALSE(one.attach() == two.attach());
    CHECK_FALSE(one.proven_dead(two.id()));
    CHECK_FALSE(two.proven_dead(one.id()));
}

TEST_CASE("The next user of a slot is another client, and its predecessor stays dead") {
    const Table files;
    const ClientTable observer = files.open();
    ClientId first;
    {
        ClientTable client = files.open();
        first = client.attach();
    }
    ClientTable next = files.open();
    const ClientId second = next.attach();
    CHECK(second.slot == first.slot);
    CHECK(second.incarnation == first.incarnation + 1);
    CHECK(observer.proven_dead(first));
    CHECK_FALSE(observer.proven_dead(second));
}

TEST_CASE("A killed client is proven dead at once, a stopped one never") {
    const Table files;
    const ClientTable observer = files.open();
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    Child child([&] {
        ClientTable client = files.open();
        const ClientId id = client.attach();
        (void)!::write(ready[1], &id, sizeof id);
        ::pause();
        return 0;
    });
    ClientId id;
    REQUIRE(::read(ready[0], &id, sizeof id) == static_cast<ssize_t>(sizeof id));
    child.signal(SIGSTOP);
    CHECK_FALSE(observer.proven_dead(id));
    child.kill();
    CHECK(observer.proven_dead(id));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("Words that name no possible client are not proven dead") {
    const Table files;
    ClientTable table = files.open();
    const ClientId id = table.attach();
    CHECK_FALSE(table.proven_dead_word(0));
    CHECK_FALSE(table.proven_dead_word(std::uint64_t{1} << 32));            // no slot
    CHECK_FALSE(table.proven_dead_word(1));                                 // no incarnation
    CHECK_FALSE(table.proven_dead(ClientId{layout::kClientsMax, 1}));       // beyond the table
    CHECK_FALSE(table.proven_dead(ClientId{id.slot, id.incarnation + 1}));  // not given out yet
    CHECK_FALSE(table.proven_dead_word(~std::uint64_t{0}));
    CHECK(table.describe(ClientId{~std::uint32_t{0}, ~std::uint32_t{0}}).state == ClientState::unknown);
}

TEST_CASE("O04 A full client table says so with its size, and a freed slot is used again") {
    const Table files;
    platform::FileLock holder(files.scratch.broker() / "clients");
    for (std::uint32_t slot = 0; slot < layout::kClientsMax; ++slot)
        REQUIRE(holder.try_lock(layout::kClientLockAt + slot));
    ClientTable late = files.open();
    const auto refused = test::thrown_by([&] { return late.attach(); });
    CHECK(refused.code == ErrorCode::limit);
    CHECK_THAT(refused.text, test::contains("1024"));
    holder.unlock(layout::kClientLockAt + 77);
    CHECK(late.attach().slot == 77);
}

TEST_CASE("A table that may only be read tells the living from the dead and refuses to attach") {
    if (::geteuid() != 0)
        SKIP("needs root, to become another user");
    const Table files;
    ClientTable alive = files.open();
    const ClientId id = alive.attach();
    REQUIRE(::chmod((files.scratch.broker() / "clients").c_str(), 0644) == 0);
    Child other([&] {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0)
            return 1;
        ClientTable table = files.open();
        if (table.proven_dead(id) || table.describe(id).state != ClientState::alive)
            return 2;
        if (!table.proven_dead(ClientId{id.slot, id.incarnation - 1}) && id.incarnation > 1)
            return 3;
        const auto refused = test::thrown_by([&] { return table.attach(); });
        return refused.code == ErrorCode::permission_denied ? 0 : 4;
    });
    CHECK(other.wait() == 0);
}
