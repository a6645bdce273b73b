// Topics whose files were unlinked from under those who have them open.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "keeper_step.hpp"
#include "topic_files.hpp"

namespace ringmain {

/// What was unlinked, or replaced, never comes back. Whoever works on it unseen is told that the topic is gone, as by a
/// deletion: in each of the two files that handles look at, once that one is unlinked itself. A file that still has its
/// name serves the topic that is there; one that was only moved may come back. Not thread-safe.
class TopicFarewells {
public:
    /// A file of this topic is not at its path any more. Others may follow within a moment, as with `rm -r`.
    void add(std::shared_ptr<const TopicFiles> files, const KeeperStep& step);
    void step(KeeperStep& step);

private:
    struct Farewell {
        std::shared_ptr<const TopicFiles> files;
        std::int64_t since_ns = 0;
        bool handles_told = false;
        bool members_told = false;
    };
    static bool tell(Farewell& farewell);
    std::vector<Farewell> farewells_;
};

}  // namespace ringmain
