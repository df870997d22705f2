// `fieldcost tree ...` with recordings created here.
#include <fstream>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/recording/recording_writer.h"
#include "tests/tools/analysis/trees.h"
#include "tests/tools/cli/cli_fixture.h"
#include "tools/cli/tree/operand.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessResult;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1'000 * kMs;
constexpr int kUsage = 64;
constexpr int kCorrupt = 65;
constexpr int kNotFound = 66;

TEST(TreeOperandTest, TimesAreExactNanoseconds) {
  EXPECT_EQ(ParseNanoseconds("12s"), 12 * kSecond);
  EXPECT_EQ(ParseNanoseconds("1.5ms"), 1'500'000U);
  EXPECT_EQ(ParseNanoseconds("0.000000001s"), 1U);
  EXPECT_EQ(ParseNanoseconds("2m"), 120 * kSecond);
  EXPECT_EQ(ParseNanoseconds("0.25us"), 250U);
  EXPECT_EQ(ParseNanoseconds("0"), 0U);
  for (const char* wrong : {"", "12", "s", ".5s", "1.s", "1..5s", "-1s", "1.5ns", "1e3s", "12 s",
                            "99999999999h", "18446744073709551616ns", "0.0000000001s"}) {
    EXPECT_EQ(ParseNanoseconds(wrong), std::nullopt) << wrong;
  }
}

TEST(TreeOperandTest, AnIntervalFollowsTheLastAt) {
  const auto whole = ParseTreeOperand("dir@1/a.fct").value();
  EXPECT_EQ(whole.file, "dir@1/a.fct");
  EXPECT_FALSE(whole.interval.has_value());
  EXPECT_EQ(ParseTreeOperand("me@host.fct").value().file, "me@host.fct");
  const auto part = ParseTreeOperand("dir@1/a.fct@1s..2s").value();
  EXPECT_EQ(part.file, "dir@1/a.fct");
  EXPECT_EQ(part.interval->from_ns, kSecond);
  EXPECT_EQ(part.interval->to_ns, 2 * kSecond);
  EXPECT_EQ(ParseTreeOperand("a@..1s").value().interval->from_ns, 0U);
  EXPECT_EQ(ParseTreeOperand("a@1s..").value().interval->to_ns, recording::kMaxTimeNs);
  for (const char* wrong : {"a@2s..1s", "a@1s..1s", "a@x..2s", "a@1s..2", "a@1s...2s"}) {
    EXPECT_FALSE(ParseTreeOperand(wrong).has_value()) << wrong;
  }
}

struct Sample {
  std::uint64_t time_ns;
  std::string path;  // "main;z!deflate"
  std::uint64_t ns;
  std::uint32_t thread = 0;  // 0: none; else an index into kThreads
};

const recording::Thread kThreads[] = {
    {7, 7, "app", "app"}, {7, 8, "app", "io"}, {9, 9, "sh", "sh"}};

class TreeCommandTest : public CliTest {
 protected:
  void SetUp() override { std::filesystem::create_directories(home()); }

  std::string Path(const std::string& name) const { return (home() / name).string(); }

  // Each run takes 10 s and begins when the previous one has ended.
  std::string Record(const std::string& name, const std::vector<std::vector<Sample>>& runs) {
    tree::Dictionary dictionary;
    auto writer = recording::Writer::Create(Path(name), dictionary, {}).value();
    const auto metric = writer.AddMetric({.name = "wall", .per_sample = kMs}).value();
    const auto stream = writer.AddStream({.name = "all", .metrics = {metric}}).value();
    std::vector<recording::ThreadId> threads = {recording::kNoThread};
    for (const recording::Thread& thread : kThreads) {
      threads.push_back(writer.AddThread(thread).value());
    }
    for (std::uint64_t i = 0; i < runs.size(); ++i) {
      const std::uint64_t begin_ns = 10 * kSecond * i;
      const auto run = writer.BeginRun(begin_ns, "app", "").value();
      for (const Sample& sample : runs[i]) {
        const tree::PathId path = Intern(sample.path, dictionary);
        const std::uint64_t value = sample.ns;
        EXPECT_TRUE(writer.Append(stream, begin_ns + sample.time_ns, path, {&value, 1},
                                  threads[sample.thread]));
      }
      EXPECT_TRUE(writer.EndRun(run, begin_ns + 10 * kSecond, 0));
    }
    EXPECT_TRUE(writer.Close());
    return Path(name);
  }

