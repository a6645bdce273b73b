// Making the topics, the group and the queues.
#include "arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

#include "ringmain/consumer.hpp"
#include "ringmain/group_admin.hpp"
#include "ringmain/queue_admin.hpp"

namespace ringmain::nemesis {

namespace {

constexpr std::uint32_t kPartitions = 3;
constexpr std::uint32_t kLetterPartitions = 2;

TopicOptions options_of(std::uint8_t topic) {
    const bool letters = topic >= kPublished;
    TopicOptions options;
    options.partitions = letters ? kLetterPartitions : kPartitions;
    const bool gated = Arena::rules()[topic].gated;
    options.records = letters ? 1 << 14 : gated ? 1 << 10 : 1 << 8;  // full, or lapped, within a second
    options.payload_bytes = letters ? 1 << 24 : 1 << 20;
    // Letters stay, and every killed worker leaves an extent behind that is not full: room for those of a thousand.
    options.producer_slots = letters ? 512 : 64;
    options.cell_bytes = topic % 2 == 0 ? 64 : 128;
    options.groups = 4;
    options.when_full = gated ? WhenFull::block : WhenFull::overwrite;
    options.first_offset = Arena::first_offset(topic);
    return options;
}

void make_group(const Broker& broker, const char* topic, bool gating) {
    GroupOptions group;
    group.name = kGroup;
    group.gating = gating;
    group.on_loss = OnLoss::earliest;
    Consumer(broker, group).subscribe(topic);
}

void make_queue(const Broker& broker, const std::string& topic, bool gating) {
    QueueOptions queue;
    queue.gating = gating;
    queue.lock_time = kLockTime;
    queue.delivery_limit = 4;
    queue.backoff = {.first = std::chrono::milliseconds(5), .max = std::chrono::milliseconds(100)};
    queue.dead_letter_topic = topic + ".letters";
    queue.max_in_flight = gating ? 200 : 0;
    QueueAdmin(broker).create(topic, kQueue, queue);
}

}  // namespace

std::uint8_t topic_number(std::string_view name) {
    return static_cast<std::uint8_t>(std::find(kTopicNames.begin(), kTopicNames.end(), name) - kTopicNames.begin());
}

Arena::Arena() : broker_(scratch_.broker(), Broker::Mode::open_or_create) {
    std::filesystem::create_directory(histories());
    void* const page = ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        throw std::runtime_error("no memory for the control page");
    control_ = new (page) Control;
    for (std::uint8_t topic = 0; topic < kTopicNames.size(); ++topic)
        broker_.create_topic(kTopicNames[topic], options_of(topic));
    make_group(broker_, kTopicNames[0], false);
    make_group(broker_, kTopicNames[1], true);
    make_queue(broker_, kTopicNames[2], true);
    make_queue(broker_, kTopicNames[3], false);
}

Arena::~Arena() { ::munmap(control_, sizeof(Control)); }

std::vector<TopicRule> Arena::rules() {
    return {{TopicUse::stream, kPartitions, false},       {TopicUse::stream, kPartitions, true},
            {TopicUse::queue, kPartitions, true},         {TopicUse::queue, kPartitions, false},
            {TopicUse::letters, kLetterPartitions, true}, {TopicUse::letters, kLetterPartitions, false}};
}

std::uint64_t Arena::first_offset(std::uint8_t topic) {
    constexpr std::uint64_t kOne = 1;
    constexpr std::uint64_t kBefore = 1'000;  // passed within a second or two
    constexpr std::uint64_t kLettersBefore = 50;
    constexpr std::array<std::uint64_t, kTopicNames.size()> kFirst = {
        0, (kOne << 48) - kBefore, kFirstOffsetMax - kBefore, (kOne << 32) - kBefore, 0, (kOne << 32) - kLettersBefore};
    return kFirst.at(topic);
}

std::vector<std::vector<PartitionEnd>> Arena::ends() const {
    std::vector<std::vector<PartitionEnd>> ends;
    GroupAdmin admin(broker_);
    for (std::uint8_t topic = 0; topic < kTopicNames.size(); ++topic) {
        auto& all = ends.emplace_back();
        if (topic >= kPublished) {
            all.resize(kLetterPartitions);
            continue;
        }
        const bool stream = rules()[topic].use == TopicUse::stream;
        for (const GroupLag& lag : admin.lag(kTopicNames[topic], stream ? kGroup : kQueue))
            all.push_back({lag.log_start, lag.log_end, lag.position});
    }
    return ends;
}

}  // namespace ringmain::nemesis
