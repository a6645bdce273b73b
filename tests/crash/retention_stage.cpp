// What a keeper is stopped in: each thing that a step of retention does, and a deletion on request.
#include "crash/retention_stage.hpp"

#include "gate_table/gate_table.hpp"
#include "support/catch.hpp"

namespace ringmain::crash {

namespace {

using namespace std::chrono_literals;
using Gates = gate_table::GateTable<RetentionHost>;

void take_step(RetentionStage& stage) { (void)stage.step(stage.victim); }

RetentionScenario by_age(const char* name, bool block, std::function<void(RetentionStage&)> rest) {
    RetentionScenario scenario{name, block, {1s, 0, 0}, {}, take_step};
    scenario.prepare = [rest = std::move(rest)](RetentionStage& stage) {
        stage.publish(20);
        stage.step_before();
        stage.pass(RetentionStage::kStepNs);
        stage.step_before();
        stage.pass(500'000'000);
        stage.publish(20);
        stage.step_before();
        stage.pass(RetentionStage::kStepNs);
        rest(stage);
    };
    return scenario;
}

RetentionScenario counted(const char* name, bool block, const Retention& limits, bool anew) {
    RetentionScenario scenario{name, block, limits, {}, take_step};
    scenario.prepare = [anew](RetentionStage& stage) {
        stage.publish(10);
        if (!anew) stage.step_before();
        stage.publish(20);
        stage.pass(RetentionStage::kStepNs);
    };
    return scenario;
}

RetentionScenario deletion(const char* name, bool block, bool gated) {
    RetentionScenario scenario{name, block, {}, {}, {}, 30};
    scenario.prepare = [gated](RetentionStage& stage) {
        stage.publish(40);
        if (gated) (void)stage.hold_gate(RetentionStage::kGateAt);
    };
    scenario.operation = [](RetentionStage& stage) { (void)partition_log::delete_before(stage.log, 30); };
    return scenario;
}

}  // namespace

test::PlainShape RetentionStage::shape(bool block) noexcept {
    test::PlainShape shape;
    shape.records = 128;
    shape.block = block;
    return shape;
}

std::size_t RetentionStage::bytes(bool block) noexcept { return test::plain_bytes(shape(block)) + layout::kPageBytes; }

RetentionStage::RetentionStage(std::byte* base, bool block, const Retention& wanted)
    : log(test::plain_view<RetentionHost>(base, shape(block))),
      done(reinterpret_cast<std::atomic<std::uint32_t>*>(base + test::plain_bytes(shape(block)))),
      limits(wanted),
      victim(log),
      producer(log, 0, 1) {
    test::format_plain(log);
}

void RetentionStage::publish(int count) {
    for (int i = 0; i < count; ++i) {
        REQUIRE(producer.publish(test::parts_of("0123456789")).status == Status::ok);
        appended_ns.push_back(now.now_ns);
    }
}

std::uint64_t RetentionStage::hold_gate(std::uint64_t offset) {
    Gates gates(log.readers);
    gate = gates.claim(std::uint64_t{1} << 32 | 3, "reader");
    gate_from = gates.hold(gate.value(), offset, log.control->gate_floor);
    return gate_from;
}

void RetentionStage::drop_gate() {
    if (gate) Gates(log.readers).drop(*gate);
    gate.reset();
}

std::vector<RetentionScenario> retention_scenarios() {
    const Retention records{0ms, RetentionStage::kLimitRecords, 0};
    const Retention bytes{0ms, 0, RetentionStage::kLimitRecords * RetentionStage::kRecordBytes};
    const auto later = [](RetentionStage& stage) { stage.pass(RetentionStage::kSecond - 500'000'000 - RetentionStage::kStepNs); };
    const auto gated = [later](RetentionStage& stage) {
        later(stage);
        (void)stage.hold_gate(RetentionStage::kGateAt);
    };
    const auto adopting = [later](RetentionStage& stage) {
        later(stage);
        stage.victim = RetentionStage::Keeper(stage.log);
    };
    return {by_age("mark an age", false, [](RetentionStage&) {}),
            by_age("expire by age, overwrite", false, later),
            by_age("expire by age, block", true, later),
            by_age("expire by age up to a gate", true, gated),
            by_age("take up another keeper's ages", false, adopting),
            counted("expire by records, overwrite", false, records, false),
            counted("expire by records, block", true, records, false),
            counted("count bytes, mark them and expire", false, bytes, false),
            counted("count all bytes anew", true, bytes, true),
            deletion("delete records, overwrite", false, false),
            deletion("delete records, block", true, false),
            deletion("delete records up to a gate", true, true)};
}

}  // namespace ringmain::crash