  static tree::PathId Intern(const std::string& path, tree::Dictionary& dictionary) {
    tree::PathId at = tree::kRootPath;
    std::istringstream frames(path);
    for (std::string frame; std::getline(frames, frame, ';');) {
      at = dictionary.paths
               .Intern(at, dictionary.frames.Intern(testing::WrittenFrame(frame)).value())
               .value();
    }
    return at;
  }

  std::string Bytes(const std::string& name) const {
    return ReadFile(Path(name), kMiB).value_or("");
  }
};

const std::vector<Sample> kOfThreads = {{1, "main;read", 6 * kMs, 1},
                                        {2 * kSecond, "main;read", 2 * kMs, 2},
                                        {3 * kSecond, "main", kMs, 3},
                                        {4 * kSecond, "main", kMs, 0}};

TEST_F(TreeCommandTest, ByDividesWhatIsShown) {
  const std::string file = Record("a.fct", {kOfThreads});
  EXPECT_EQ(Cli({"tree", "show", file, "--by", "thread"}).output,
            "wall of 1 run: 10 ms a run (sampled)\n"
            " SHARE    COST    SELF  FUNCTION\n"
            "60.0 %  6.0 ms          [thread app 7]\n"
            "60.0 %  6.0 ms            main\n"
            "60.0 %  6.0 ms  6.0 ms      read\n"
            "20.0 %  2.0 ms          [thread app/io 8]\n"
            "20.0 %  2.0 ms            main\n"
            "20.0 %  2.0 ms  2.0 ms      read\n"
            "10.0 %  1.0 ms          [several threads]\n"
            "10.0 %  1.0 ms  1.0 ms    main\n"
            "10.0 %  1.0 ms          [thread sh 9]\n"
            "10.0 %  1.0 ms  1.0 ms    main\n");
  EXPECT_THAT(Cli({"tree", "show", file, "--by", "process"}).output,
              AllOf(HasSubstr("80.0 %  8.0 ms          [process app 7]\n"),
                    HasSubstr("10.0 %  1.0 ms          [process sh 9]\n"),
                    HasSubstr("10.0 %  1.0 ms          [several processes]\n")));
  EXPECT_EQ(Cli({"tree", "show", file, "--by", "thread", "--flat"}).output,
            "wall of 1 run: 10 ms a run (sampled)\n"
            " SHARE    SELF  INCLUSIVE  THREAD             FUNCTION\n"
            "60.0 %  6.0 ms     6.0 ms  [thread app 7]     read\n"
            "20.0 %  2.0 ms     2.0 ms  [thread app/io 8]  read\n"
            "10.0 %  1.0 ms     1.0 ms  [several threads]  main\n"
            "10.0 %  1.0 ms     1.0 ms  [thread sh 9]      main\n"
            " 0.0 %    0 ns     6.0 ms  [thread app 7]     main\n"
            " 0.0 %    0 ns     2.0 ms  [thread app/io 8]  main\n");
  EXPECT_THAT(Cli({"tree", "show", file, "--by", "thread", "--json"}).output,
              HasSubstr(R"({"parent":0,"name":"[thread app/io 8]","module":"",)"
                        R"("function":"[thread app/io 8]","self":"0","inclusive":"2000000"})"));
  EXPECT_THAT(Cli({"tree", "at", file, "--from", "2s", "--to", "3s", "--by", "thread"}).output,
              AllOf(HasSubstr("100.0 %  2.0 ms          [thread app/io 8]"), Not(HasSubstr("sh"))));
  for (const char* page : {"--html", "--svg"}) {
    EXPECT_THAT(Cli({"tree", "show", file, "--by", "thread", page, "-"}).output,
                HasSubstr("[thread app/io 8]"))
        << page;
  }
}

