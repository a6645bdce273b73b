// What the doctor finds of the machine, from figures that a test cannot bring about; and that every kind of finding is
// documented.
#include <cstdio>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "cli/doctor_examination.hpp"
#include "cli/doctor_report.hpp"
#include "support/catch.hpp"

namespace ringmain::test {

namespace {

using cli::Examined;
using cli::Finding;
using cli::Severity;

/// A broker on a tmpfs with room.
Examined healthy() {
    Examined examined;
    examined.stats.directory = "/dev/shm/a b";
    examined.stats.file_system = {"tmpfs", false, std::uint64_t{1} << 30, std::uint64_t{1} << 29, std::nullopt};
    examined.stats.keeper.running = true;
    examined.stats.clients_readable = true;
    examined.surroundings.mount_point = "/dev/shm";
    examined.surroundings.maps_max = 65530;
    examined.surroundings.descriptors_max = 1024;
    return examined;
}

Finding only_finding(const Examined& examined) {
    const cli::Findings findings = cli::examine(examined);
    REQUIRE(findings.size() == 1);
    return findings.front();
}

TopicStats topic_of(std::uint32_t partitions) {
    TopicStats topic;
    topic.name = "t";
    topic.description.options.partitions = partitions;
    topic.partitions.resize(partitions);
    return topic;
}

}  // namespace

TEST_CASE("Doctor: nothing is wrong with figures as they should be") { CHECK(cli::examine(healthy()).empty()); }

TEST_CASE("Doctor: a file system that is nearly full, or too small for what is planned") {
    Examined examined = healthy();
    examined.stats.file_system.free_bytes = std::uint64_t{10} << 20;
    Finding finding = only_finding(examined);
    CHECK((finding.id == "file-system-full" && finding.severity == Severity::warning));
    CHECK_THAT(finding.text, contains("10.0 MiB of 1.00 GiB"));
    CHECK(finding.command == "mount -o remount,size=1280M /dev/shm");
    examined.stats.file_system.type = "ext4";
    finding = only_finding(examined);
    CHECK((finding.command == "df -h '/dev/shm/a b'" && !finding.mends));

    examined = healthy();
    examined.planned_bytes = std::uint64_t{3} << 29;
    finding = only_finding(examined);
    CHECK((finding.id == "no-room-for-plan" && finding.severity == Severity::error));
    CHECK(finding.command == "mount -o remount,size=2048M /dev/shm");
}

TEST_CASE("Doctor: a broker on a network file system") {
    Examined examined = healthy();
    examined.stats.file_system.type = "nfs";
    examined.stats.file_system.remote = true;
    const Finding finding = only_finding(examined);
    CHECK((finding.id == "network-file-system" && finding.severity == Severity::error));
    CHECK_THAT(finding.text, contains("is on nfs"));
}

TEST_CASE("E05 Doctor: a broker that logind deletes when its owner logs out") {
    Examined examined = healthy();
    examined.surroundings.removed_with = "ada";
    const Finding finding = only_finding(examined);
    CHECK((finding.id == "logind-removes" && finding.severity == Severity::warning && finding.mends));
    CHECK_THAT(finding.text, contains("belongs to user ada"));
    CHECK(finding.command == "loginctl enable-linger ada");

    CHECK(cli::removes_ipc(""));
    CHECK(cli::removes_ipc("[Login]\n#RemoveIPC=no\n"));
    CHECK_FALSE(cli::removes_ipc("[Login]\nRemoveIPC = no\n"));
    CHECK(cli::removes_ipc("[Login]\nRemoveIPC=no\n\n[Login]\nRemoveIPC=yes\n"));
    CHECK(cli::owner_with_whom_it_goes("/proc").empty());
}

TEST_CASE("Doctor: limits of the kernel that the topics come near to") {
    Examined examined = healthy();
    examined.surroundings.maps_max = 1000;
    examined.stats.topics.push_back(topic_of(797));
    Finding finding = only_finding(examined);
    CHECK(finding.id == "map-limit");
    CHECK_THAT(finding.text, contains("needs 800 mappings of the 1000"));
    CHECK(finding.command == "sysctl -w vm.max_map_count=2000");
    examined.stats.topics[0].partitions.pop_back();
    CHECK(cli::examine(examined).empty());

    examined.surroundings.descriptors_max = 64;
    finding = only_finding(examined);
    CHECK((finding.id == "descriptor-limit" && finding.command == "ulimit -n 512"));
}

TEST_CASE("Doctor: what the kernel lacks") {
    Examined examined = healthy();
    examined.surroundings.membarrier = false;
    CHECK((only_finding(examined).id == "no-membarrier" && only_finding(examined).severity == Severity::note));
    examined = healthy();
    examined.surroundings.pidfd = false;
    CHECK((only_finding(examined).id == "no-pidfd" && only_finding(examined).severity == Severity::note));
    examined = healthy();
    examined.surroundings.file_locks = false;
    CHECK((only_finding(examined).id == "no-file-locks" && only_finding(examined).severity == Severity::error));
}

TEST_CASE("Doctor: what this user may not see is a note") {
    Examined examined = healthy();
    examined.stats.keeper.running = std::nullopt;
    CHECK((only_finding(examined).id == "keeper-not-visible" && only_finding(examined).severity == Severity::note));
    examined = healthy();
    examined.stats.clients_readable = false;
    CHECK((only_finding(examined).id == "clients-not-visible" && only_finding(examined).severity == Severity::note));
}

TEST_CASE("Doctor: a client table that is nearly full") {
    Examined examined = healthy();
    examined.surroundings.descriptors_max = 65536;
    examined.stats.clients.resize(921);
    for (ClientStats& client : examined.stats.clients)
        client.client.state = ClientState::alive;
    CHECK(cli::examine(examined).empty());
    examined.stats.clients.push_back(examined.stats.clients.front());
    CHECK((only_finding(examined).id == "clients-full" && only_finding(examined).severity == Severity::warning));
    examined.stats.clients.resize(1024, examined.stats.clients.front());
    CHECK(only_finding(examined).severity == Severity::error);
}

TEST_CASE("Doctor: names of producers and gates that run out") {
    Examined examined = healthy();
    examined.stats.topics.push_back(topic_of(1));
    examined.stats.topics[0].partitions[0].producer_names = 58;
    CHECK((only_finding(examined).id == "producer-names-full" && only_finding(examined).severity == Severity::note));
    examined.stats.topics[0].partitions[0].producer_names = 64;
    CHECK(only_finding(examined).severity == Severity::warning);
    examined.stats.topics[0].partitions[0].producer_names = 0;
    examined.stats.topics[0].partitions[0].gates.resize(16);
    CHECK(only_finding(examined).id == "gates-full");
}

TEST_CASE("Doctor: topics that this user may not read, or that fail otherwise") {
    Examined examined = healthy();
    examined.stats.topics.push_back(topic_of(0));
    examined.stats.topics[0].error = "cannot open 'x': permission denied (owner uid 0, mode 0600)";
    examined.stats.topics[0].error_code = ErrorCode::permission_denied;
    Finding finding = only_finding(examined);
    CHECK((finding.id == "no-rights" && finding.command == "ls -l '/dev/shm/a b/topics/t'" && !finding.mends));
    CHECK(finding.text == examined.stats.topics[0].error);
    examined.stats.topics[0].error_code = ErrorCode::io;
    finding = only_finding(examined);
    CHECK((finding.id == "topic-unreadable" && finding.command == "ringmain -d '/dev/shm/a b' verify t"));
    examined.stats.topics[0].error_code = ErrorCode::not_ready;  // it is being made or deleted
    CHECK(cli::examine(examined).empty());
}

TEST_CASE("Doctor: the worst comes first, and notes alone are no illness") {
    Examined examined = healthy();
    examined.surroundings.membarrier = false;
    cli::DoctorReport report{"d", {}, cli::examine(examined)};
    CHECK_FALSE(cli::is_ill(report));
    examined.surroundings.file_locks = false;
    examined.stats.file_system.free_bytes = 0;
    report.findings = cli::examine(examined);
    REQUIRE(report.findings.size() == 3);
    CHECK(report.findings[0].severity == Severity::error);
    CHECK(report.findings[1].severity == Severity::warning);
    CHECK(report.findings[2].severity == Severity::note);
    CHECK(cli::is_ill(report));
    CHECK_THAT(cli::report_to_text(report),
               contains("error    no-file-locks") && contains("d: 1 error, 1 warning, 1 note\n"));
}

TEST_CASE("Every kind of finding has one row in docs/troubleshooting.md, and every row is one") {
    std::ifstream file(RINGMAIN_SOURCE_DIR "/docs/troubleshooting.md");
    std::multiset<std::string> rows;
    const std::regex row(R"(^\| `([a-z-]+)` \|.*)");
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
        if (std::regex_match(line, match, row))
            rows.insert(match[1]);
    }
    std::multiset<std::string> kinds;
    for (const cli::FindingKind& kind : cli::finding_kinds())
        kinds.insert(std::string(kind.id));
    CHECK(rows == kinds);
}

TEST_CASE("Words of shell commands are quoted where they have to be") {
    CHECK(cli::shell_word("/dev/shm/x-1") == "/dev/shm/x-1");
    CHECK(cli::shell_word("") == "''");
    CHECK(cli::shell_word("a b") == "'a b'");
    CHECK(cli::shell_word("it's;$x") == "'it'\\''s;$x'");
}

TEST_CASE("A name in a proposed command acts on no terminal, and is the same name for the shell") {
    const std::string name = "a\x1b[2J'\\\nb\x7f";
    const std::string word = cli::shell_word(name);
    CHECK(word == "$'a\\x1b[2J\\'\\\\\\x0ab\\x7f'");
    const std::string command = "bash -c " + cli::shell_word("printf %s " + word);
    FILE* const shell = ::popen(command.c_str(), "r");
    REQUIRE(shell != nullptr);
    std::string read(100, '\0');
    read.resize(std::fread(read.data(), 1, read.size(), shell));
    CHECK(::pclose(shell) == 0);
    CHECK(read == name);
}

}  // namespace ringmain::test
