#include <map>
#include <sstream>
#include <tuple>

#include "common/shm/selection.h"
#include "tests/agent/lab/measure_fixture.h"

// Compares a map with the program's own record: a shadow stack in its library.

namespace fieldcost::lab {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

const std::string kNestings = kVictims + "nestings";
constexpr std::string_view kPrefix = "nest_";

struct Kept {
  std::map<std::string, std::uint64_t> calls;
  std::set<std::pair<std::string, std::string>> pairs;
};

// The output of several processes is added up.
Kept Read(const std::string& output) {
  Kept kept;
  std::istringstream words(output);
  for (std::string what, first; words >> what;) {
    if (what == "call") {
      std::uint64_t calls = 0;
      words >> first >> calls;
      kept.calls["nest_" + first] += calls;
    } else if (what == "pair") {
      std::string inner;
      words >> first >> inner;
      kept.pairs.emplace("nest_" + first, "nest_" + inner);
    }
  }
  return kept;
}

class NestingsTest : public MeasureTest {
 protected:
  static Kept Found(const Measurement& measurement) {
    Kept found;
    const auto& apis = measurement.sums.apis();
    for (const ApiSums& api : apis) {
      if (api.api.symbol.starts_with(kPrefix)) found.calls[api.api.symbol] += api.calls;
    }
    for (const auto& [outer, inner] : measurement.sums.pairs()) {
      const std::string& from = apis[outer].api.symbol;
      const std::string& to = apis[inner].api.symbol;
      if (from.starts_with(kPrefix) && to.starts_with(kPrefix)) found.pairs.emplace(from, to);
    }
    return found;
  }