TEST_F(TreeCommandTest, ThreadsOfSeveralRunsAreOneByTheirNames) {
  const std::string file = Record("a.fct", {kOfThreads});
  const std::string other = Record("b.fct", {kOfThreads, kOfThreads});
  for (const auto& [command, cost] : std::vector<std::pair<std::string, std::string>>{
           {"add", "6.0 ms"}, {"avg", "6.0 ms"}, {"min", "6.0 ms"}}) {
    const ProcessResult shown = Cli({"tree", command, file, other, "--by", "thread"});
    EXPECT_EQ(shown.exit_status, 0) << shown.errors;
    EXPECT_THAT(shown.output, AllOf(HasSubstr("60.0 %  " + cost + "          [thread app]\n"),
                                    HasSubstr("20.0 %  2.0 ms          [thread app/io]\n")));
  }
  EXPECT_THAT(Cli({"tree", "show", other, "--by", "thread"}).output,
              AllOf(HasSubstr("[thread app/io]"), Not(HasSubstr("app/io 8"))));
  const ProcessResult diff = Cli({"tree", "diff", file, other, "--by", "process", "--all"});
  EXPECT_THAT(diff.output, HasSubstr("[process app]"));
  ASSERT_EQ(Cli({"tree", "add", file, other, "--by", "thread", "-o", Path("sum")}).exit_status, 0);
  EXPECT_THAT(Cli({"tree", "show", Path("sum")}).output, HasSubstr("[thread app/io]"));
}

TEST_F(TreeCommandTest, ExportedThreadsAreTheFirstFramesOfFormatsWithoutThreads) {
  const std::string file = Record("a.fct", {kOfThreads});
  EXPECT_EQ(Cli({"tree", "export", file, "--by", "thread", "--to", "folded"}).output,
            "[several threads];main 1000000\n[thread app 7];main;read 6000000\n"
            "[thread app/io 8];main;read 2000000\n[thread sh 9];main 1000000\n");
  const ProcessResult firefox = Cli({"tree", "export", file, "--by", "thread", "--to", "firefox"});
  EXPECT_THAT(firefox.output, HasSubstr("[thread app/io 8]")) << firefox.errors;
}

TEST_F(TreeCommandTest, ExportedThreadsAreImportedAsThreads) {
  const std::string file = Record("a.fct", {kOfThreads});
  for (const std::string by : {"thread", "process"}) {
    const std::string expected = Cli({"tree", "show", file, "--by", by, "--json"}).output;
    const std::size_t begin = expected.find("\"nodes\"");
    const std::string nodes = expected.substr(begin, expected.find("\"remarks\"") - begin) +
                              "\"remarks\":[\"samples without a time: ";
    for (const std::string format : {"chrome", "speedscope", "pprof"}) {
      const std::string written = Path(format + by);
      const ProcessResult exported =
          Cli({"tree", "export", file, "--by", by, "--to", format, "-o", written});
      ASSERT_EQ(exported.exit_status, 0) << exported.errors;
      ASSERT_EQ(Cli({"tree", "import", written, "-o", written + ".fct"}).exit_status, 0);
      EXPECT_EQ(Cli({"tree", "verify", written + ".fct"}).exit_status, 0);
      for (const std::string& read : {written, written + ".fct"}) {
        EXPECT_THAT(Cli({"tree", "show", read, "--by", by, "--json"}).output, HasSubstr(nodes));
        EXPECT_THAT(Cli({"tree", "show", read}).output, Not(HasSubstr("[thread")));
        for (const ProcessResult& part :
             {Cli({"tree", "show", read + "@0..1s"}), Cli({"tree", "at", read, "--to", "1s"}),
              Cli({"tree", "at", written + ".fct", "--to", "1s", "--method", "mnp"})}) {
          EXPECT_EQ(part.exit_status, kUsage);
          EXPECT_THAT(part.errors, HasSubstr("it has no times: no interval can be selected"));
        }
        EXPECT_THAT(Cli({"tree", "show", read, "--html", "-"}).output, Not(HasSubstr("\"edges\"")));
      }
    }
  }
}

