// Scenarios of a dead-letter topic that is deleted under its writers, and of who links the queue to another one.
#include "explore/work_stage.hpp"
#include "work_table/relinking.hpp"

namespace ringmain::explore {

namespace {

// The last delivery fails and its holder writes the letter, while its topic is deleted and a third one, who finds that,
// makes the record wait for another topic. From then on no word names a ticket of the old one, and none of its letters
// ends a record.
class LettersRelinked : public QueueStage {
public:
    explicit LettersRelinked(const Bounds& bounds) : QueueStage(shape(), bounds, 3) {}
    void begin() override {
        QueueStage::begin();
        letters_from_ = 0;
        forgotten_ = ended_before_ = false;
    }
    void thread(unsigned index) override {
        if (index == 0) {
            Worker worker(*this, 0);
            (void)worker.reject(first_hands_[0]);
        } else if (index == 1) {
            letters_gone_->store(1, std::memory_order_release);
        } else if (letters_gone_->load(std::memory_order_acquire) == 1) {
            work_table::forget_tickets(work(), now_);
            forgotten_ = true;
            ended_before_ = ended_by_letter();
        }
    }
    void finish() override {
        if (forgotten_) {
            require(work_table::state_of(word(0)) != work_table::WorkState::intent,
                    "a ticket of a topic that is gone is announced");
            require(ended_by_letter() == ended_before_, "a letter to a topic that is gone ends a record");
        }
        require(!ended_by_letter() || letters_about(0) == 1, "a record is dead without a letter");
        if (!ended_by_letter())
            finish_with_another_topic();
    }

private:
    [[nodiscard]] static QueueShape shape() noexcept {
        QueueShape shape{.held = 1, .letters = true, .letters_go = true};
        shape.rules.delivery_limit = 1;
        return shape;
    }
    [[nodiscard]] bool ended_by_letter() const noexcept { return work_table::is_done(word(0), 0); }
    void finish_with_another_topic() {
        work_table::forget_tickets(work(), now_);
        letters_from_ = letters_.control->log_end.load(std::memory_order_relaxed);
        letters_gone_->store(0, std::memory_order_relaxed);
        QueueStage::finish();
        require(letters_about(0) == 1, "a record that used its deliveries up has no letter");
    }

    bool forgotten_ = false;
    bool ended_before_ = false;
};

const Registered relinked{"queues.relinked",
                          [] { return std::make_unique<LettersRelinked>(Bounds{.preemptions = 3, .stale = 2}); }};
const Registered relink_dying{
    "queues.relink_dying",
    [] { return std::make_unique<LettersRelinked>(Bounds{.preemptions = 2, .stale = 1, .deaths = 2, .mortal = 5}); }};

}  // namespace

}  // namespace ringmain::explore
