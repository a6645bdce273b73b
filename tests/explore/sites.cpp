// Sites of atomic operations by file and line, and their weakenings.
#include "explore/sites.hpp"

#include <algorithm>
#include <cstdlib>

namespace ringmain::explore {

namespace {

constexpr std::array kAll = {Weakening::relaxed, Weakening::no_acquire, Weakening::no_release,
                             Weakening::acq_rel, Weakening::skip,       Weakening::split};

// The path below the directory that every include begins at.
std::string_view short_path(std::string_view path) {
    for (const std::string_view root : {std::string_view("/src/"), std::string_view("/tests/")}) {
        const std::size_t at = path.rfind(root);
        if (at != std::string_view::npos)
            return path.substr(at + root.size());
    }
    return path;
}

bool changes(Operation operation) noexcept {
    return operation != Operation::load && operation != Operation::store && operation != Operation::fence &&
           operation != Operation::copy_in && operation != Operation::copy_out;
}

}  // namespace

const char* name_of(Operation operation) noexcept {
    constexpr std::array<const char*, kOperations> kNames = {"load",      "store",    "exchange",  "fetch_add",
                                                             "fetch_sub", "fetch_or", "fetch_and", "compare_exchange",
                                                             "cas16",     "fence",    "copy_in",   "copy_out"};
    return kNames[static_cast<std::size_t>(operation)];
}

const char* name_of(std::memory_order order) noexcept {
    switch (order) {
        case std::memory_order_relaxed:
            return "relaxed";
        case std::memory_order_consume:
        case std::memory_order_acquire:
            return "acquire";
        case std::memory_order_release:
            return "release";
        case std::memory_order_acq_rel:
            return "acq_rel";
        case std::memory_order_seq_cst:
            break;
    }
    return "seq_cst";
}

const char* name_of(Weakening weakening) noexcept {
    constexpr std::array<const char*, kWeakenings> kNames = {"none",    "relaxed", "no_acquire", "no_release",
                                                             "acq_rel", "skip",    "split"};
    return kNames[static_cast<std::size_t>(weakening)];
}

std::string Mutation::text() const { return where + '=' + name_of(weakening); }

Mutation Mutation::parse(std::string_view text) {
    const std::size_t equals = text.rfind('=');
    for (const Weakening weakening : kAll) {
        if (equals != std::string_view::npos && text.substr(equals + 1) == name_of(weakening))
            return {std::string(text.substr(0, equals)), weakening};
    }
    return {};
}

std::memory_order weakened(std::memory_order order, Weakening weakening) noexcept {
    const bool acquire =
        order == std::memory_order_acquire || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
    const bool release =
        order == std::memory_order_release || order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
    switch (weakening) {
        case Weakening::relaxed:
            return std::memory_order_relaxed;
        case Weakening::no_acquire:
            return release ? std::memory_order_release : std::memory_order_relaxed;
        case Weakening::no_release:
            return acquire ? std::memory_order_acquire : std::memory_order_relaxed;
        case Weakening::acq_rel:  // a load takes the acquire half of it, a store the release half
            return order == std::memory_order_seq_cst ? std::memory_order_acq_rel : order;
        case Weakening::none:
        case Weakening::skip:
        case Weakening::split:
            break;
    }
    return order;
}

std::vector<Mutation> mutations_of(const Site& site) {
    std::vector<Mutation> mutations;
    const auto add = [&](Weakening weakening) { mutations.push_back({site.where, weakening}); };
    const bool both = site.order == std::memory_order_acq_rel || site.order == std::memory_order_seq_cst;
    if (site.operation == Operation::copy_in || site.operation == Operation::copy_out) {
        add(Weakening::skip);
        return mutations;
    }
    if (site.order != std::memory_order_relaxed || site.failure != std::memory_order_relaxed)
        add(Weakening::relaxed);
    if (both && site.operation != Operation::load && site.operation != Operation::store) {
        add(Weakening::no_acquire);
        add(Weakening::no_release);
    }
    if (site.order == std::memory_order_seq_cst)
        add(Weakening::acq_rel);
    if (site.operation != Operation::fence)
        add(Weakening::skip);
    if (changes(site.operation))
        add(Weakening::split);
    return mutations;
}

Site& Sites::find(std::size_t slot, const Caller& caller, Operation operation) {
    for (std::size_t probe = 0; probe < kSlots; ++probe, slot = (slot + 1) % kSlots) {
        Entry& entry = table_[slot];
        if (entry.file == caller.file && entry.line == caller.line && entry.operation == operation)
            return *entry.site;
        if (entry.file == nullptr) {
            entry = {caller.file, caller.line, operation, &by_name(caller, operation)};
            return *entry.site;
        }
    }
    std::abort();  // more sites than kSlots
}

// One file has several names in memory, one for each translation unit.
Site& Sites::by_name(const Caller& caller, Operation operation) {
    std::string where(short_path(caller.file));
    where += ':' + std::to_string(caller.line) + ':' + name_of(operation);
    for (Site& site : sites_) {
        if (site.where == where)
            return site;
    }
    Site& added = sites_.emplace_back();
    added.where = std::move(where);
    added.operation = operation;
    if (added.where == mutation_.where)
        added.weakening = mutation_.weakening;
    return added;
}

void Sites::mutate(const Mutation& mutation) {
    mutation_ = mutation;
    for (Site& site : sites_)
        site.weakening = site.where == mutation.where ? mutation.weakening : Weakening::none;
}

void Sites::forget_reached() noexcept {
    for (Site& site : sites_)
        site.reached = 0;
}

std::vector<Site> Sites::reached() const {
    std::vector<Site> reached;
    for (const Site& site : sites_) {
        if (site.reached != 0)
            reached.push_back(site);
    }
    std::sort(reached.begin(), reached.end(), [](const Site& a, const Site& b) { return a.where < b.where; });
    return reached;
}

}  // namespace ringmain::explore