TEST_F(TreeCommandTest, RefusesToDivideTreesWithoutThreads) {
  std::ofstream(Path("stacks")) << "main;read 5\n";
  const ProcessResult folded = Cli({"tree", "show", Path("stacks"), "--by", "thread"});
  EXPECT_EQ(folded.exit_status, kUsage);
  EXPECT_THAT(folded.errors, HasSubstr("stacks (folded) names no threads"));
  ASSERT_EQ(Cli({"tree", "import", Path("stacks"), "-o", Path("tree")}).exit_status, 0);
  EXPECT_THAT(Cli({"tree", "show", Path("tree"), "--by", "process"}).errors,
              HasSubstr("tree: it is a tree without threads"));
  EXPECT_THAT(Cli({"tree", "show", Path("stacks") + "@0..1s"}).errors,
              HasSubstr("stacks (folded) has no times"));
  EXPECT_EQ(Cli({"tree", "show", Path("tree"), "--by", "core"}).exit_status, kUsage);
  const std::string file = Record("a.fct", {kOfThreads});
  EXPECT_THAT(Cli({"tree", "at", file, "--by", "thread", "--method", "mnp"}).errors,
              HasSubstr("--method mnp keeps no threads"));
}

TEST_F(TreeCommandTest, ImportsKeepTheirTimesAndThreads) {
  std::ofstream(Path("events"))
      << "1000 7 enter main\n1100 8 enter work\n1300 8 exit\n1400 7 exit\n";
  ASSERT_EQ(Cli({"tree", "import", Path("events"), "-o", Path("a.fct")}).exit_status, 0);
  EXPECT_EQ(Cli({"tree", "verify", Path("a.fct")}).exit_status, 0);
  for (const std::string& file : {Path("events"), Path("a.fct")}) {
    EXPECT_EQ(Cli({"tree", "show", file + "@50ns..150ns", "--by", "thread"}).output,
              "wall of 1 run: 150 ns a run\n"
              " SHARE    COST    SELF  FUNCTION\n"
              "66.7 %  100 ns          [thread 7]\n"
              "66.7 %  100 ns  100 ns    main\n"
              "33.3 %   50 ns          [thread 8]\n"
              "33.3 %   50 ns   50 ns    work\n");
    EXPECT_THAT(Cli({"tree", "at", file, "--to", "50ns"}).output, HasSubstr("50 ns  main"));
    EXPECT_THAT(Cli({"tree", "show", file, "--html", "-"}).output, HasSubstr("\"edges\""));
  }
}

