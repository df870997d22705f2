#include <algorithm>

#include "tests/agent/events_preload/trace_fixture.h"
#include "tests/support/binary_dir.h"

// Calls of APIs without a rebuild, branches, and properties of the library itself.

namespace fieldcost::events {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class CallsTest : public TraceTest {
 protected:
  TraceOptions Calls(const std::string& globs) const {
    TraceOptions options = Nothing();
    options.globs = globs;
    return options;
  }
};

TEST_F(CallsTest, ApisHaveTheirNamesWithoutARebuild) {
  const Tree tree = TracedTree({kTraced, "allocate"}, Calls("libc.so.6!malloc,libc.so.6!*alloc"));
  const Costs& malloc_costs = tree.at("malloc");
  EXPECT_EQ(malloc_costs.at("calls"), 11U);
  EXPECT_EQ(malloc_costs.at("allocated"), 1050U);
  EXPECT_EQ(tree.at("realloc").at("allocated"), 5000U);
  EXPECT_EQ(tree.at("realloc").at("frees"), 1U);
  EXPECT_EQ(tree.at("").at("frees"), 11U);
}

TEST_F(CallsTest, ApisAreBelowTheFunctionsThatCallThem) {
  TraceOptions options = Calls("libc.so.6!*");
  options.functions = true;
  const Tree tree = TracedTree({kTraced, "transfer"}, options);
  EXPECT_EQ(tree.at("transfer").at("calls"), 1U);
  EXPECT_EQ(tree.at("transfer/write").at("calls"), 3U);
  EXPECT_EQ(tree.at("transfer/write").at("disk-written"), 3000U);
  EXPECT_EQ(tree.at("transfer/pread").at("disk-read"), 700U);
  EXPECT_FALSE(tree.contains("transfer/__cyg_profile_func_enter"));
}

TEST_F(CallsTest, ProgramsWithoutAPltAreTracedWhereTheyTakeNoAddress) {
  for (const char* const build : {"no_plt", "no_plt_now", "no_plt_stripped"}) {
    const auto calls = Column(TracedTree({kVictims + build}, Calls("libno_plt.so.1!*")), "calls");
    const std::map<std::string, std::uint64_t> expected = {{"no_plt_called", 5},
                                                           {"no_plt_jumped_to", 3}};
    EXPECT_EQ(calls, expected) << build;
  }
}

TEST_F(CallsTest, EverythingMayBeTracedAtOnce) {
  TraceOptions options = Calls("*!*");
  options.functions = true;
  options.data_slots = true;
  has_whole_time_ = false;  // signal handlers jump
  for (const char* const what :
       {"fib", "jumps", "same_line", "exception", "deep", "fork", "threads", "signals",
        "jumping_signals", "fibres", "exec", "killed", "waits"}) {
    SCOPED_TRACE(what);
    EXPECT_FALSE(Traced({kTraced, what}, options).arenas.empty());
  }
}

// Everything in programs that is hard to intercept, with a thunk before every call.
TEST_F(CallsTest, NoProgramNotices) {
  has_whole_time_ = false;  // signal handlers jump
  TraceOptions options = Calls("*!*");
  options.data_slots = true;
  const std::map<std::string, std::vector<std::string>> scenarios = {
      {"victim",
       {"exceptions", "uncaught", "longjmp", "thread-exits", "fibres", "threads", "signals", "fork",
        "backtrace", "calls", "errno", "die"}},
      {"lifetimes",
       {"reload", "versions", "deep", "signal-jumps", "exit-inside", "thread-ends",
        "fork-in-threads", "reach-main"}},
      {"hosts",
       {"migrate", "callbacks", "ifuncs", "many-threads", "spawn", "hard-exit", "quick-exit",
        "abort", "seccomp", "close-all", "descriptors", "memory"}},
      {"hosts_no_plt", {"migrate", "callbacks"}},
      {"hosts_fixed", {"migrate", "callbacks"}},
      {"own_malloc", {""}},
      {"io", {"all"}},
      {"shapes", {""}},
  };
  for (const auto& [victim, whats] : scenarios) {
    for (const std::string& what : whats) {
      SCOPED_TRACE(victim + " " + what);
      std::vector<std::string> command = {kVictims + victim};
      if (!what.empty()) command.push_back(what);
      EXPECT_FALSE(Traced(command, options).arenas.empty());
    }
  }
}

TEST_F(CallsTest, RealProgramsBehaveAsWithout) {
  const std::vector<std::vector<std::string>> commands = {
      {"sqlite3", ":memory:",
       "create table t(a); with recursive n(i) as (select 1 union all select i + 1 from n where i "
       "< 2000) "
       "insert into t select i from n; select sum(a), count(distinct a % 7) from t;"},
      {"openssl", "enc", "-aes-128-cbc", "-nosalt", "-K", "00112233445566778899aabbccddeeff", "-iv",
       "00112233445566778899aabbccddeeff", "-in", kTraced, "-base64"},
      {"python3", "-c", "import json; print(len(json.dumps(list(range(1000)))))"},
  };
  for (const auto& command : commands) {
    SCOPED_TRACE(command[0]);
    const Arenas arenas = Traced(command, Calls("*!*"));
    ASSERT_FALSE(arenas.arenas.empty());
    EXPECT_GT(arenas.arenas[0].nodes.size(), 10U);
    EXPECT_EQ(arenas.arenas[0].losses.calls, 0U);
  }
}

TEST_F(CallsTest, BranchesAreCountedByTheirEnds) {
  TraceOptions options = Nothing();
  options.branches = true;
  const Arenas arenas = Traced({kVictims + "blocks"}, options);
  ASSERT_EQ(arenas.arenas.size(), 1U);
  const Arena& arena = arenas.arenas[0];
  std::map<std::uint64_t, std::uint64_t> entered;  // by block
  std::uint64_t bytes = 0;
  std::uint32_t firsts = 0;
  for (const ArenaEdge& edge : arena.edges) {
    entered[edge.to] += edge.count;
    bytes += edge.bytes;
    if (edge.from == 0) firsts += 1;
    ASSERT_NE(edge.to_module, kNone);
    EXPECT_THAT(arena.modules[edge.to_module].path, HasSubstr("blocks"));
  }
  EXPECT_EQ(firsts, 1U);
  EXPECT_GE(bytes, 12345U);
  EXPECT_EQ(arena.losses.edges, 0U);
  // The blocks of even() and its call, and of odd() and its call.
  const auto with = [&](std::uint64_t count) {
    return std::count_if(entered.begin(), entered.end(),
                         [&](const auto& block) { return block.second == count; });
  };
  EXPECT_GE(with(250), 2);
  EXPECT_GE(with(750), 2);
  // A branch is a pair: the one between even()'s two blocks was taken 250 times.
  EXPECT_GE(std::count_if(arena.edges.begin(), arena.edges.end(),
                          [](const ArenaEdge& edge) { return edge.count == 250; }),
            1);
  EXPECT_GE(std::count_if(arena.edges.begin(), arena.edges.end(),
                          [](const ArenaEdge& edge) { return edge.count == 750; }),
            1);
}

TEST_F(CallsTest, AThreadThatIsOnItsWayCanBeReadMeanwhile) {
  const auto variables = Prepare(directory_.path(), Functions());
  ASSERT_TRUE(variables);
  testing::BackgroundProcess process(
      {.arguments = {kTraced, "endless"}, .environment = *variables});
  ASSERT_TRUE(process.WaitForLine("running"));
  std::uint64_t calls = 0;
  int grown = 0;
  for (int i = 0; i < 100'000 && grown < 5; ++i) {
    const auto taken = TakeArenas(directory_.path());
    ASSERT_TRUE(taken) << taken.error().message;
    ASSERT_EQ(taken->arenas.size(), 1U);
    EXPECT_TRUE(taken->arenas.at(0).still_runs);
    std::uint64_t now = 0;
    for (const ArenaNode& node : taken->arenas[0].nodes) now += node.calls;
    EXPECT_GE(now, calls);
    if (now > calls) ++grown;
    calls = now;
  }
  EXPECT_EQ(grown, 5);
}

// No event occurs, but time passes in the open call.
TEST_F(CallsTest, ACallThatIsOpenHasItsTimeSoFar) {
  const auto variables = Prepare(directory_.path(), Functions());
  ASSERT_TRUE(variables);
  testing::BackgroundProcess process({.arguments = {kTraced, "asleep"}, .environment = *variables});
  ASSERT_TRUE(process.WaitForLine("asleep"));
  std::uint64_t wall = 0;
  int grown = 0;
  for (int i = 0; i < 1'000'000 && grown < 5; ++i) {
    const auto taken = TakeArenas(directory_.path());
    ASSERT_TRUE(taken) << taken.error().message;
    ASSERT_EQ(taken->arenas.size(), 1U);
    tree::Dictionary dictionary;
    const auto values = EventValues(taken->arenas[0], UnnamedCode, dictionary);
    ASSERT_TRUE(values);
    ASSERT_EQ(dictionary.paths.size(), 2U);
    const std::uint64_t now = values->value(1, tree::PathId(1));
    EXPECT_GE(now, wall);
    if (now > wall) ++grown;
    wall = now;
  }
  EXPECT_EQ(grown, 5);
}

// Needs nothing but libc, and exports nothing but the hooks that compilers call.
TEST(TraceLibraryTest, NeedsLibcAloneAndExportsItsHooks) {
  const std::string library = FIELDCOST_BINARY_DIR "/lib/libfieldcost_events.so";
  const std::string dynamic =
      testing::RunProcess({.arguments = {"readelf", "--dynamic", "--wide", library}}).output;
  EXPECT_THAT(dynamic, HasSubstr("[libc.so.6]"));
  std::size_t needed = 0;
  for (std::size_t at = 0; (at = dynamic.find("(NEEDED)", at)) != std::string::npos; ++at) ++needed;
  EXPECT_EQ(needed, 1U);
  std::istringstream lines(testing::RunProcess({.arguments = {"nm", "--dynamic", "--defined-only",
                                                              "--format=posix", library}})
                               .output);
  std::vector<std::string> exported;
  for (std::string line; std::getline(lines, line);)
    exported.push_back(line.substr(0, line.find(' ')));
  EXPECT_THAT(exported,
              UnorderedElementsAre("__cyg_profile_func_enter", "__cyg_profile_func_exit",
                                   "__sanitizer_cov_trace_pc", "__sanitizer_cov_trace_pc_guard",
                                   "__sanitizer_cov_trace_pc_guard_init"));
}

}  // namespace
}  // namespace fieldcost::events
