// Where something stands in a file of a broker: its header, its words, its cells.
#include "hostile/image_regions.hpp"

#include <algorithm>
#include <cstring>

#include "layout/clients.hpp"
#include "layout/file_header.hpp"
#include "layout/groups.hpp"
#include "layout/letters.hpp"
#include "layout/partition.hpp"
#include "layout/readers.hpp"
#include "layout/topic.hpp"
#include "layout/work.hpp"

namespace ringmain::test {

namespace {

using namespace layout;
using Host = platform::HostMemory;

template <class T>
T read(const std::string& file, std::uint64_t at) {
    T value{};
    if (at + sizeof value <= file.size())
        std::memcpy(&value, file.data() + at, sizeof value);
    return value;
}

void add_partition(const std::string& file, std::vector<Region>& regions) {
    const auto geometry = read<PartitionGeometry>(file, sizeof(FileHeader));
    regions.push_back({"geometry", sizeof(FileHeader), sizeof geometry});
    regions.push_back({"control", kControlAt, kNamedAt - kControlAt});
    regions.push_back({"names", kNamedAt, 3 * sizeof(NamedEntry<Host>)});
    regions.push_back({"marks", kMarksAt, sizeof(PartitionMarks<Host>)});
    regions.push_back({"producers", kProducersAt, geometry.producer_slots * sizeof(ProducerEntry<Host>)});
    regions.push_back({"extents", kProducersAt + geometry.producer_slots * sizeof(ProducerEntry<Host>),
                       geometry.extents * sizeof(ExtentWord<Host>)});
    regions.push_back({"cells", geometry.cells_at, geometry.records * geometry.cell_bytes});
    regions.push_back({"payload", geometry.payload_at, geometry.payload_bytes});
}

void add_groups(const std::string& file, std::vector<Region>& regions) {
    const auto geometry = read<GroupsGeometry>(file, kGroupsGeometryAt);
    const std::uint64_t members_at = group_members_at(geometry);
    const std::uint64_t cells_at = group_cells_at(geometry);
    regions.push_back({"geometry", kGroupsGeometryAt, sizeof geometry});
    regions.push_back({"control", kGroupsControlAt, sizeof(GroupsControl<Host>)});
    regions.push_back({"groups", kGroupsAt, members_at - kGroupsAt});
    regions.push_back({"members", members_at, cells_at - members_at});
    regions.push_back({"cells", cells_at, file.size() - cells_at});
}

void add_of_kind(FileKind kind, const std::string& file, std::vector<Region>& regions) {
    switch (kind) {
        case FileKind::clients:
            regions.push_back({"entries", kClientsAt, 8 * sizeof(ClientEntry<Host>)});
            break;
        case FileKind::topic:
            regions.push_back({"options", kTopicMetaAt, 256});
            break;
        case FileKind::partition:
            add_partition(file, regions);
            break;
        case FileKind::readers:
            regions.push_back({"block", kReadersAt, kReaderBlockBytes});
            break;
        case FileKind::groups:
            add_groups(file, regions);
            break;
        case FileKind::workers:
            regions.push_back({"settings", kWorkSettingsAt, 512});
            regions.push_back({"slots", kWorkersAt, 4 * sizeof(WorkerSlot<Host>)});
            break;
        case FileKind::work:
            regions.push_back({"geometry", kWorkGeometryAt, sizeof(WorkGeometry)});
            regions.push_back({"control", kWorkControlAt, sizeof(WorkControl<Host>)});
            regions.push_back({"words", kWorkWordsAt, read<WorkGeometry>(file, kWorkGeometryAt).window * 8});
            break;
        case FileKind::letters:
            regions.push_back({"geometry", kLettersGeometryAt, sizeof(LettersGeometry)});
            regions.push_back({"control", kLettersControlAt, 512});
            regions.push_back({"words", kLettersWordsAt, file.size() - kLettersWordsAt});
            break;
    }
}

}  // namespace

std::vector<Region> regions_of(const std::string& file) {
    std::vector<Region> regions;
    if (file.size() >= sizeof(FileHeader) && read<std::array<char, 8>>(file, 0) == kMagic) {
        add_of_kind(FileKind{read<std::uint32_t>(file, offsetof(FileHeader, kind))}, file, regions);
        regions.push_back({"header", 0, sizeof(FileHeader)});
    }
    std::erase_if(regions,
                  [&](const Region& region) { return region.bytes < 8 || region.at + region.bytes > file.size(); });
    regions.push_back({"file", 0, file.size()});
    return regions;
}

}  // namespace ringmain::test