TEST_F(TreeCommandTest, ShowHasTheMeanOfARun) {
  const std::string file = Record(
      "a.fct", {{{1, "main;z!deflate", 6 * kMs}, {2, "main", 2 * kMs}}, {{1, "main", 4 * kMs}}});
  EXPECT_EQ(Cli({"tree", "show", file}).output,
            "wall of 2 runs: 6.0 ms a run (sampled)\n"
            "  SHARE    COST    SELF  FUNCTION\n"
            "100.0 %  6.0 ms  3.0 ms  main\n"
            " 50.0 %  3.0 ms  3.0 ms    z!deflate\n");
  EXPECT_THAT(Cli({"tree", "show", file, "--flat"}).output, HasSubstr("50.0 %  3.0 ms"));
  EXPECT_THAT(Cli({"tree", "show", file, "--callers", "deflate"}).output,
              HasSubstr("100.0 %  3.0 ms          z!deflate\n100.0 %  3.0 ms  3.0 ms    main\n"));
  EXPECT_THAT(Cli({"tree", "show", file, "--callees", "main"}).output,
              AllOf(HasSubstr("6.0 ms a run, in main and what it calls (sampled)\n"),
                    HasSubstr("100.0 %     6.0 ms  3.0 ms  main\n"
                              " 50.0 %     3.0 ms  3.0 ms    z!deflate\n")));
  EXPECT_THAT(Cli({"tree", "show", file, "--callees", "deflate", "--json"}).output,
              HasSubstr(R"("nodes":[{"parent":0,"self":"0","inclusive":"6000000"},{"parent":0,)"
                        R"("name":"z!deflate",)"));
  EXPECT_EQ(Cli({"tree", "show", file, "--callees", "inflate"}).exit_status, kNotFound);
  EXPECT_THAT(Cli({"tree", "show", file, "--json"}).output,
              HasSubstr(R"("function":"deflate","self":"6000000","inclusive":"6000000")"));
  EXPECT_THAT(Cli({"tree", "show", file, "--csv"}).output, HasSubstr(",z,deflate,"));
  const ProcessResult none = Cli({"tree", "show", file, "--metric", "bytes"});
  EXPECT_EQ(none.exit_status, kNotFound);
  EXPECT_THAT(none.errors, HasSubstr("available: wall"));
}

TEST_F(TreeCommandTest, PartsOfTimeAddUp) {
  const std::string file = Record("a.fct", {{{1 * kSecond, "main;a", 5 * kMs},
                                             {2 * kSecond, "main;b", 7 * kMs},
                                             {3 * kSecond, "main;a", 11 * kMs}},
                                            {{2 * kSecond, "main;c", 13 * kMs}}});
  EXPECT_EQ(Cli({"tree", "at", file, "--from", "0", "--to", "2s", "-o", Path("1.fct")}).exit_status,
            0);
  EXPECT_EQ(Cli({"tree", "at", file, "--from", "2s", "-o", Path("2.fct")}).exit_status, 0);
  EXPECT_THAT(Cli({"tree", "show", Path("1.fct"), "--all"}).output,
              AllOf(HasSubstr("wall of 2 runs: 2.5 ms a run"), Not(HasSubstr("b\n"))));
  const std::string both = Cli({"tree", "add", file + "@..2s", file + "@2s..", "--json"}).output;
  const std::string whole = Cli({"tree", "show", file, "--json"}).output;
  const auto nodes = [](const std::string& json) { return json.substr(json.find("\"nodes\"")); };
  EXPECT_EQ(nodes(both), nodes(whole));
}

TEST_F(TreeCommandTest, TheTimeTreeCountsRecordsAndReportsThatItDoes) {
  std::vector<Sample> samples = {{1, "heavy", 900 * kMs}};
  for (std::uint64_t i = 0; i < 9; ++i) samples.push_back({2 + i, "light", kMs});
  const std::string file = Record("a.fct", {samples});
  const ProcessResult counted =
      Cli({"tree", "at", file, "--from", "0", "--to", "1s", "--method", "mnp"});
  EXPECT_EQ(counted.exit_status, 0) << counted.errors;
  EXPECT_THAT(counted.output, AllOf(HasSubstr("90.0 %"), HasSubstr("light")));
  EXPECT_THAT(counted.errors,
              HasSubstr("each record counts as 1, regardless of its cost: for the cost "
                        "use --method exact"));
  const ProcessResult exact = Cli({"tree", "at", file, "--from", "0", "--to", "1s"});
  EXPECT_THAT(exact.output, AllOf(HasSubstr("99.0 %"), HasSubstr("900 ms")));
  EXPECT_THAT(exact.errors, Not(HasSubstr("each record")));
}

