// `fieldcost tree ... --html`, and the cost of a recording over time.
#include <array>
#include <fstream>
#include <map>
#include <random>
#include <span>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/recording/recording_limits.h"
#include "common/recording/recording_writer.h"
#include "common/tree/tree.h"
#include "tests/tools/analysis/trees.h"
#include "tests/tools/cli/cli_fixture.h"
#include "tools/cli/tree/operand.h"
#include "tools/cli/tree/timeline.h"

namespace fieldcost::cli {
namespace {

using report::Timeline;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessResult;

constexpr int kUsage = 64;
constexpr std::size_t kMaxPageBytes = kMiB;
constexpr std::uint64_t kMs = 1'000'000;

struct RunOf {
  std::uint64_t begin_ns;
  std::uint64_t length_ns;  // 0: it has not ended
  std::size_t samples;
};

class TreePageCommandTest : public CliTest {
 protected:
  void SetUp() override { std::filesystem::create_directories(home()); }
  std::string Path(const std::string& name) const { return (home() / name).string(); }

  // Samples of two streams with three metrics, at pseudo-random times and paths.
  std::string Record(const std::string& name, const std::vector<RunOf>& runs,
                     std::size_t samples_without_run = 0) {
    tree::Dictionary dictionary;
    auto writer = recording::Writer::Create(Path(name), dictionary, {}).value();
    const auto wall = writer.AddMetric({.name = "wall", .per_sample = kMs}).value();
    const auto calls = writer.AddMetric({.name = "calls", .unit = tree::Unit::kCount}).value();
    const auto all = writer.AddStream({.name = "all", .metrics = {wall, calls}}).value();
    const auto waits =
        writer
            .AddStream({.kind = recording::StreamKind::kWaits, .name = "waits", .metrics = {wall}})
            .value();
    std::uint64_t state = 7;
    const auto random = [&state] {
      state = state * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
      return state >> 33U;
    };
    const auto append = [&](std::uint64_t from_ns, std::uint64_t length_ns, std::size_t samples) {
      for (std::size_t i = 0; i < samples; ++i) {
        const std::uint64_t time_ns = from_ns + length_ns * i / samples;
        const auto frame = dictionary.frames.Intern({.function = std::to_string(random() % 5)});
        const auto caller = dictionary.paths.Intern(tree::kRootPath, *frame).value();
        const auto path =
            random() % 2 == 0 ? dictionary.paths.Intern(caller, *frame).value() : caller;
        const std::array<std::uint64_t, 2> values = {random() % 1'000, random() % 3};
        const recording::ThreadId thread(static_cast<std::uint32_t>(i % 3));
        EXPECT_TRUE(writer.Append(all, time_ns, path, values, thread));
        // Some waits are longer than a bin, and some began before their run.
        const std::uint64_t wait_ns = i % 7 == 0 ? i % 20 * kMs + values[0] : values[0];
        EXPECT_TRUE(writer.Append(waits, time_ns, path, std::span(&wait_ns, 1), thread));
      }
    };
    for (const std::uint32_t tid : {1U, 2U}) {
      EXPECT_TRUE(writer.AddThread({.pid = 1, .tid = tid, .process = "app", .name = "app"}));
    }
    for (const RunOf& run : runs) {
      const auto id = writer.BeginRun(run.begin_ns, "app", "").value();
      append(run.begin_ns, run.length_ns == 0 ? 9 * kMs : run.length_ns, run.samples);
      if (run.length_ns == 0) continue;
      EXPECT_TRUE(writer.EndRun(id, run.begin_ns + run.length_ns, 0));
    }
    append(123 * kMs, kMs, samples_without_run);
    EXPECT_TRUE(writer.Close());
    return Path(name);
  }

  // Nonzero values by path.
  using Values = std::map<std::uint32_t, std::uint64_t>;

  static Values SelfOf(const tree::Tree& tree, std::size_t metric) {
    Values values;
    for (std::uint32_t path = 0; path < tree.values[metric].self.size(); ++path) {
      const stats::Uint128 sum = tree.values[metric].self[path].sum;
      if (sum != 0) values[path] = static_cast<std::uint64_t>(sum);
    }
    return values;
  }

  static void ExpectThreadsAddUp(const Timeline& timeline) {
    ASSERT_GE(timeline.threads.size(), 2U);  // equal names in several runs count as one
    for (std::size_t metric = 0; metric < timeline.bins.size(); ++metric) {
      for (std::size_t bin = 0; bin < timeline.bins[metric].size(); ++bin) {
        Values all;
        for (const auto& [path, value] : timeline.bins[metric][bin]) all[path] = value;
        Values sums;
        for (const Timeline::Thread& thread : timeline.threads) {
          for (const auto& [path, value] : thread.bins[metric][bin]) sums[path] += value;
        }
        ASSERT_EQ(sums, all) << bin;
      }
    }
  }

  // A recording of this many threads; thread i has i + 1 samples of a path of its own.
  std::string RecordThreads(const std::string& name, std::uint32_t threads,
                            std::size_t paths_of_each = 1, std::size_t samples_of_each = 0) {
    tree::Dictionary dictionary;
    auto writer = recording::Writer::Create(Path(name), dictionary, {}).value();
    const auto wall = writer.AddMetric({.name = "wall", .per_sample = kMs}).value();
    const auto stream = writer.AddStream({.name = "all", .metrics = {wall}}).value();
    const auto run = writer.BeginRun(0, "app", "").value();
    std::vector<recording::ThreadId> ids;
    for (std::uint32_t i = 0; i < threads; ++i) {
      ids.push_back(
          writer.AddThread({.pid = 1, .tid = 10 + i, .process = "app", .name = "worker"}).value());
    }
    std::uint64_t time_ns = 0;
    for (std::uint32_t i = 0; i < threads; ++i) {
      const std::size_t samples = samples_of_each == 0 ? i + 1 : samples_of_each;
      for (std::size_t sample = 0; sample < samples; ++sample) {
        const auto frame =
            dictionary.frames.Intern({.function = fmt::format("f{}", sample % paths_of_each)});
        const auto path = dictionary.paths.Intern(tree::kRootPath, *frame).value();
        const std::uint64_t ns = kMs;
        EXPECT_TRUE(writer.Append(stream, ++time_ns, path, std::span(&ns, 1), ids[i]));
      }
    }
    EXPECT_TRUE(writer.EndRun(run, time_ns + 1, 0));
    EXPECT_TRUE(writer.Close());
    return Path(name);
  }

  static Timeline TimelineOf(const std::string& file,
                             std::optional<recording::DivideBy> by = std::nullopt) {
    TreeOperand operand = ParseTreeOperand(file).value();
    operand.by = by;
    const LoadedTree loaded = LoadTree(operand).value();
    const auto& tree = std::get<tree::Tree>(loaded.tree);
    return LoadTimeline(*loaded.recording, operand, tree.metrics).value().value();
  }
  static std::uint64_t SumOf(const Timeline::Bins& bins) {
    std::uint64_t sum = 0;
    for (const Timeline::Bin& bin : bins[0]) {
      for (const auto& [path, value] : bin) sum += value;
    }
    return sum;
  }

  // Compares every `step`-th bin, and some groups of bins, with the tree of the same interval,
  // value by value.
  static void ExpectBinsAreTrees(const std::string& operand, std::size_t expected_bins,
                                 std::optional<recording::DivideBy> by = std::nullopt,
                                 std::size_t step = 1) {
    TreeOperand whole = ParseTreeOperand(operand).value();
    whole.by = by;
    const LoadedTree loaded = LoadTree(whole).value();
    const auto& tree = std::get<tree::Tree>(loaded.tree);
    const Timeline timeline = LoadTimeline(*loaded.recording, whole, tree.metrics).value().value();
    const std::size_t bins = timeline.edges_ns.size() - 1;
    ASSERT_EQ(bins, expected_bins);
    const auto compare = [&](std::size_t from, std::size_t to) {
      const TreeOperand part{.file = whole.file,
                             .interval = recording::Interval{.from_ns = timeline.edges_ns[from],
                                                             .to_ns = timeline.edges_ns[to]},
                             .by = by};
      const auto expected = std::get<tree::Tree>(LoadTree(part).value().tree);
      for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
        Values sums;
        for (std::size_t bin = from; bin < to; ++bin) {
          for (const auto& [path, value] : timeline.bins[metric][bin]) sums[path] += value;
        }
        EXPECT_EQ(sums, SelfOf(expected, metric)) << from << ".." << to << " of " << operand;
      }
    };
    if (!by) ExpectThreadsAddUp(timeline);
    for (std::size_t bin = 0; bin < bins; bin += step) compare(bin, bin + 1);
    for (std::size_t i = 1; i < 20; ++i) compare(bins * i / 50, bins - bins * i / 60);
    for (std::size_t metric = 0; metric < tree.metrics.size(); ++metric) {
      Values sums;
      for (const Timeline::Bin& bin : timeline.bins[metric]) {
        for (const auto& [path, value] : bin) sums[path] += value;
      }
      EXPECT_EQ(sums, SelfOf(tree, metric)) << "all of " << operand;
    }
  }
};

TEST_F(TreePageCommandTest, EachBinIsTheTreeOfItsInterval) {
  ExpectBinsAreTrees(Record("one.fct", {{0, 10 * kMs, 3'000}}), kPageBins);
  const std::string several = Record(
      "several.fct", {{77, 10 * kMs + 3, 2'000}, {20 * kMs, 3 * kMs + 1, 900}, {40 * kMs, 7, 5}});
  ExpectBinsAreTrees(several, kPageBins);
  ExpectBinsAreTrees(several + "@1.5ms..6.333333ms", kPageBins);
  ExpectBinsAreTrees(several + "@..100ns", 100);
}

TEST_F(TreePageCommandTest, EachBinOfThreadsIsTheTreeOfItsInterval) {
  const std::string file = Record("one.fct", {{0, 10 * kMs, 3'000}, {20 * kMs, 3 * kMs + 1, 900}});
  ExpectBinsAreTrees(file, kPageBins, recording::DivideBy::kThread, 37);
  ExpectBinsAreTrees(file + "@1.5ms..6.333333ms", kPageBins, recording::DivideBy::kProcess, 37);
}

// Some calls are longer and some shorter than a bin.
TEST_F(TreePageCommandTest, EachBinOfImportedEventsIsTheTreeOfItsInterval) {
  std::mt19937_64 random(9);
  std::ofstream events(Path("events"));
  std::uint64_t ns = 7'000;
  std::array<int, 2> depths{};
  for (int i = 0; i < 2'000; ++i) {
    ns += random() % (i % 40 == 0 ? 90'000 : 500);
    const std::size_t thread = random() % 2;
    const bool is_enter = depths[thread] == 0 || (depths[thread] < 5 && random() % 2 == 0);
    depths[thread] += is_enter ? 1 : -1;
    events << ns << " " << thread << (is_enter ? " enter f" : " exit");
    if (is_enter) events << random() % 4;
    events << "\n";
  }
  events.close();
  ExpectBinsAreTrees(Path("events"), kPageBins, std::nullopt, 11);
  ExpectBinsAreTrees(Path("events"), kPageBins, recording::DivideBy::kThread, 37);
}

TEST_F(TreePageCommandTest, RunsMayBeOpenOverlapOrBeMissing) {
  ExpectBinsAreTrees(Record("open.fct", {{5, 0, 2'000}}), kPageBins);
  ExpectBinsAreTrees(Record("overlap.fct", {{0, 10 * kMs, 1'000}, {10 * kMs, 4 * kMs, 500}}),
                     kPageBins);
  ExpectBinsAreTrees(Record("shorter.fct", {{0, 4 * kMs, 500}, {4 * kMs, 10 * kMs, 1'000}}),
                     kPageBins);
  ExpectBinsAreTrees(Record("none.fct", {}, 1'000), kPageBins);
}

TEST_F(TreePageCommandTest, FilesWithoutTimeHaveNoTimeline) {
  const std::string file = Record("a.fct", {{0, 10 * kMs, 100}});
  ASSERT_EQ(Cli({"tree", "at", file, "--to", "5ms", "-o", Path("b.fct")}).exit_status, 0);
  EXPECT_EQ(LoadTree({.file = Path("b.fct"), .interval = {}}).value().recording, nullptr);
  const TreeOperand empty{.file = Record("empty.fct", {{0, 10 * kMs, 0}}), .interval = {}};
  const LoadedTree loaded = LoadTree(empty).value();
  EXPECT_FALSE(LoadTimeline(*loaded.recording, empty, {}).value().has_value());
  for (const auto& name : {Path("b.fct"), empty.file.string()}) {
    const ProcessResult page = Cli({"tree", "show", name, "--html", "-"});
    EXPECT_THAT(page.output, AllOf(HasSubstr("id=\"tree\""), Not(HasSubstr("id=\"timeline\""))));
  }
}

TEST_F(TreePageCommandTest, OmitsTheTimelineIfSamplesDivideEvents) {
  tree::Dictionary dictionary;
  auto writer = recording::Writer::Create(Path("both.fct"), dictionary, {}).value();
  const auto wall = writer.AddMetric({.name = "wall"}).value();
  const auto cpu = writer.AddMetric({.name = "cpu", .per_sample = kMs}).value();
  const auto events =
      writer.AddStream({.kind = recording::StreamKind::kSnapshots, .name = "e", .metrics = {wall}})
          .value();
  const auto samples = writer.AddStream({.name = "s", .metrics = {cpu}}).value();
  const auto main = dictionary.frames.Intern({.function = "main"}).value();
  const auto work = dictionary.frames.Intern({.function = "work"}).value();
  const auto path = dictionary.paths.Intern(tree::kRootPath, main).value();
  const auto below = dictionary.paths.Intern(path, work).value();
  for (const std::uint64_t value : {3 * kMs, 5 * kMs}) {
    EXPECT_TRUE(writer.Append(events, value, path, {&value, 1}));
    EXPECT_TRUE(writer.Append(samples, value, below, {&value, 1}));
  }
  EXPECT_TRUE(writer.Close());
  const ProcessResult page = Cli({"tree", "show", Path("both.fct"), "--html", "-"});
  EXPECT_THAT(page.output, AllOf(HasSubstr("No timeline"), Not(HasSubstr("id=\"timeline\""))));
}

TEST_F(TreePageCommandTest, WritesAPageOfATreeAndOfADifference) {
  const std::string file = Record("a.fct", {{0, 10 * kMs, 300}, {10 * kMs, 10 * kMs, 300}});
  const auto page = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--html", Path("page.html")});
    const ProcessResult result = Cli(arguments);
    EXPECT_THAT(result.errors, HasSubstr(" bytes in ")) << arguments[1];
    return ReadFile(Path("page.html"), kMaxPageBytes).value_or("");
  };
  EXPECT_THAT(page({"tree", "show", file}),
              AllOf(HasSubstr("class=\"bins\" data-metric=\"1\""), HasSubstr("a.fct")));
  EXPECT_THAT(page({"tree", "at", file, "--from", "2ms"}),
              AllOf(HasSubstr("class=\"bins\""), HasSubstr("a.fct@2ms..")));
  EXPECT_THAT(page({"tree", "add", file, file}), Not(HasSubstr("class=\"bins\"")));
  EXPECT_THAT(page({"tree", "diff", file, file}),
              AllOf(HasSubstr("\"difference\":true"), HasSubstr("\"certain\":[]")));
  EXPECT_EQ(std::filesystem::status(Path("page.html")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(TreePageCommandTest, APageGoesWithNoOtherForm) {
  const std::string file = Record("a.fct", {{0, 10 * kMs, 10}});
  for (const char* other : {"--flat", "--bottom-up", "--json", "--csv"}) {
    EXPECT_EQ(Cli({"tree", "show", file, "--html", Path("a.html"), other}).exit_status, kUsage)
        << other;
  }
  EXPECT_EQ(Cli({"tree", "diff", file, file, "--html", "-", "--json"}).exit_status, kUsage);
}

TEST_F(TreePageCommandTest, ThreadsCanBeChosenUpToALimitAndTheOthersAreOne) {
  EXPECT_TRUE(TimelineOf(RecordThreads("one.fct", 1)).threads.empty());
  EXPECT_EQ(TimelineOf(RecordThreads("two.fct", 2)).threads.size(), 2U);
  const std::string file = RecordThreads("many.fct", 40);
  EXPECT_TRUE(TimelineOf(file, recording::DivideBy::kThread).threads.empty());
  const Timeline timeline = TimelineOf(file);
  ASSERT_EQ(timeline.threads.size(), kPageThreads);
  EXPECT_EQ(timeline.threads.back().untrusted_label, "[10 other threads]");
  // Threads 1 to 9 have the fewest samples, and the group without a thread has none.
  EXPECT_EQ(SumOf(timeline.threads.back().bins), 45 * kMs);
  std::uint64_t sum = 0;
  for (const Timeline::Thread& thread : timeline.threads) sum += SumOf(thread.bins);
  EXPECT_EQ(sum, SumOf(timeline.bins));
  const ProcessResult page = Cli({"tree", "show", file, "--html", "-"});
  EXPECT_EQ(page.exit_status, 0) << page.errors;
  EXPECT_THAT(page.output,
              AllOf(HasSubstr("<select id=\"thread\">"), HasSubstr("\"threads\":"),
                    HasSubstr("data-thread=\"32\""), Not(HasSubstr("data-thread=\"33\""))));
  const ProcessResult divided = Cli({"tree", "show", file, "--by", "thread", "--html", "-"});
  EXPECT_THAT(divided.output, Not(HasSubstr("<select id=\"thread\">")));
}

// 64 bins for 32 threads with 2,000 paths each would be 4 million values.
TEST_F(TreePageCommandTest, NoThreadsCanBeChosenWhereTheyWouldMakeThePageTooLarge) {
  const Timeline timeline = TimelineOf(RecordThreads("wide.fct", 31, 70'000, 70'000));
  EXPECT_TRUE(timeline.threads.empty());
  EXPECT_EQ(SumOf(timeline.bins), 31 * 70'000 * kMs);
}

}  // namespace
}  // namespace fieldcost::cli
