// What one does with a queue when several readers want every record: a queue for each, and the sender writes to all.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace ringmain::bench {

template <class Link>
class OnePerReader {
public:
    explicit OnePerReader(unsigned readers) {
        for (unsigned r = 0; r < readers; ++r)
            links_.push_back(std::make_unique<Link>());
    }

    class Sender {
    public:
        explicit Sender(OnePerReader& all) {
            for (const auto& link : all.links_)
                senders_.push_back(std::make_unique<typename Link::Sender>(link->sender(0)));
        }
        void send(std::uint64_t sequence) {
            for (const auto& sender : senders_)
                sender->send(sequence);
        }

    private:
        std::vector<std::unique_ptr<typename Link::Sender>> senders_;
    };

    Sender sender(unsigned) { return Sender(*this); }
    typename Link::Receiver receiver(unsigned reader) { return links_[reader]->receiver(); }

private:
    std::vector<std::unique_ptr<Link>> links_;
};

/// A log, where every reader reads all by itself.
template <class Link>
class SharedByReaders {
public:
    template <class... Arguments>
    explicit SharedByReaders(Arguments&&... arguments) : link_(std::forward<Arguments>(arguments)...) {}
    auto sender(unsigned index) { return link_.sender(index); }
    auto receiver(unsigned) { return link_.receiver(); }

private:
    Link link_;
};

}  // namespace ringmain::bench