TEST_F(TreeCommandTest, CountsOfTimeHaveAUnit) {
  tree::Dictionary dictionary;
  auto writer = recording::Writer::Create(Path("a.fct"), dictionary, {}).value();
  const auto metric = writer.AddMetric({.name = "wall"}).value();
  const auto stream = writer.AddStream({.name = "all", .metrics = {metric}}).value();
  const std::uint64_t value = kMs;
  EXPECT_TRUE(writer.Append(stream, 1, Intern("main", dictionary), {&value, 1}));
  EXPECT_TRUE(writer.SetCount("idle time, ns", 15'609'726));
  EXPECT_TRUE(writer.SetCount("switches", 45'588));
  EXPECT_TRUE(writer.SetCount("stacks", 425));
  EXPECT_TRUE(writer.SetCount("time in the kernel, ns", 2'000'001));
  EXPECT_TRUE(writer.SetCount("lost records", 1'234));
  EXPECT_TRUE(writer.Close());
  EXPECT_EQ(Cli({"tree", "show", Path("a.fct")}).errors,
            "fieldcost: 15.609726 ms idle in 45,588 switches\n"
            "fieldcost: time in the kernel: 2.000001 ms\n"
            "fieldcost: lost records: 1,234\n");
}

TEST_F(TreeCommandTest, SumsHaveTheSameBytesInAnyOrder) {
  const std::string a = Record("a.fct", {{{1, "main;a", 5}}});
  const std::string b = Record("b.fct", {{{1, "main;b", 7}}, {{1, "main;a", 1}}});
  const std::string c = Record("c.fct", {{{1, "c", 9}}});
  EXPECT_EQ(Cli({"tree", "add", a, b, c, "-o", Path("abc.fct")}).exit_status, 0);
  EXPECT_EQ(Cli({"tree", "add", c, a, "-o", Path("ca.fct")}).exit_status, 0);
  EXPECT_EQ(Cli({"tree", "add", Path("ca.fct"), b, "-o", Path("cab.fct")}).exit_status, 0);
  const auto tree_of = [this](const std::string& name) {
    return std::get<tree::Tree>(LoadTree({.file = Path(name), .interval = {}}).value().tree);
  };
  EXPECT_EQ(tree_of("abc.fct").runs, 4U);
  EXPECT_TRUE(ReadFile(Path("abc.fct"), 1 << 20).value() ==
              ReadFile(Path("cab.fct"), 1 << 20).value());
  EXPECT_EQ(Cli({"tree", "avg", a, b, c, "-o", Path("mean.fct")}).exit_status, 0);
  EXPECT_EQ(Cli({"tree", "show", Path("mean.fct"), "--json"}).output,
            Cli({"tree", "show", Path("abc.fct"), "--json"}).output);
  const ProcessResult mixed = Cli({"tree", "add", a, Path("mean.fct")});
  EXPECT_EQ(mixed.exit_status, kUsage);
  EXPECT_THAT(mixed.errors, HasSubstr("`tree avg` on the runs first"));
}

TEST_F(TreeCommandTest, TheMinimumHasWhatIsInEveryRun) {
  const std::string a = Record("a.fct", {{{1, "main;a", 5}, {2, "noise", 3}}, {{1, "main;a", 4}}});
  const std::string shown = Cli({"tree", "min", a, "--all"}).output;
  EXPECT_THAT(shown, AllOf(HasSubstr("4 ns"), HasSubstr("a\n"), Not(HasSubstr("noise"))));
}

// Ten runs that differ by one percent, with this cost of `slow`.
std::vector<std::vector<Sample>> TenRuns(std::uint64_t slow_ms, std::uint64_t seed) {
  std::vector<std::vector<Sample>> runs;
  for (std::uint64_t run = 0; run < 10; ++run) {
    const std::uint64_t noise = (run * 7 + seed * 3) % 10 * kMs;
    runs.push_back({{1, "main;steady", 1000 * kMs + noise},
                    {2, "main;slow", slow_ms * kMs + noise},
                    {3, "main;other", 500 * kMs + noise / 2}});
  }
  return runs;
}

TEST_F(TreeCommandTest, DiffReportsOnlyWhatCostsMore) {
  const std::string before = Record("old.fct", TenRuns(200, 1));
  const std::string after = Record("new.fct", TenRuns(300, 2));
  const ProcessResult diff = Cli({"tree", "diff", before, after});
  EXPECT_EQ(diff.exit_status, 1) << diff.errors;
  EXPECT_THAT(diff.output, AllOf(HasSubstr("1 path costs more, 0 less (wall, "),
                                 HasSubstr("self  main;slow\n"), HasSubstr("slow  [self 1.")));
  EXPECT_EQ(Cli({"tree", "diff", after, before}).exit_status, 0) << "less is no regression";
  const ProcessResult same = Cli({"tree", "diff", before, before});
  EXPECT_EQ(same.exit_status, 0);
  EXPECT_THAT(same.output, HasSubstr("No significant changes"));
  const ProcessResult json = Cli({"tree", "diff", before, after, "--json"});
  EXPECT_THAT(json.output, HasSubstr(R"("changes":[{"kind":"self","path":["main","slow"],)"));
  EXPECT_THAT(Cli({"tree", "diff", before, after, "--csv"}).output,
              HasSubstr("\nself,\"main;slow\","));
  EXPECT_THAT(Cli({"tree", "diff", before, after, "--svg", "-"}).output, HasSubstr("<svg "));
}

TEST_F(TreeCommandTest, OneRunASideIsTooLittle) {
  const std::string before = Record("old.fct", {{{1, "main;a", 5 * kMs}}});
  const std::string after = Record("new.fct", {{{1, "main;a", 50 * kMs}}});
  const ProcessResult diff = Cli({"tree", "diff", before, after, "-o", Path("d.fct")});
  EXPECT_EQ(diff.exit_status, 2);
  EXPECT_THAT(diff.output, AllOf(HasSubstr("Too little data"), HasSubstr("+45 ms")));
  EXPECT_THAT(Cli({"tree", "show", Path("d.fct")}).output, HasSubstr("+45 ms"));
  EXPECT_EQ(Cli({"tree", "diff", Path("none.fct"), after}).exit_status, kNotFound);
}

TEST_F(TreeCommandTest, DiffFollowsRenamesAndFoldsRecursion) {
  const std::string before =
      Record("old.fct", {{{1, "main;parse_old", 5}, {2, "main;f;f;f;g", 4}}});
  const std::string after = Record("new.fct", {{{1, "main;parse_new", 5}, {2, "main;f;f;g", 4}}});
  const ProcessResult plain = Cli({"tree", "diff", before, after, "--all"});
  EXPECT_THAT(plain.output, AllOf(HasSubstr("gone"), HasSubstr("new")));
  const ProcessResult renamed =
      Cli({"tree", "diff", before, after, "--all", "--rename", "*_old=*_new", "--rename", "x=y"});
  EXPECT_THAT(renamed.output, AllOf(Not(HasSubstr("gone")), HasSubstr("parse_new")));
  EXPECT_THAT(renamed.errors, HasSubstr("--rename x=y matches nothing"));
  EXPECT_EQ(Cli({"tree", "diff", before, after, "--rename", "x"}).exit_status, kUsage);
}

TEST_F(TreeCommandTest, VerifyAndRecoverSaveWhatIsGood) {
  std::vector<Sample> samples;
  for (std::uint64_t i = 0; i < 20'000; ++i) samples.push_back({i * 100'000, "main;a", 1});
  const std::string file = Record("a.fct", {samples});
  const ProcessResult good = Cli({"tree", "verify", file});
  EXPECT_EQ(good.exit_status, 0) << good.errors;
  EXPECT_THAT(good.output, AllOf(HasSubstr("20,000 samples"), HasSubstr("good\n")));
  std::string bytes = Bytes("a.fct");
  bytes[bytes.size() * 2 / 3] ^= 1;
  std::ofstream(Path("bad.fct")) << bytes;
  const ProcessResult bad = Cli({"tree", "verify", Path("bad.fct")});
  EXPECT_EQ(bad.exit_status, kCorrupt);
  EXPECT_THAT(bad.output, HasSubstr("fieldcost tree recover"));
  const ProcessResult saved = Cli({"tree", "recover", Path("bad.fct"), "-o", Path("saved.fct")});
  EXPECT_EQ(saved.exit_status, 0) << saved.errors;
  EXPECT_THAT(saved.output, HasSubstr("lost: "));
  EXPECT_EQ(Cli({"tree", "verify", Path("saved.fct")}).exit_status, 0);
  EXPECT_EQ(Cli({"tree", "show", Path("saved.fct")}).exit_status, 0);
}

TEST_F(TreeCommandTest, FilesOfOtherProgramsAreReadAndWritten) {
  std::ofstream(Path("a.folded")) << "main;run;deflate 12\nmain;run 3\n";
  EXPECT_EQ(Cli({"tree", "import", Path("a.folded"), "-o", Path("a.fct")}).exit_status, 0);
  const std::string nodes = Cli({"tree", "show", Path("a.fct"), "--json"}).output;
  EXPECT_THAT(nodes, HasSubstr(R"("function":"deflate","self":"12")"));
  EXPECT_EQ(Cli({"tree", "show", Path("a.folded"), "--json"}).output, nodes);
  for (const char* format : {"pprof", "speedscope", "chrome", "folded"}) {
    const std::string file = Path(std::string("a.") + format);
    EXPECT_EQ(Cli({"tree", "export", Path("a.fct"), "--to", format, "-o", file}).exit_status, 0);
    EXPECT_THAT(Cli({"tree", "show", file, "--flat", "--json"}).output, HasSubstr("\"12"))
        << format;
  }
  EXPECT_THAT(Cli({"tree", "export", Path("a.fct"), "--to", "folded"}).output,
              AllOf(HasSubstr("main;run 3\n"), HasSubstr("main;run;deflate 12\n")));
  EXPECT_EQ(Cli({"tree", "export", Path("a.fct"), "--to", "perf"}).exit_status, kUsage);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"top", "--table", Path("a.fct")},
                                             {"show", "f", "--table", Path("a.fct")},
                                             {"merge", Path("a.fct"), "-o", Path("b.lab")}}) {
    const ProcessResult wrong = Cli(command);
    EXPECT_EQ(wrong.exit_status, kUsage) << command[0];
    EXPECT_THAT(wrong.errors, HasSubstr("a.fct: it is a recording, not a lab table: `fieldcost "
                                        "tree show "))
        << command[0];
  }
  EXPECT_EQ(Cli({"tree", "diff", Path("a.fct"), Path("a.folded")}).exit_status, 2);
}

TEST_F(TreeCommandTest, RefusesFilesThatAreNotRecordings) {
  std::ofstream(Path("text")) << "no recording";
  for (const char* command : {"show", "verify"}) {
    const ProcessResult result = Cli({"tree", command, Path("text")});
    EXPECT_THAT(result.exit_status, AnyOf(kUsage, kCorrupt)) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("text"));
    EXPECT_EQ(Cli({"tree", command, Path("none")}).exit_status, kNotFound);
  }
  const std::string a = Record("a.fct", {{{1, "main;a", 5}}});
  ASSERT_EQ(Cli({"tree", "add", a, "-o", Path("sum.fct")}).exit_status, 0);
  const ProcessResult timeless = Cli({"tree", "show", Path("sum.fct") + "@1s..2s"});
  EXPECT_EQ(timeless.exit_status, kUsage);
  EXPECT_THAT(timeless.errors, HasSubstr("a tree without time"));
}

}  // namespace
}  // namespace fieldcost::cli
