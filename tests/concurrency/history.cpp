// Judging a run: nothing lost, torn, duplicated, invented or reordered.
#include "concurrency/history.hpp"

#include <map>
#include <set>
#include <sstream>

namespace ringmain::test {

namespace {

constexpr std::size_t kFaultsMax = 20;

class Judge {
public:
    void say(const std::string& what) {
        if (faults_.size() < kFaultsMax)
            faults_.push_back(what);
    }

    // A producer's later record has a higher offset, and no two records share one.
    void take_acknowledged(const ProducerHistory& producer) {
        const Acknowledged* last = nullptr;
        for (const std::string& fault : producer.faults)
            say(fault);
        for (const Acknowledged& record : producer.records) {
            if (last != nullptr && record.offset <= last->offset)
                say("producer's order: " + text(record.id, record.offset));
            if (!published_.emplace(record.offset, record.id).second)
                say("two records at one offset: " + text(record.id, record.offset));
            last = &record;
        }
    }

    void check_reader(const ReaderHistory& reader) {
        for (const std::string& fault : reader.faults)
            say(fault);
        check_sum(reader);
        std::map<std::uint32_t, std::uint64_t> last_sequence;
        std::set<RecordId> seen;
        std::uint64_t last_offset = 0;
        for (const Delivered& record : reader.records) {
            if (&record != &reader.records.front() && record.offset <= last_offset)
                say("offsets go back: " + text(record.id, record.offset));
            last_offset = record.offset;
            if (!seen.insert(record.id).second)
                say("read twice: " + text(record.id, record.offset));
            const auto [last, is_first] = last_sequence.emplace(record.id.producer, record.id.sequence);
            if (!is_first && record.id.sequence <= last->second)
                say("read out of order: " + text(record.id, record.offset));
            last->second = record.id.sequence;
            check_against_published(record);
        }
        for (const std::uint64_t offset : reader.skipped) {
            const auto found = published_.find(offset);
            if (found != published_.end())
                say("skipped a committed record: " + text(found->second, offset));
        }
    }

    [[nodiscard]] std::vector<std::string> faults() const { return faults_; }

private:
    static std::string text(const RecordId& id, std::uint64_t offset) {
        return "producer " + std::to_string(id.producer) + " record " + std::to_string(id.sequence) + " at offset " +
               std::to_string(offset);
    }

    // Every offset that the reader passed was delivered, or reported as lost, or is one of a closed ticket.
    void check_sum(const ReaderHistory& reader) {
        std::uint64_t accounted = reader.records.size() + reader.skipped.size();
        for (const Loss& gap : reader.gaps)
            accounted += gap.to - gap.from;
        if (accounted != reader.end - reader.begin) {
            say("passed " + std::to_string(reader.end - reader.begin) + " offsets, accounted for " +
                std::to_string(accounted));
        }
    }

    // The record of a producer that died before its call returned may be there or not; if it is, all readers agree on
    // it.
    void check_against_published(const Delivered& record) {
        const auto [at, is_new] = published_.emplace(record.offset, record.id);
        if (!is_new && at->second != record.id) {
            say("offset " + std::to_string(record.offset) + " holds " + text(record.id, record.offset) +
                " for one and " + text(at->second, record.offset) + " for another");
        }
    }

    std::map<std::uint64_t, RecordId> published_;
    std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> judge(const std::vector<ProducerHistory>& producers,
                               const std::vector<ReaderHistory>& readers) {
    Judge judge;
    for (const ProducerHistory& producer : producers)
        judge.take_acknowledged(producer);
    for (const ReaderHistory& reader : readers)
        judge.check_reader(reader);
    return judge.faults();
}

std::string summary(const std::vector<ProducerHistory>& producers, const std::vector<ReaderHistory>& readers) {
    std::uint64_t published = 0, deaths = 0, read = 0, lost = 0, skipped = 0;
    for (const ProducerHistory& producer : producers) {
        published += producer.records.size();
        deaths += producer.deaths;
    }
    for (const ReaderHistory& reader : readers) {
        read += reader.records.size();
        skipped += reader.skipped.size();
        for (const Loss& gap : reader.gaps)
            lost += gap.to - gap.from;
    }
    std::ostringstream out;
    out << published << " acknowledged, " << deaths << " deaths; " << readers.size() << " readers: " << read
        << " read, " << lost << " in gaps, " << skipped << " of closed tickets";
    return out.str();
}

}  // namespace ringmain::test