  static void ExpectEveryCallInEachRound(const Measurement& found) {
    EXPECT_EQ(found.finished_rounds, 2U);
    EXPECT_EQ(found.lost_calls, 0U);
    EXPECT_EQ(found.failed_runs + found.other_outputs, 0U);
    for (const ApiSums& api : found.sums.apis()) {
      if (!api.api.symbol.starts_with(kPrefix)) continue;
      EXPECT_EQ(api.times.calls, 2 * api.calls) << stats::DisplayName(api.api);
    }
  }
};

struct Case {
  const char* scenario;
  int seeds;
  // By jumps or exceptions: if few calls are measured, calls that were left may seem to be still
  // active.
  bool leaves_calls = false;
};

class ShadowStackTest : public NestingsTest, public ::testing::WithParamInterface<Case> {};

TEST_P(ShadowStackTest, PairsAndCallsAreWhatTheProgramKept) {
  for (int seed = 0; seed < GetParam().seeds; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<std::string> command = {kNestings, GetParam().scenario, std::to_string(seed)};
    const Kept kept = Read(testing::RunProcess({.arguments = command}).output);
    ASSERT_FALSE(kept.calls.empty());
    MeasureOptions options = Options(command);
    options.rounds = 0;
    const auto map = Measured(options);
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_EQ(Found(*map).calls, kept.calls);
    EXPECT_EQ(Found(*map).pairs, kept.pairs);
    const auto found = Measured(Options(command));
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(Found(*found).calls, kept.calls);
    ExpectEveryCallInEachRound(*found);
    EXPECT_TRUE(GetParam().leaves_calls || found->surprised_runs == 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ShadowStackTest,
                         ::testing::Values(Case{"tree", 5}, Case{"throws", 5, true},
                                           Case{"jumps", 5, true}, Case{"threads", 3},
                                           Case{"recursion", 1}, Case{"sort", 1},
                                           Case{"family", 1}),
                         [](const auto& one) { return std::string(one.param.scenario); });

TEST_F(NestingsTest, ACallbackIsBelowItsCaller) {
  const auto found = Measured(Options({kNestings, "sort", "1"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(HasPair(*found, "nest_5", "qsort"));
  EXPECT_TRUE(HasPair(*found, "qsort", "nest_4"));
  EXPECT_FALSE(HasPair(*found, "nest_4", "qsort"));
}

// If there is no free record, an API counts as being on the stack: more pairs, never fewer calls.
TEST_F(NestingsTest, DeeperThanThereAreRecordsPairsOnlyGrow) {
  const std::vector<std::string> command = {kNestings, "deep-recursion", "0"};
  const Kept kept = Read(testing::RunProcess({.arguments = command}).output);
  const auto found = Measured(Options(command));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(Found(*found).calls, kept.calls);
  const auto pairs = Found(*found).pairs;
  EXPECT_TRUE(std::includes(pairs.begin(), pairs.end(), kept.pairs.begin(), kept.pairs.end()));
  ExpectEveryCallInEachRound(*found);
}

// Calls that tail-call each other have frames at the same place; unwinders must distinguish them.
TEST_F(NestingsTest, ExceptionsPassCallsThatTailCalledEachOther) {
  const auto found = Measured(Options({kNestings, "tail-throws", "0"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(Find(*found, "nest_tail_1")->calls, 25U);
  EXPECT_EQ(Find(*found, "nest_tail_11")->calls, 100U);
  EXPECT_TRUE(HasPair(*found, "nest_tail_1", "nest_tail_11"));
  EXPECT_FALSE(HasPair(*found, "nest_tail_11", "nest_tail_1"));
  ExpectEveryCallInEachRound(*found);
}

TEST_F(NestingsTest, KilledProgramsKeepTheirCalls) {
  MeasureOptions options = Options({kNestings, "killed", "2"});
  options.accept_any_status = true;
  const Kept kept = Read(testing::RunProcess({.arguments = {kNestings, "tree", "2"}}).output);
  const auto found = Measured(options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->plain.status, 128 + 9);
  for (const auto& [symbol, calls] : Found(*found).calls) {
    const auto by_tree = kept.calls.find(symbol);
    const bool is_left = symbol == "nest_6" || symbol == "nest_7";
    EXPECT_EQ(calls, (by_tree == kept.calls.end() ? 0 : by_tree->second) + (is_left ? 1 : 0));
  }
  EXPECT_TRUE(HasPair(*found, "nest_6", "nest_7"));
  ExpectEveryCallInEachRound(*found);
}

TEST_F(NestingsTest, EveryProgramOfTheScenarioIsMeasured) {
  const auto found = Measured(Options({kNestings, "family", "3"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->programs, 4U);
  const Kept alone = Read(testing::RunProcess({.arguments = {kNestings, "tree", "3"}}).output);
  for (const auto& [symbol, calls] : Found(*found).calls) {
    EXPECT_EQ(calls, 4 * alone.calls.at(symbol)) << symbol;
  }
}

TEST_F(NestingsTest, TwoNamesOfOneFunctionAreTwoApis) {
  const auto found = Measured(Options({kNestings, "aliases", "0"}));
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_NE(Find(*found, "nest_one_name"), nullptr);
  ASSERT_NE(Find(*found, "nest_other_name"), nullptr);
  EXPECT_EQ(Find(*found, "nest_one_name")->calls, 5U);
  EXPECT_EQ(Find(*found, "nest_other_name")->calls, 7U);
  ExpectEveryCallInEachRound(*found);
}

TEST_F(NestingsTest, TwoVersionsOfOneFunctionAreTwoApis) {
  const auto found = Measured(Options({kVictims + "lifetimes", "versions"}));
  ASSERT_TRUE(found) << found.error().message;
  std::map<std::string, std::uint64_t> calls;
  for (const ApiSums& api : found->sums.apis()) {
    if (api.api.symbol != "versioned_value") continue;
    calls[api.api.symbol_version] = api.calls;
    EXPECT_EQ(api.times.calls, 2 * api.calls) << api.api.symbol_version;
  }
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_GT(calls["VERSION_1"], 0U);
  EXPECT_GT(calls["VERSION_2"], 0U);
}

// More threads than slots: each lost call is counted.
TEST_F(NestingsTest, CountsCallsOfThreadsWithoutASlotAsLost) {
  constexpr std::uint64_t kCalls = 300 * 100;
  MeasureOptions options = Options({kNestings, "many-threads", "300"});
  options.rounds = 0;
  options.apis = "libnestings.so.1!nest_0";
  const auto found = Measured(options);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_NE(Find(*found, "nest_0"), nullptr);
  EXPECT_EQ(Find(*found, "nest_0")->calls + found->lost_calls, kCalls);
  EXPECT_GE(Find(*found, "nest_0")->calls, 255U * 100);  // one slot belongs to the first thread
  EXPECT_GT(found->lost_calls, 0U);
}

TEST_F(NestingsTest, AnyNumberOfThreadsMayComeAndGo) {
  const auto found = Measured(Options({kNestings, "threads-in-turn", "600"}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(Find(*found, "nest_0")->calls, 600U * 100);
  ExpectEveryCallInEachRound(*found);
}

// The names of our own functions, by group.
std::vector<std::set<std::string>> Groups(const Measurement& found) {
  std::vector<std::set<std::string>> groups;
  for (const auto& group : found.grouping.groups) {
    std::set<std::string> names;
    for (const std::uint32_t api : group) {
      const std::string& symbol = found.sums.apis()[api].api.symbol;
      if (symbol.starts_with(kPrefix)) names.insert(symbol);
    }
    if (!names.empty()) groups.push_back(std::move(names));
  }
  return groups;
}

// A calls C, and B is separate: the example that motivated the lab.
TEST_F(NestingsTest, OfAThatCallsCAndBThereAreTwoGroups) {
  MeasureOptions options = Options({kNestings, "abc", "0"});
  options.apis = "libnestings.so.1!*";
  const auto found = Measured(options);
  ASSERT_TRUE(found) << found.error().message;
  using Names = std::set<std::string>;
  EXPECT_THAT(Groups(*found),
              AnyOf(UnorderedElementsAre(Names{"nest_0", "nest_1"}, Names{"nest_2"}),
                    UnorderedElementsAre(Names{"nest_0"}, Names{"nest_1", "nest_2"})));
  EXPECT_TRUE(found->grouping.is_fewest);

  const auto bucket = [](const stats::CostHistogram& histogram, std::uint64_t bytes) {
    EXPECT_EQ(histogram.used_count(), 1U);
    return histogram.bucket(shm::SlotOf(bytes)).count;
  };
  const ApiSums& a = *Find(*found, "nest_0");
  EXPECT_EQ(bucket(a.inclusive, 150), 3U);
  EXPECT_EQ(bucket(a.exclusive, 100), 3U);
  EXPECT_TRUE(a.inclusive.sum() == 450 && a.exclusive.sum() == 300);
  EXPECT_EQ(a.sizes.count(), 18U);
  const ApiSums& b = *Find(*found, "nest_1");
  EXPECT_EQ(bucket(b.inclusive, 1000), 7U);
  const ApiSums& c = *Find(*found, "nest_2");
  EXPECT_EQ(bucket(c.inclusive, 10), 15U);
  EXPECT_TRUE(c.inclusive.sum() == 150);
  EXPECT_EQ(a.times.time.count(), 2 * 3U);
  EXPECT_EQ(b.times.time.count(), 2 * 7U);
  EXPECT_EQ(c.times.time.count(), 2 * 15U);
}

class LifetimesTest : public MeasureTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(LifetimesTest, AreAsWithoutTheLibrary) {
  MeasureOptions options = Options({kVictims + "lifetimes", GetParam()});
  options.accept_any_status = true;
  const auto found = Measured(options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->finished_rounds, 2U);
  EXPECT_EQ(found->failed_runs + found->other_outputs + found->refused, 0U);
  for (const ApiSums& api : found->sums.apis()) {
    if (!api.api.symbol.starts_with("victim_") && !api.api.symbol.starts_with("plugin")) continue;
    EXPECT_EQ(api.times.calls, 2 * api.calls) << stats::DisplayName(api.api);
  }
}

INSTANTIATE_TEST_SUITE_P(Victims, LifetimesTest,
                         ::testing::Values("reload", "versions", "thread-ends", "exit-inside",
                                           "reach-main", "deep"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A signal at each instruction of a call: the program behaves as without the library, both mapped
// and timed.
class LabStepperTest : public MeasureTest,
                       public ::testing::WithParamInterface<std::tuple<const char*, const char*>> {
};

std::string WithoutRemarks(const std::string& output) {
  std::istringstream lines(output);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#')) text += line + '\n';
  }
  return text;
}

TEST_P(LabStepperTest, MayInterruptEveryInstruction) {
  const auto [path, action] = GetParam();
  const std::vector<std::string> command = {kVictims + "stepper", path, action};
  const testing::ProcessResult plain = testing::RunProcess({.arguments = command});
  ASSERT_EQ(plain.exit_status, 0) << plain.output;
  const MeasureOptions options = Options(command);
  for (const std::uint32_t mode : {shm::kLabMap, shm::kLabTime}) {
    SCOPED_TRACE(mode);
    PlanFile plan{.mode = mode, .tsc_to_ns_multiplier = options.tsc_to_ns_multiplier};
    plan.globs = "libvictim.so.1!*";
    for (const char* symbol :
         {"victim_noop", "victim_tail", "victim_tail_end", "victim_call_back"}) {
      plan.entries.push_back(
          {shm::ApiHash("libvictim.so.1", symbol, ""), shm::kLabTimed, shm::kNoArgument});
    }
    if (mode == shm::kLabMap) plan.entries.clear();
    ASSERT_TRUE(WritePlan(directory_.path(), plan));
    const testing::ProcessResult measured = testing::RunProcess(
        {.arguments = command,
         .environment = {{"LD_PRELOAD", options.runner.library.string()},
                         {shm::kLabDirectoryVariable, directory_.path().string()}}});
    EXPECT_EQ(WithoutRemarks(measured.output), WithoutRemarks(plain.output));
    EXPECT_EQ(measured.errors, plain.errors);
    EXPECT_EQ(measured.exit_status, 0);
  }
}

std::string NameOf(const ::testing::TestParamInfo<LabStepperTest::ParamType>& walk) {
  std::string name = std::string(std::get<0>(walk.param)) + "_" + std::get<1>(walk.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Paths, LabStepperTest,
                         ::testing::Combine(::testing::Values("usual", "tail", "nested",
                                                              "after-abandoned"),
                                            ::testing::Values("observe", "throw", "jump")),
                         NameOf);
// The walks of a thread's first call, and of an API's first call, are too long to be left at each
// instruction.
INSTANTIATE_TEST_SUITE_P(LongPaths, LabStepperTest,
                         ::testing::Combine(::testing::Values("fresh", "first", "high-stack"),
                                            ::testing::Values("observe")),
                         NameOf);

}  // namespace
}  // namespace fieldcost::lab
