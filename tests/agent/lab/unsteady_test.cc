#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/shm/selection.h"
#include "tests/agent/lab/measure_fixture.h"

// Scenarios that behave differently each time, machines that do, and reasons to end a measurement
// early.

namespace fieldcost::lab {
namespace {

using ::testing::HasSubstr;

const std::string kNestings = kVictims + "nestings";

std::uint64_t HashOf(unsigned function) {
  return shm::ApiHash("libnestings.so.1", ("nest_" + std::to_string(function)).c_str(), "");
}

// The behaviour of a run of the fickle victim, and its plan.
struct FickleRun {
  bool is_timed = false;
  std::map<unsigned, std::uint64_t> calls;
  std::set<std::pair<unsigned, unsigned>> pairs;
  std::map<std::uint64_t, std::uint32_t> roles;  // by ApiHash

  bool IsTimed(unsigned function) const {
    const auto role = roles.find(HashOf(function));
    return role != roles.end() && role->second == shm::kLabTimed;
  }
  // Whether the run went as planned.
  bool IsAsPlanned() const {
    const bool all_known = std::all_of(calls.begin(), calls.end(), [&](const auto& call) {
      return roles.contains(HashOf(call.first));
    });
    return all_known && std::none_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
             return pair.first != pair.second && IsTimed(pair.first) && IsTimed(pair.second);
           });
  }
};

class FickleTest : public MeasureTest {
 protected:
  FickleRun ReadRun(unsigned number) const {
    FickleRun run;
    std::ifstream did(notes_.path() / ("did." + std::to_string(number)));
    for (std::string what; did >> what;) {
      unsigned first = 0;
      std::uint64_t second = 0;
      did >> first >> second;
      if (what == "call") run.calls[first] = second;
      if (what == "pair") run.pairs.emplace(first, static_cast<unsigned>(second));
    }
    const auto plan = ReadFile(notes_.path() / ("plan." + std::to_string(number)), kMiB);
    shm::LabPlanHeader header{};
    if (!plan || plan->size() < sizeof header) return run;
    std::memcpy(&header, plan->data(), sizeof header);
    run.is_timed = header.mode == shm::kLabTime;
    for (std::uint32_t i = 0; i < header.entry_count; ++i) {
      shm::LabPlanEntry entry{};
      std::memcpy(&entry, plan->data() + sizeof header + i * sizeof entry, sizeof entry);
      run.roles[entry.api_hash] = entry.role;
    }
    return run;
  }
  unsigned RunCount() const {
    return static_cast<unsigned>(std::stoul(ReadFile(notes_.path() / "count", kMiB).value_or("0")));
  }

  MeasureOptions FickleOptions(unsigned period) const {
    MeasureOptions options =
        Options({kNestings, "fickle", notes_.path().string(), std::to_string(period)});
    options.apis = "libnestings.so.1!nest_*";
    options.repeats_disturbed = false;  // ignore other load on the machine
    return options;
  }

  testing::TempDir notes_;
};

class UnsteadyScenarioTest : public FickleTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(UnsteadyScenarioTest, TheSumsContainOnlyRunsThatWentAsPlanned) {
  const auto found = Measured(FickleOptions(GetParam()));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->finished_rounds, 2U);
  EXPECT_GT(found->surprised_runs, 0U);

  // All runs are accounted for: the plain run, the map runs, and each timing run.
  EXPECT_EQ(found->sums.map_runs(), 3U);
  EXPECT_EQ(RunCount(), 4 + found->accepted_runs + found->surprised_runs + found->disturbed_runs +
                            found->failed_runs);
  // APIs are isolated after ten new plans; each further plan isolates another of the twelve.
  EXPECT_EQ(found->replans, found->surprised_runs);
  EXPECT_LE(found->replans, 10U + 12U);

  std::uint32_t as_planned = 0;
  std::uint32_t map_runs = 1;
  std::map<std::string, std::uint64_t> calls;
  for (unsigned number = 2; number < RunCount(); ++number) {
    const FickleRun run = ReadRun(number);
    if (!run.is_timed) {
      ++map_runs;
      continue;
    }
    if (!run.IsAsPlanned()) continue;
    ++as_planned;
    for (const auto& [function, of_run] : run.calls) {
      if (run.IsTimed(function)) calls["nest_" + std::to_string(function)] += of_run;
    }
  }
  EXPECT_EQ(map_runs, found->sums.map_runs());
  EXPECT_EQ(found->accepted_runs, as_planned);
  for (const ApiSums& api : found->sums.apis()) {
    EXPECT_EQ(api.times.calls, calls[api.api.symbol]) << api.api.symbol;
  }
}

INSTANTIATE_TEST_SUITE_P(Periods, UnsteadyScenarioTest, ::testing::Values(4U, 5U, 13U, 1000U));

