// The kinds of findings.
#include "doctor_finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ringmain::cli {

namespace {

constexpr bool kLoses = true;

constexpr std::array kKinds = {
    // the broker
    FindingKind{"no-broker", Severity::error, kLoses},
    FindingKind{"broker-unusable", Severity::error},
    // the keeper
    FindingKind{"no-keeper", Severity::warning},
    FindingKind{"retention-without-keeper", Severity::warning, kLoses},
    FindingKind{"keeper-stopped", Severity::error, kLoses},
    FindingKind{"keeper-not-visible", Severity::note},
    FindingKind{"keeper-cannot-write", Severity::warning},
    FindingKind{"leftovers", Severity::warning},
    FindingKind{"stale-socket", Severity::warning},
    // clients
    FindingKind{"stopped-client", Severity::warning, kLoses},
    FindingKind{"clients-not-visible", Severity::note},
    FindingKind{"clients-full", Severity::warning},
    FindingKind{"files-removed", Severity::error, kLoses},
    // groups
    FindingKind{"position-lost", Severity::warning, kLoses},
    FindingKind{"loss-near", Severity::warning, kLoses},
    FindingKind{"blocked", Severity::error},
    FindingKind{"nearly-blocked", Severity::warning},
    FindingKind{"group-without-members", Severity::warning, kLoses},
    FindingKind{"member-silent", Severity::warning, kLoses},
    // queues
    FindingKind{"queue-without-workers", Severity::warning, kLoses},
    FindingKind{"worker-stopped", Severity::warning, kLoses},
    FindingKind{"queue-lost", Severity::warning, kLoses},
    FindingKind{"letters-refused", Severity::error, kLoses},
    FindingKind{"letters-gone", Severity::error, kLoses},
    FindingKind{"window-full", Severity::error, kLoses},
    FindingKind{"dead-letters", Severity::warning},
    // topics
    FindingKind{"damaged", Severity::error, kLoses},
    FindingKind{"other-version", Severity::error, kLoses},
    FindingKind{"no-rights", Severity::warning},
    FindingKind{"topic-unreadable", Severity::error, kLoses},
    FindingKind{"consumers-cannot-read", Severity::warning, kLoses},
    FindingKind{"groups-full", Severity::warning},
    FindingKind{"members-full", Severity::warning},
    FindingKind{"producers-full", Severity::warning},
    FindingKind{"producer-names-full", Severity::warning},
    FindingKind{"gates-full", Severity::warning},
    // the machine
    FindingKind{"file-system-full", Severity::warning, kLoses},
    FindingKind{"no-room-for-plan", Severity::error, kLoses},
    FindingKind{"network-file-system", Severity::error},
    FindingKind{"logind-removes", Severity::warning},
    FindingKind{"map-limit", Severity::warning},
    FindingKind{"descriptor-limit", Severity::warning},
    FindingKind{"no-file-locks", Severity::error},
    FindingKind{"no-membarrier", Severity::note},
    FindingKind{"no-pidfd", Severity::note},
};

}  // namespace

std::string_view to_string(Severity severity) noexcept {
    switch (severity) {
        case Severity::note:
            return "note";
        case Severity::warning:
            return "warning";
        case Severity::error:
            return "error";
    }
    return "unknown";
}

std::span<const FindingKind> finding_kinds() noexcept { return kKinds; }

bool is_event(std::string_view id) noexcept {
    constexpr std::array<std::string_view, 13> kEvents = {
        "no-keeper", "keeper-stopped", "leftovers", "stale-socket", "stopped-client", "files-removed", "position-lost",
        "blocked", "nearly-blocked", "group-without-members", "member-silent", "damaged", "loss-near"};
    return std::find(kEvents.begin(), kEvents.end(), id) != kEvents.end();
}

Finding make_finding(std::string_view id, std::string object, std::string text) {
    const auto* const kind =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const FindingKind& one) { return one.id == id; });
    if (kind == kKinds.end())
        throw std::logic_error("no such kind of finding");
    Finding finding;
    finding.id = kind->id;
    finding.happened = is_event(kind->id);
    finding.severity = kind->severity;
    finding.loses = kind->loses;
    finding.object = std::move(object);
    finding.text = std::move(text);
    return finding;
}

namespace {

bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string with_escapes(std::string_view text) {
    std::string word = "$'";
    for (const char c : text) {
        if (is_control(c))
            word.append(fmt::format("\\x{:02x}", static_cast<unsigned char>(c)));
        else if (c == '\'' || c == '\\')
            word.append({'\\', c});
        else
            word.push_back(c);
    }
    return word + "'";
}

}  // namespace

std::string shell_word(std::string_view text) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=+,@%";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
        return std::string(text);
    if (std::any_of(text.begin(), text.end(), is_control))
        return with_escapes(text);
    std::string word = "'";
    for (const char c : text) {
        if (c == '\'')
            word.append("'\\''");
        else
            word.push_back(c);
    }
    return word + "'";
}

}  // namespace ringmain::cli
