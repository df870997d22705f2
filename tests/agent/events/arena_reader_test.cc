#include "agent/events/arena_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "agent/events/event_session.h"
#include "agent/events/event_tree.h"
#include "tests/agent/events/arena_bytes.h"
#include "tests/support/golden_bytes.h"
#include "tests/support/temp_dir.h"

// Arenas are untrusted: programs may leave anything in them.

namespace fieldcost::events {
namespace {

using testing::ArenaBytes;
using ::testing::ElementsAre;
using testing::SmallArena;

const std::filesystem::path kGolden = FIELDCOST_TRACE_GOLDEN_DIR;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

template <typename Part>
void Change(ArenaBytes& bytes, std::uint64_t at, const std::function<void(Part&)>& change) {
  Part part = bytes.Get<Part>(at);
  change(part);
  bytes.Put(at, part);
}

TEST(ArenaReaderTest, ASmallArenaIsReadWhole) {
  const auto arena = ReadArena(SmallArena());
  ASSERT_TRUE(arena) << arena.error().message;
  EXPECT_EQ(arena->program, "/usr/bin/gold");
  EXPECT_EQ(arena->pid, 4711U);
  EXPECT_TRUE(arena->attached);
  ASSERT_EQ(arena->modules.size(), 2U);
  EXPECT_EQ(arena->modules[0].build_id, "\x01\x23\x45\x67");
  EXPECT_EQ(arena->modules[1].soname, "libgold.so.1");
  ASSERT_EQ(arena->nodes.size(), 3U);
  EXPECT_EQ(arena->nodes[0].kind, PlaceKind::kRoot);
  EXPECT_EQ(arena->nodes[1].kind, PlaceKind::kFunction);
  EXPECT_EQ(arena->nodes[1].module, 0U);
  EXPECT_EQ(arena->nodes[1].parent, 0U);
  EXPECT_EQ(arena->nodes[2].kind, PlaceKind::kApi);
  EXPECT_EQ(arena->nodes[2].parent, 1U);
  EXPECT_EQ(arena->apis.at(arena->nodes[2].api).symbol, "gold_make");
  ASSERT_EQ(arena->threads.size(), 1U);
  EXPECT_EQ(arena->threads[0].ticks, 1500U);
  EXPECT_EQ(arena->threads[0].current, 1U);
  ASSERT_EQ(arena->edges.size(), 1U);
  EXPECT_EQ(arena->edges[0].count, 7U);
  EXPECT_EQ(arena->edges[0].to_module, 0U);
  // Context switches were not measured on its only thread.
  EXPECT_EQ(arena->metrics, (1U << shm::kTraceMetrics) - 1 - (1U << shm::kTraceContextSwitches));
}

// The names of the measured metrics.
std::vector<std::string> MeasuredBy(const Arena& arena) {
  std::vector<std::string> names;
  const std::vector<tree::Metric> metrics = EventMetrics();
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (IsMeasured(arena, i)) names.push_back(metrics[i].name);
  }
  return names;
}

TEST(ArenaReaderTest, BecomesATreeOfNamesAndNanoseconds) {
  const auto arena = ReadArena(SmallArena());
  ASSERT_TRUE(arena);
  EXPECT_THAT(MeasuredBy(*arena),
              ElementsAre("calls", "wall", "allocated", "allocations", "freed", "frees",
                          "disk-read", "disk-written", "net-received", "net-sent", "page-faults"));
  tree::Dictionary dictionary;
  const auto values = EventValues(*arena, UnnamedCode, dictionary);
  ASSERT_TRUE(values) << values.error().message;
  ASSERT_EQ(dictionary.paths.size(), 3U);
  const tree::Frame& function = dictionary.frame(tree::PathId(1));
  EXPECT_EQ(function.kind, tree::FrameKind::kUnnamed);
  EXPECT_EQ(function.offset, 0x1100U);
  EXPECT_EQ(function.build_id, "\x01\x23\x45\x67");
  const tree::Frame& api = dictionary.frame(tree::PathId(2));
  EXPECT_EQ(api.module, "libgold.so");
  EXPECT_EQ(api.function, "gold_make");
  EXPECT_THAT(values->column(0), ElementsAre(0, 1, 2));
  // In total 1,500 ticks (750 ns), 1,000 in main and below (500 ns), 601 in the API (300 ns).
  EXPECT_THAT(values->column(1), ElementsAre(250, 200, 300));
  EXPECT_EQ(values->value(2, tree::PathId(2)), 100U);
  EXPECT_EQ(values->value(10, tree::PathId(1)), 3U);
}

TEST(ArenaReaderTest, EachNodeAndBranchBelongsToAThreadsSlot) {
  const auto arena = ReadArena(SmallArena()).value();
  ASSERT_EQ(arena.threads.size(), 1U);
  const events::ArenaThread& thread = arena.threads[0];
  EXPECT_EQ(thread.threads_before, thread.threads);
  tree::Dictionary dictionary;
  std::vector<std::uint64_t> calls;
  const OnValues visit = [&](std::uint16_t slot, tree::PathId, auto values) -> Status {
    EXPECT_EQ(slot, thread.slot);
    calls.push_back(values[0]);
    return {};
  };
  ASSERT_TRUE(ForEachEvent(arena, UnnamedCode, dictionary, visit));
  EXPECT_THAT(calls, ElementsAre(0, 1, 2));
  for (const events::ArenaEdge& edge : arena.edges) EXPECT_EQ(edge.slot, thread.slot);
}

// The nodes have 500, 399 and 601 ticks of their own.
TEST(ArenaReaderTest, WhileAProgramRunsNoTimeIsMoreThanItWillBe) {
  auto arena = ReadArena(SmallArena()).value();
  arena.still_runs = true;
  arena.threads.at(0).open_ticks = 0;
  tree::Dictionary dictionary;
  const auto values = EventValues(arena, UnnamedCode, dictionary);
  ASSERT_TRUE(values);
  EXPECT_THAT(values->column(1), ElementsAre(250, 199, 300));
  // An open call adds the time since the last event: 399 ticks and 202.
  ASSERT_EQ(arena.threads.size(), 1U);
  arena.threads[0].open_ticks = 202;
  tree::Dictionary other;
  EXPECT_THAT(EventValues(arena, UnnamedCode, other).value().column(1), ElementsAre(250, 300, 300));
  arena.threads[0].current = 0;  // outside of all calls
  EXPECT_THAT(EventValues(arena, UnnamedCode, other).value().column(1), ElementsAre(250, 199, 300));
}

TEST(ArenaReaderTest, BranchesGoFromBlockToBlock) {
  const auto arena = ReadArena(SmallArena());
  ASSERT_TRUE(arena);
  tree::Dictionary dictionary;
  const auto values = BranchValues(*arena, UnnamedCode, dictionary);
  ASSERT_TRUE(values) << values.error().message;
  ASSERT_EQ(dictionary.paths.size(), 4U);
  EXPECT_EQ(dictionary.frame(tree::PathId(1)).function, "[branches]");
  EXPECT_EQ(values->value(0, tree::PathId(3)), 7U);
}

TEST(ArenaReaderTest, MetricsThatAnArenaLacksAreNotMeasured) {
  ArenaBytes lacking = SmallArena();
  Change<shm::TraceHeader>(lacking, 0, [](auto& header) { header.metrics = 1; });
  EXPECT_THAT(MeasuredBy(ReadArena(lacking).value()), ElementsAre("calls", "wall", "allocated"));
}

struct Damage {
  const char* what;
  std::function<void(ArenaBytes&)> damage;
};

template <typename Part>
Damage Damaged(const char* what, std::uint64_t at, const std::function<void(Part&)>& change) {
  return {what, [at, change](ArenaBytes& bytes) { Change<Part>(bytes, at, change); }};
}

std::vector<Damage> Damages() {
  using Header = shm::TraceHeader;
  using Node = shm::TraceNode;
  using testing::TraceApiAt;
  using testing::TraceChunkAt;
  using testing::TraceModuleAt;
  using testing::TraceNodeAt;
  using testing::TraceThreadAt;
  const std::uint64_t main_node = TraceNodeAt(1);
  return {
      Damaged<Header>("magic", 0, [](Header& h) { h.magic[0] = 'x'; }),
      Damaged<Header>("version", 0, [](Header& h) { h.version = 99; }),
      Damaged<Header>("incomplete", 0, [](Header& h) { h.complete = 0; }),
      Damaged<Header>("size", 0, [](Header& h) { h.size_bytes += 4096; }),
      Damaged<Header>("arena", 0, [](Header& h) { h.arena_bytes += 1; }),
      Damaged<Header>("huge arena", 0, [](Header& h) { h.arena_bytes = kMost; }),
      Damaged<Header>("clock stands", 0, [](Header& h) { h.tsc_to_ns_multiplier = 0; }),
      Damaged<Header>("clock runs", 0, [](Header& h) { h.tsc_to_ns_multiplier = kMost; }),
      Damaged<Header>("chunks", 0, [](Header& h) { h.chunk_count = 5; }),
      Damaged<Header>("program", 0, [](Header& h) { std::memset(h.program, 'x', 512); }),
      Damaged<shm::TraceModule>("path", TraceModuleAt(0),
                                [](auto& m) { std::memset(m.path, 'x', 512); }),
      Damaged<shm::TraceModule>("build-id", TraceModuleAt(0),
                                [](auto& m) { m.build_id_bytes = 33; }),
      Damaged<shm::TraceModule>("range", TraceModuleAt(1), [](auto& m) { m.end = m.begin; }),
      Damaged<shm::TraceApi>("symbol", TraceApiAt(0),
                             [](auto& a) { std::memset(a.symbol, 'x', 256); }),
      Damaged<shm::TraceApi>("no symbol", TraceApiAt(0), [](auto& a) { a.symbol[0] = '\0'; }),
      Damaged<shm::TraceApi>("API's version", TraceApiAt(0),
                             [](auto& a) { std::memset(a.version, 'x', 64); }),
      Damaged<shm::TraceChunk>("slot", TraceChunkAt(0),
                               [](auto& c) { c.slot = shm::kThreadSlots; }),
      Damaged<shm::TraceChunk>("kind", TraceChunkAt(0), [](auto& c) { c.kind = 3; }),
      Damaged<shm::TraceChunk>("nodes", TraceChunkAt(0),
                               [](auto& c) { c.used = shm::kTraceNodesOfChunk + 1; }),
      Damaged<shm::TraceChunk>("edges", TraceChunkAt(1), [](auto& c) { c.used = kNone; }),
      Damaged<Node>("parent is itself", main_node, [](Node& n) { n.parent = 1; }),
      Damaged<Node>("parent comes later", main_node, [](Node& n) { n.parent = 2; }),
      Damaged<Node>("parent is nowhere", main_node, [](Node& n) { n.parent = 12345; }),
      Damaged<Node>("root has a parent", main_node, [](Node& n) { n.place = shm::kTraceRoot; }),
      Damaged<Node>("not a root, no parent", main_node,
                    [](Node& n) { n.parent = shm::kTraceNoNode; }),
      Damaged<Node>("place", main_node, [](Node& n) { n.place = shm::kTraceSpecialPlace | 3; }),
      Damaged<Node>("API's number", main_node,
                    [](Node& n) { n.place = shm::kTraceApiPlace | 16384; }),
      Damaged<Node>("ticks", main_node, [](Node& n) { n.ticks = kMost; }),
      Damaged<Node>("calls", main_node, [](Node& n) { n.calls = std::uint64_t{1} << 60; }),
      Damaged<Node>("bytes", main_node, [](Node& n) { n.values[0] = kMost; }),
      Damaged<shm::TraceEdge>("count", testing::TraceEdgeAt(1, 0),
                              [](auto& e) { e.count = kMost; }),
      Damaged<shm::TraceThread>("time", TraceThreadAt(0), [](auto& t) { t.last_ticks = 1; }),
      Damaged<shm::TraceThread>("root", TraceThreadAt(0), [](auto& t) { t.root = 1; }),
      {"cut", [](ArenaBytes& bytes) { bytes.Resize(bytes.size() - 1); }},
      {"empty", [](ArenaBytes& bytes) { bytes.Resize(0); }},
  };
}

TEST(ArenaReaderTest, RefusesArenasThatNoProgramCouldLeave) {
  for (const Damage& damage : Damages()) {
    ArenaBytes bytes = SmallArena();
    damage.damage(bytes);
    EXPECT_FALSE(ReadArena(bytes)) << damage.what;
  }
}

TEST(ArenaReaderTest, ANodeOfAnotherThreadsTreeIsRefused) {
  ArenaBytes bytes = SmallArena();
  Change<shm::TraceHeader>(bytes, 0, [](auto& header) { header.chunk_count = 3; });
  bytes.Put(testing::TraceChunkAt(2),
            shm::TraceChunk{.kind = shm::kTraceNodes, .slot = 1, .used = 1});
  shm::TraceNode node{.place = 0x401100, .parent = 1, .depth = 2};
  bytes.Put(testing::TraceNodeAt(2 * shm::kTraceNodesOfChunk), node);
  EXPECT_FALSE(ReadArena(bytes));
}

TEST(ArenaReaderTest, SumsThatPassTheLimitTogetherAreRefused) {
  ArenaBytes bytes = SmallArena();
  for (const std::uint64_t node : {1, 2}) {
    Change<shm::TraceNode>(bytes, testing::TraceNodeAt(node),
                           [](auto& n) { n.ticks = std::uint64_t{1} << 59; });
  }
  EXPECT_FALSE(ReadArena(bytes));
}

TEST(TraceFormatTest, AnArenaHasItsGoldenBytes) {
  testing::ExpectGolden(kGolden / "arena", testing::GoldenLines(SmallArena()));
}

TEST(TraceFormatTest, ThePlanHasItsGoldenBytes) {
  const testing::TempDir directory;
  const auto variables = Prepare(directory.path(), {.library = "/usr/lib/libfieldcost_events.so",
                                                    .functions = true,
                                                    .globs = "libgold.so.1!*",
                                                    .data_slots = true,
                                                    .tsc_to_ns_multiplier = 0x5a000000});
  ASSERT_TRUE(variables);
  const std::string bytes = ReadFile(directory.path() / shm::kTracePlanName, kMiB).value_or("");
  testing::SparseBytes file(bytes.size());
  file.Write(0, bytes);
  testing::ExpectGolden(kGolden / "plan", testing::GoldenLines(file));
}

TEST(TraceSessionTest, RefusesInvalidOptionsAndDirectories) {
  const testing::TempDir directory;
  EXPECT_FALSE(Prepare(directory.path(), {.tsc_to_ns_multiplier = 0}));
  EXPECT_FALSE(Prepare(directory.path(), {.arena_bytes = 1, .tsc_to_ns_multiplier = 1}));
  EXPECT_FALSE(
      Prepare(directory.path(), {.globs = std::string(2 * kMiB, 'x'), .tsc_to_ns_multiplier = 1}));
  EXPECT_FALSE(TakeArenas(directory.path() / "nowhere"));
}

}  // namespace
}  // namespace fieldcost::events
