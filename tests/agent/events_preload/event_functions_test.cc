#include <algorithm>

#include "tests/agent/events_preload/trace_fixture.h"

// Programs built with -finstrument-functions behave as without the library, and each node has the
// expected values.

namespace fieldcost::events {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class FunctionsTest : public TraceTest {};

TEST_F(FunctionsTest, RecursionIsAChain) {
  const auto calls = Column(TracedTree({kTraced, "fib"}, Functions()), "calls");
  // The number of calls of fib at depth k in fib(10): those where n is 10 - k - (steps of 2).
  EXPECT_THAT(calls,
              UnorderedElementsAre(Pair("fib", 1), Pair("fib/fib", 2), Pair("fib/fib/fib", 4),
                                   Pair("fib/fib/fib/fib", 8), Pair("fib/fib/fib/fib/fib", 16),
                                   Pair("fib/fib/fib/fib/fib/fib", 32),
                                   Pair("fib/fib/fib/fib/fib/fib/fib", 52),
                                   Pair("fib/fib/fib/fib/fib/fib/fib/fib", 44),
                                   Pair("fib/fib/fib/fib/fib/fib/fib/fib/fib", 16),
                                   Pair("fib/fib/fib/fib/fib/fib/fib/fib/fib/fib", 2)));
}

TEST_F(FunctionsTest, EachFunctionIsBelowItsCaller) {
  EXPECT_THAT(Column(TracedTree({kTraced, "work"}, Functions()), "calls"),
              UnorderedElementsAre(Pair("work", 1), Pair("work/middle", 1),
                                   Pair("work/middle/leaf", 3), Pair("work/leaf", 1)));
}

// Detected from small_frame's frame, which is below and above others.
TEST_F(FunctionsTest, CallsLeftByLongjmpEndWhereTheyAreSeenToBeGone) {
  const Arenas arenas = Traced({kTraced, "jumps"}, Functions());
  EXPECT_THAT(
      Column(TreeOf(arenas.arenas), "calls"),
      UnorderedElementsAre(Pair("jumps", 1), Pair("jumps/small_frame", 10),
                           Pair("jumps/small_frame/jumper", 10), Pair("jumps/large_frame", 10),
                           Pair("jumps/large_frame/leaf", 10)));
  ASSERT_EQ(arenas.arenas.size(), 1U);
  EXPECT_EQ(arenas.arenas[0].losses.left_frames, 10U);
  EXPECT_EQ(arenas.arenas[0].losses.unmatched_exits, 0U);
}

TEST_F(FunctionsTest, ACallThatIsMadeAgainFromTheLineItWasLeftToIsNotItsOwnCaller) {
  const auto calls = Column(TracedTree({kTraced, "same_line"}, Functions()), "calls");
  const std::string kIn = "/recurse_and_jump";
  EXPECT_THAT(calls, UnorderedElementsAre(Pair("same_line", 1), Pair("same_line" + kIn, 5),
                                          Pair("same_line" + kIn + kIn, 5),
                                          Pair("same_line" + kIn + kIn + kIn, 5),
                                          Pair("same_line" + kIn + kIn + kIn + kIn, 5)));
}

TEST_F(FunctionsTest, CallsLeftByAnExceptionEnd) {
  const auto calls = Column(TracedTree({kTraced, "exception"}, Functions()), "calls");
  EXPECT_THAT(calls, Contains(Pair("catcher/thrower/thrower/thrower/thrower/thrower", 1)));
  EXPECT_THAT(calls, Contains(Pair("catcher/leaf", 1)));
  EXPECT_EQ(calls.size(), 7U);
}

TEST_F(FunctionsTest, CutsStacksThatAreDeeperThanTrees) {
  const Arenas arenas = Traced({kTraced, "deep"}, Functions());
  ASSERT_EQ(arenas.arenas.size(), 1U);
  const std::vector<ArenaNode>& nodes = arenas.arenas[0].nodes;
  ASSERT_EQ(nodes.size(), 1U + shm::kTraceMaxDepth + 1U);
  for (std::size_t i = 1; i + 1 < nodes.size(); ++i) EXPECT_EQ(nodes[i].calls, 1U);
  EXPECT_EQ(nodes.back().kind, PlaceKind::kCut);
  EXPECT_EQ(nodes.back().calls, 20001U - shm::kTraceMaxDepth);
  EXPECT_EQ(arenas.arenas[0].losses.unmatched_exits, 0U);
}

TEST_F(FunctionsTest, BytesAndBlocksAreTheirFunctions) {
  const Tree tree = TracedTree({kTraced, "allocate"}, Functions());
  const Costs& costs = tree.at("allocate");
  EXPECT_EQ(costs.at("allocated"), 10 * 100U + 50U + 5000U);
  EXPECT_EQ(costs.at("allocations"), 12U);
  EXPECT_EQ(costs.at("frees"), 12U);
  EXPECT_GE(costs.at("freed"), costs.at("allocated"));
  EXPECT_LE(costs.at("freed"), costs.at("allocated") + 12 * 16U);
}

TEST_F(FunctionsTest, TransferredBytesAreTheirFunctions) {
  const Tree tree = TracedTree({kTraced, "transfer"}, Functions());
  EXPECT_THAT(Column(tree, "disk-written"), ElementsAre(Pair("transfer", 3000)));
  EXPECT_THAT(Column(tree, "disk-read"), ElementsAre(Pair("transfer", 700)));
}

TEST_F(FunctionsTest, PageFaultsAreExactOrNotMeasured) {
  const Tree tree = TracedTree({kTraced, "pages"}, Functions());
  const Costs& costs = tree.at("touch");
  if (!costs.contains("page-faults"))
    GTEST_SKIP() << "the kernel does not let us count page faults";
  EXPECT_EQ(costs.at("page-faults"), 500U);
}

TEST_F(FunctionsTest, ContextSwitchesAreCountedOrNotMeasured) {
  const Tree tree = TracedTree({kTraced, "waits"}, Functions());
  const Costs& costs = tree.at("waits");
  if (!costs.contains("context-switches")) {
    GTEST_SKIP() << "the kernel does not let us count context switches";
  }
  EXPECT_GE(costs.at("context-switches"), 20U);  // it waits 20 times; there may be other switches
}

TEST_F(FunctionsTest, ThreadsAddUp) {
  const Arenas arenas = Traced({kTraced, "threads"}, Functions());
  EXPECT_THAT(Column(TreeOf(arenas.arenas), "calls"),
              UnorderedElementsAre(Pair("work", 4000), Pair("work/middle", 4000),
                                   Pair("work/middle/leaf", 12000), Pair("work/leaf", 4000)));
}

TEST_F(FunctionsTest, AChildOfForkIsNotTraced) {
  const Arenas arenas = Traced({kTraced, "fork"}, Functions());
  EXPECT_EQ(arenas.arenas.size(), 1U);
  EXPECT_THAT(Column(TreeOf(arenas.arenas), "calls"),
              UnorderedElementsAre(Pair("work", 2), Pair("work/middle", 2),
                                   Pair("work/middle/leaf", 5), Pair("work/leaf", 2)));
}

TEST_F(FunctionsTest, EachProgramOfExecLeavesAnArena) {
  const Arenas arenas = Traced({kTraced, "exec"}, Functions());
  EXPECT_EQ(arenas.arenas.size(), 2U);
  EXPECT_THAT(Column(TreeOf(arenas.arenas), "calls"),
              UnorderedElementsAre(Pair("work", 2), Pair("work/middle", 2),
                                   Pair("work/middle/leaf", 5), Pair("work/leaf", 2)));
}

TEST_F(FunctionsTest, KilledProgramsLeaveAllTheirCalls) {
  EXPECT_THAT(Column(TracedTree({kTraced, "killed"}, Functions()), "calls"),
              UnorderedElementsAre(Pair("work", 1000), Pair("work/middle", 1000),
                                   Pair("work/middle/leaf", 3000), Pair("work/leaf", 1000)));
}

// Handlers interrupt calls and the library; calls that they make while the library works are lost,
// in pairs.
TEST_F(FunctionsTest, SignalHandlersAreBelowWhatTheyInterrupt) {
  const Arenas arenas = Traced({kTraced, "signals"}, Functions());
  ASSERT_EQ(arenas.arenas.size(), 1U);
  EXPECT_EQ(arenas.arenas[0].losses.unmatched_exits, 0U);
  std::map<std::string, std::uint64_t> by_function;
  for (const auto& [path, calls] : Column(TreeOf(arenas.arenas), "calls")) {
    if (path.find("handler") == std::string::npos) by_function[path] = calls;
  }
  EXPECT_THAT(by_function,
              UnorderedElementsAre(Pair("work", 20000), Pair("work/middle", 20000),
                                   Pair("work/middle/leaf", 60000), Pair("work/leaf", 20000)));
}

TEST_F(FunctionsTest, HandlersThatJumpAwayAndFibresDoNoHarm) {
  has_whole_time_ = false;  // a jump out of us may leave an event's time charged, but not recorded
  for (const char* const what : {"jumping_signals", "fibres"}) {
    SCOPED_TRACE(what);
    const Arenas arenas = Traced({kTraced, what}, Functions());
    EXPECT_EQ(arenas.arenas.size(), 1U);
    EXPECT_THAT(TreeOf(arenas.arenas), Contains(Key("work/middle/leaf")));
  }
}

TEST_F(FunctionsTest, PathsBeyondTheArenaAreOther) {
  constexpr std::uint64_t kCalls = 100'000;
  TraceOptions options = Functions();
  options.arena_bytes = 32 << 20;
  const Arenas whole = Traced({kTraced, "steps", std::to_string(kCalls)}, options);
  ASSERT_EQ(whole.arenas.size(), 1U);
  EXPECT_EQ(whole.arenas[0].nodes.size(), 1U + 16 + 256 + 4096 + 65536 + kCalls);
  options.arena_bytes = 2 << 20;  // 16,384 nodes
  const Arenas small = Traced({kTraced, "steps", std::to_string(kCalls)}, options);
  ASSERT_EQ(small.arenas.size(), 1U);
  const Arena& arena = small.arenas[0];
  std::uint64_t calls = arena.losses.folded_calls;
  std::uint64_t of_other = 0;
  for (const ArenaNode& node : arena.nodes) {
    calls += node.calls;
    if (node.kind == PlaceKind::kOther) of_other += node.calls;
  }
  EXPECT_EQ(calls, 5 * kCalls);
  EXPECT_GT(of_other, 0U);
  EXPECT_EQ(arena.losses.unmatched_exits, 0U);
}

TEST_F(FunctionsTest, WithoutAPlanNothingHappens) {
  const auto plain = testing::RunProcess({.arguments = {kTraced, "fib"}});
  const auto inert = testing::RunProcess(
      {.arguments = {kTraced, "fib"},
       .environment = {{"LD_PRELOAD", Functions().library.string()},
                       {shm::kTraceDirectoryVariable, directory_.path().string()}}});
  EXPECT_EQ(inert.output, plain.output);
  EXPECT_EQ(inert.exit_status, 0);
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

}  // namespace
}  // namespace fieldcost::events