// Disturbs the machine in a run if `is_disturbed` returns true for it.
MeasureOptions WithLoops(MeasureOptions options, std::function<bool(int run)> is_disturbed) {
  auto loops = std::make_shared<int>(0);
  options.plain_loop = [=] {
    const int run = (*loops)++ / 2;  // before and after each
    return std::uint64_t{is_disturbed(run) ? 10'000U : 1000U};
  };
  return options;
}

class DisturbedMachineTest : public MeasureTest {
 protected:
  MeasureOptions OneGroup() const {
    MeasureOptions options = Options({kNestings, "abc", "0"});
    options.apis = "libnestings.so.1!nest_1";
    return options;
  }
};

TEST_F(DisturbedMachineTest, ADisturbedRunIsRepeated) {
  const auto found = Measured(WithLoops(OneGroup(), [](int run) { return run == 1; }));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->accepted_runs, 2U);
  EXPECT_EQ(found->disturbed_runs, 1U);
  EXPECT_EQ(found->disturbed_kept, 0U);
  EXPECT_EQ(Find(*found, "nest_1")->times.calls, 2 * 7U);
}

TEST_F(DisturbedMachineTest, AfterThreeRepeatsItIsKeptAndCounted) {
  const auto found = Measured(WithLoops(OneGroup(), [](int run) { return run >= 1; }));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->accepted_runs, 2U);
  EXPECT_EQ(found->disturbed_runs, 3U);
  EXPECT_EQ(found->disturbed_kept, 1U);
  EXPECT_EQ(Find(*found, "nest_1")->times.calls, 2 * 7U);
}

TEST_F(DisturbedMachineTest, WhereMaxTimeLeavesNoRoomItIsKeptAtOnce) {
  std::chrono::seconds elapsed{0};
  MeasureOptions options = WithLoops(OneGroup(), [&](int run) {
    if (run == 1) elapsed = std::chrono::seconds(61);  // during the second run
    return run == 1;
  });
  options.max_time = std::chrono::seconds(60);
  options.elapsed = [&] { return elapsed; };
  const auto found = Measured(options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->finished_rounds, 2U);
  EXPECT_EQ(found->disturbed_runs, 0U);
  EXPECT_EQ(found->disturbed_kept, 1U);
}

TEST_F(MeasureTest, WithoutTimeForATimingRunThereIsNoRound) {
  MeasureOptions options = Options({kNestings, "abc", "0"});
  options.max_time = std::chrono::milliseconds(0);
  const auto found = Measured(options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->stopped, StoppedBy::kMaxTime);
  EXPECT_EQ(found->finished_rounds, 0U);
  EXPECT_EQ(found->accepted_runs, 0U);
  EXPECT_FALSE(found->sums.apis().empty());
}

TEST_F(MeasureTest, IsolatedApisHaveGroupsOfTheirOwn) {
  MeasureOptions options = Options({kNestings, "abc", "0"});
  options.apis = "libnestings.so.1!*";
  options.isolate = {"*!nest_1"};
  const auto found = Measured(options);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->grouping.groups.size(), 3U);
  EXPECT_EQ(Find(*found, "nest_1")->times.time.count(), 2 * 7U);
}

TEST_F(MeasureTest, TheSameSeedIsTheSamePlan) {
  MeasureOptions options = Options({kNestings, "tree", "4"});
  options.apis = "libnestings.so.1!*";
  options.plan_only = true;
  const auto groups = [&](std::optional<std::uint64_t> seed) {
    options.seed = seed;
    const auto found = Measured(options);
    EXPECT_TRUE(found);
    std::set<std::set<std::string>> names;
    for (const auto& group : found->grouping.groups) {
      std::set<std::string> one;
      for (const std::uint32_t api : group) one.insert(found->sums.apis()[api].api.symbol);
      names.insert(std::move(one));
    }
    return std::pair(found->seed, names);
  };
  EXPECT_EQ(groups(7), groups(7));
  EXPECT_EQ(groups(7).first, 7U);
  EXPECT_EQ(groups(std::nullopt), groups(std::nullopt));
}

TEST_F(MeasureTest, DiscardsAndReportsOccasionalFailures) {
  const testing::TempDir notes;
  const std::string script =
      "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; "
      "test $((n % 4)) -ne 3";
  const auto found =
      Measured(Options({"/bin/sh", "-c", "cd " + notes.path().string() + "; " + script}));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_GT(found->failed_runs, 0U);
  EXPECT_EQ(found->finished_rounds, 2U);
}

TEST_F(MeasureTest, FailingOnlyWhenMeasuredIsOurFault) {
  const auto found = Measured(Options({"/bin/sh", "-c", "test -z \"$FIELDCOST_LAB_DIR\""}));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInternal);
  EXPECT_THAT(found.error().message, HasSubstr("fails only when it is measured (map run)"));
}

}  // namespace
}  // namespace fieldcost::lab
