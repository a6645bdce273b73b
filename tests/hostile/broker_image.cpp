// Taking, restoring and damaging the image of a broker.
#include "hostile/broker_image.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "layout/partition.hpp"
#include "layout/work.hpp"
#include "ringmain/broker.hpp"
#include "ringmain/keeper.hpp"
#include "ringmain/producer.hpp"
#include "ringmain/queue_admin.hpp"
#include "support/queue_place.hpp"

namespace ringmain::test {

namespace fs = std::filesystem;

namespace {

void publish_some(const Broker& broker) {
    Producer producer(broker, kImageTopic);
    const std::string large(3000, 'L');
    const Header headers[] = {{"name", as_bytes("value")}, {"null", std::nullopt}};
    for (std::int64_t i = 0; i < 22; ++i) {
        const std::string text = "record " + std::to_string(i);
        ProducerRecord record;
        record.value = as_bytes(i % 4 == 0 ? large : text);
        if (i % 3 != 0)
            record.key = as_bytes(text);
        if (i % 5 == 0)
            record.headers = headers;
        record.timestamp_ns = i * 10;
        if (producer.publish(record).status != Status::ok)
            throw std::runtime_error("cannot publish");
    }
    ProducerOptions options;
    options.name = "stage";
    Producer stage(broker, kImageTopic, options);
    for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
        if (stage.publish({.value = as_bytes("named"), .sequence = sequence}).status != Status::ok)
            throw std::runtime_error("cannot publish under a name");
    }
}

/// A queue with records in every state that needs no second process.
void work_some(const Broker& broker) {
    QueueOptions options;
    options.exhausted = options.expired = Exhausted::skip;
    QueueAdmin(broker).create(kImageTopic, kImageQueue, options);
    TestWorker worker(broker, kImageTopic, kImageQueue);
    const auto locks = worker.acquire(6);
    if (locks.size() != 6 || worker.ack(locks[0]) != work_table::Answer::done || worker.ack(locks[2]) != work_table::Answer::done ||
        worker.nack(locks[3]) != work_table::Answer::done)
        throw std::runtime_error("cannot work");
}

// A keeper leaves its marks of what was published.
void mark(const Broker& broker) {
    Keeper keeper(broker);
    for (int step = 0; step < 3; ++step)
        (void)keeper.do_work(std::chrono::seconds(step));
}

}  // namespace

BrokerImage::BrokerImage(fs::path directory) : directory_(std::move(directory)) {
    Broker broker(directory_, Broker::Mode::open_or_create);
    TopicOptions options;
    options.records = 16;
    options.producer_slots = 4;
    options.payload_bytes = 1 << 16;
    options.retention = {std::chrono::hours(1), 15, 1 << 16};
    broker.create_topic(kImageTopic, options);
    publish_some(broker);
    work_some(broker);
    mark(broker);
    remember();
}

void BrokerImage::remember() {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory_)) {
        if (entry.is_directory())
            directories_.push_back(fs::relative(entry.path(), directory_));
        if (!entry.is_regular_file())
            continue;
        std::ifstream in(entry.path(), std::ios::binary);
        files_[fs::relative(entry.path(), directory_)] = std::string(std::istreambuf_iterator<char>(in), {});
    }
    if (log_file().empty())
        throw std::runtime_error("no log in the image");
}

fs::path BrokerImage::log_file() const {
    const auto found =
        std::find_if(files_.begin(), files_.end(), [](const auto& file) { return file.first.extension() == ".log"; });
    return found == files_.end() ? fs::path() : found->first;
}

void BrokerImage::restore() const {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    for (const fs::path& name : directories_)
        fs::create_directories(directory_ / name);
    for (const auto& [name, bytes] : files_) {
        std::ofstream(directory_ / name, std::ios::binary)
            .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
}

std::uint64_t nasty_word(std::uint64_t truth, std::mt19937_64& random) {
    const std::uint64_t draw = random();
    switch (draw % 12) {
        case 0:
            return 0;
        case 1:
            return ~std::uint64_t{0} - draw / 16 % 3;
        case 2:
            return random();
        case 3:
            return truth + draw / 16 % 64;
        case 4:
            return truth - draw / 16 % 64;
        case 5:
            return truth ^ (std::uint64_t{1} << (draw / 16 % 64));
        case 6:
            return std::uint64_t{1} << (draw / 16 % 64);
        case 7:
            return truth + (std::uint64_t{1} << (draw / 16 % 63));
        case 8:
            return (draw / 16 % 64) << 2 | (draw / 4096 & 3);  // a cell word
        case 9:
            return truth << (draw / 16 % 32);
        case 10:
            return 0x0000'0001'0000'0001ULL * (draw / 16 % 5);
        default:
            return random() >> (draw / 16 % 64);
    }
}

/// Mostly where something stands: headers, words, cells; in the payload now and then.
std::size_t BrokerImage::some_position(const fs::path& file, std::size_t size, std::mt19937_64& random) const {
    const std::uint64_t draw = random();
    if (file.parent_path().parent_path().filename() == "queues" && file.filename() != "workers") {
        switch (draw % 4) {
            case 0: return draw / 4 % 136;  // header and geometry
            case 1: return layout::kWorkControlAt + draw / 4 % 3 * layout::kLineBytes;
            default: return layout::kWorkWordsAt + draw / 4 % (16 * 8);
        }
    }
    if (file != log_file())
        return draw % std::min<std::size_t>(size, draw % 4 == 0 ? size : 600);
    switch (draw % 9) {
        case 0:
            return draw / 8 % 136;  // header and geometry
        case 8:
            return layout::kMarksAt + draw / 16 % 2 * sizeof(layout::MarkRing<platform::HostMemory>) + draw / 32 % 256;
        case 1:
        case 2:
            return layout::kControlAt + draw / 8 % 5 * layout::kLineBytes;
        case 3:
            return layout::kProducersAt + draw / 8 % (4 * layout::kLineBytes + 64);
        case 4:
            return layout::kNamedAt + draw / 8 % (2 * sizeof(layout::NamedEntry<platform::HostMemory>));
        case 7:
            return draw / 8 % size;
        default:
            return (layout::kProducersAt / layout::kPageBytes + 1) * layout::kPageBytes + draw / 8 % (16 * 64);
    }
}

Damaged BrokerImage::damage(std::mt19937_64& random) const {
    restore();
    auto file = files_.begin();
    // the log is where most can go wrong
    if (random() % 2 == 0) {
        file = files_.find(log_file());
    } else {
        std::advance(file, static_cast<std::ptrdiff_t>(random() % files_.size()));
    }
    std::string bytes = file->second;
    if (bytes.empty())
        return {file->first, "nothing, it is empty"};
    std::string what;
    for (std::uint64_t times = 1 + random() % 3; times != 0; --times) {
        std::size_t at = some_position(file->first, bytes.size(), random);
        const std::size_t width = std::size_t{1} << random() % 4;
        at = std::min(at & ~(width - 1), bytes.size() - std::min(bytes.size(), sizeof(std::uint64_t)));
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(bytes.size(), sizeof word));
        word = nasty_word(word, random);
        std::memcpy(bytes.data() + at, &word, std::min(bytes.size(), width));
        what += " +" + std::to_string(at) + ": " + std::to_string(width) + " bytes of " + std::to_string(word);
    }
    std::ofstream(directory_ / file->first, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return {file->first, what};
}

}  // namespace ringmain::test
