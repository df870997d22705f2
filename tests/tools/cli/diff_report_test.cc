// `fieldcost diff` and `fieldcost report vendor` against the synthetic fleet, whose changes between
// versions are known: real store, publication, server, sync and programs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "common/base/file.h"
#include "common/draw/terminal.h"
#include "tests/support/demo_catalog.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

constexpr std::size_t kMaxPageBytes = 16 << 20;

class DiffReportTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = new testing::TempDir;
    demo_ = new testing::DemoCatalog(directory_->path(), {.agents = 120});
  }
  static void TearDownTestSuite() {
    delete demo_;
    delete directory_;
  }
  void SetUp() override { ASSERT_THAT(demo_->error(), IsEmpty()); }

  static ProcessResult Cli(std::vector<std::string> arguments) {
    return demo_->Fieldcost(std::move(arguments));
  }

  // The output of a Python script of the tests, given `input`.
  static std::string Python(std::vector<std::string> script, const std::string& input) {
    script.insert(script.begin(), "python3");
    const ProcessResult result =
        testing::RunProcess({.arguments = std::move(script), .input = input});
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result.output;
  }

  static std::string Unlike(const std::string& document, std::vector<std::string> which) {
    which.insert(which.begin(),
                 {FIELDCOST_CLI_TEST_DIR "/check_planted.py", demo_->planted().string()});
    return Python(std::move(which), document);
  }

  static testing::TempDir* directory_;
  static testing::DemoCatalog* demo_;
};

testing::TempDir* DiffReportTest::directory_ = nullptr;
testing::DemoCatalog* DiffReportTest::demo_ = nullptr;

// Runs commands on a terminal with 80 columns, without a pager.
TEST_F(DiffReportTest, NoCommandsOutputIsWiderThanTheTerminal) {
  using Line = std::vector<std::string>;
  for (const Line& line : {Line{"top"},
                           {"top", "--versions", "--limit", "0"},
                           {"search", "i"},
                           {"show", "inflate"},
                           {"show", "inflate", "--all"},
                           {"show", "Json::Reader::parse"},
                           {"hist", "deflate"},
                           {"spectrum", "inflate", "deflate", "crc32"},
                           {"spectrum", "--library", "libjsoncpp"},
                           {"diff", "sqlite"},
                           {"diff", "libjsoncpp", "--all"},
                           {"report", "vendor", "--library", "libz"},
                           {"check", "--profile", demo_->profile().string()},
                           {"check", "--profile", demo_->profile().string(), "--all"},
                           {"agent", "status"},
                           {"agent", "log"},
                           {"agent", "preview"},
                           {"agent", "explain", "/bin/true"},
                           {"sync"},
                           {"top", "--local"},
                           {"--help"},
                           {"run", "--help"},
                           {"show", "--help"}}) {
    for (const std::size_t columns : {80U, 120U}) {
      Line command = {"python3", FIELDCOST_CLI_TEST_DIR "/in_terminal.py", "50",
                      std::to_string(columns), FIELDCOST_PROGRAM};
      command.insert(command.end(), line.begin(), line.end());
      const ProcessResult shown =
          testing::RunProcess({.arguments = command,
                               .environment = {{"FIELDCOST_HOME", demo_->home().string()},
                                               {"LC_ALL", "C.UTF-8"},
                                               {"TERM", "xterm"},
                                               {"PAGER", "cat"}},
                               .unset = {"NO_COLOR", "FIELDCOST_PAGER", "LD_PRELOAD"}});
      EXPECT_THAT(shown.output, Not(IsEmpty()));
      std::istringstream lines(shown.output);
      for (std::string text; std::getline(lines, text);) {
        EXPECT_LE(draw::PlainWidth(text), columns) << ::testing::PrintToString(line) << "\n"
                                                   << text;
      }
    }
  }
}

TEST_F(DiffReportTest, DiffFindsThePlantedChangesAndNothingElse) {
  struct Step {
    const char* library;
    const char* before;
    const char* after;
  };
  for (const Step& step : {Step{"libsqlite3.so.0", "3.44.2+synthetic", "3.45.3+synthetic"},
                           {"libsqlite3.so.0", "3.45.3+synthetic", "3.46.1+synthetic"},
                           {"libz.so.1", "1.2.13+synthetic", "1.3.0+synthetic"},
                           {"libz.so.1", "1.3.0+synthetic", "1.3.1+synthetic"},
                           {"libjsoncpp.so.25", "1.9.4+synthetic", "1.9.5+synthetic"},
                           {"libjsoncpp.so.25", "1.9.5+synthetic", "1.9.6+synthetic"}}) {
    const ProcessResult result = Cli({"diff", step.library, step.before, step.after, "--json"});
    EXPECT_EQ(result.exit_status, 1) << result.errors;
    EXPECT_THAT(Unlike(result.output, {step.library, step.before, step.after}), IsEmpty());
  }
}

TEST_F(DiffReportTest, TheVendorReportFindsTheNewestChangesAndNothingElse) {
  const ProcessResult result = Cli({"report", "vendor", "--library", "*", "--json"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(Unlike(result.output, {"newest"}), IsEmpty());
}

TEST_F(DiffReportTest, DiffIsATableForPeople) {
  const ProcessResult result = Cli({"diff", "sqlite3"});  // the two newest versions
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output,
              AllOf(StartsWith("libsqlite3.so.0: 3.45.3+synthetic"),
                    HasSubstr("slower  sqlite3_step "), HasSubstr("faster  sqlite3_exec "),
                    HasSubstr("no change shown: "), HasSubstr("SYNTHETIC")));
  EXPECT_THAT(result.output, Not(HasSubstr("sqlite3_errmsg")));
  EXPECT_THAT(Cli({"diff", "sqlite3", "--all"}).output, HasSubstr("sqlite3_errmsg"));
  const ProcessResult calm = Cli({"diff", "sqlite3", "--api", "sqlite3_bind_*"});
  EXPECT_EQ(calm.exit_status, 0);
  EXPECT_THAT(calm.output, HasSubstr("no significant changes"));
  // In reverse order, slower becomes faster.
  EXPECT_THAT(Cli({"diff", "sqlite3", "3.46", "3.45"}).output, HasSubstr("faster  sqlite3_step "));
}

TEST_F(DiffReportTest, DiffIsCsvToo) {
  const ProcessResult result = Cli({"diff", "libz.so.1", "--csv", "--metric", "wall_time"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output,
              AllOf(StartsWith("library,before,after,symbol,"), HasSubstr(",slower,"),
                    HasSubstr("libz.so.1,1.3.0+synthetic,1.3.1+synthetic,deflateInit_,"),
                    Not(HasSubstr("alloc_inclusive"))));
}

TEST_F(DiffReportTest, NamesThatMeanNothingOrSeveralAreAnsweredWithCandidates) {
  const auto expect = [](std::vector<std::string> arguments, int status, const char* said) {
    const ProcessResult result = Cli(std::move(arguments));
    EXPECT_EQ(result.exit_status, status) << result.output;
    EXPECT_THAT(result.errors, HasSubstr(said));
  };
  expect({"diff", "lib"}, 64, "choose one: libjsoncpp.so.25, libsqlite3.so.0, libz.so.1");
  expect({"report", "vendor", "--library", "libz.so.1", "--html", "x.pdf"}, 64,
         "write a page (--html x.html)");
  expect({"diff", "libsqlite3.so.1"}, 66, "did you mean libsqlite3.so.0?");
  expect({"diff", "nonsense\x1b[31m"}, 66, "available: libjsoncpp.so.25,");
  expect({"diff", "libz.so.1", "9"}, 66, "available: 1.2.13+synthetic, 1.3.0+synthetic,");
  expect({"diff", "libz.so.1", "1.3"}, 64, "choose one: 1.3.0+synthetic, 1.3.1+synthetic");
  expect({"diff", "libz.so.1", "1.3.1"}, 64, "cannot be compared with itself");
  expect({"report", "vendor", "--library", "nonsense"}, 66, "no library");
  expect({"report", "vendor", "--library", "libz.so.1", "--baseline", "9"}, 66, "no version 9");
  expect({"report", "vendor", "--library", "libz.so.1", "--baseline", "1.3.1"}, 64, "newest");
  expect({"report", "vendor", "--library", "*", "--baseline", "9"}, 66, "an older version 9");
  expect({"report", "vendor", "--library", "*", "--csv", "--html", "a.html"}, 64,
         "--csv cannot be combined with --html");
  expect({"report", "vendor", "--library", "*", "--by", "header"}, 64, "--headers need each other");
  expect({"report", "vendor", "--library", "*", "--headers", "/usr/include"}, 64,
         "need each other");
  expect({"report", "vendor", "--library", "*", "--by", "header", "--headers", "/no/such"}, 66,
         "/no/such does not exist");
  expect({"report", "vendor", "--library", "*", "--groups"}, 64, "--groups requires --csv");
  expect({"report"}, 64, "report needs one of: vendor");
}

TEST_F(DiffReportTest, ThePageIsWholeAndTheSameEveryTime) {
  const std::string file = (directory_->path() / "report.html").string();
  const ProcessResult written =
      Cli({"report", "vendor", "--library", "*", "--by", "both", "--html", file});
  EXPECT_EQ(written.exit_status, 0) << written.errors;
  const auto page = ReadFile(file, kMaxPageBytes);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(Python({FIELDCOST_REPORT_TEST_DIR "/check_page.py"}, *page), IsEmpty());
  EXPECT_THAT(*page, AllOf(HasSubstr("SYNTHETIC"), HasSubstr("Json::Reader::parse("),
                           HasSubstr("libjsoncpp.so.25, Json::Reader"),
                           HasSubstr("libsqlite3.so.0, sqlite3_")));
  const ProcessResult again =
      Cli({"report", "vendor", "--library", "*", "--by", "both", "--html", "-"});
  EXPECT_EQ(again.output, *page);
}

TEST_F(DiffReportTest, DiffIsAPageToo) {
  const std::string file = (directory_->path() / "changes.html").string();
  const ProcessResult written = Cli({"diff", "sqlite3", "--html", file});
  EXPECT_EQ(written.exit_status, 1) << written.errors;
  EXPECT_EQ(written.output, "");
  const auto page = ReadFile(file, kMaxPageBytes);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_THAT(Python({FIELDCOST_REPORT_TEST_DIR "/check_page.py"}, *page), IsEmpty());
  EXPECT_THAT(*page, AllOf(HasSubstr("SYNTHETIC"), HasSubstr("; most: sqlite3_step, "),
                           HasSubstr(" × slower"), Not(HasSubstr("sqlite3_errmsg"))));
  EXPECT_EQ(Cli({"diff", "sqlite3", "--html", "-"}).output, *page);
  EXPECT_THAT(Cli({"diff", "sqlite3", "--html", "-", "--all"}).output, HasSubstr("sqlite3_errmsg"));
  const ProcessResult both = Cli({"diff", "sqlite3", "--html", "-", "--csv"});
  EXPECT_EQ(both.exit_status, 64);
  EXPECT_THAT(both.errors, HasSubstr("--csv cannot be combined with --html"));
}

TEST_F(DiffReportTest, ShowIsAPageOfAllVersionsToo) {
  const ProcessResult shown = Cli({"show", "sqlite3_step", "--html", "-"});
  EXPECT_EQ(shown.exit_status, 0) << shown.errors;
  EXPECT_THAT(Python({FIELDCOST_REPORT_TEST_DIR "/check_page.py"}, shown.output), IsEmpty());
  EXPECT_THAT(shown.output,
              AllOf(HasSubstr("<h1>Cost of sqlite3_step</h1>"), HasSubstr("<title>3.46"),
                    HasSubstr("<title>3.45"), HasSubstr("SYNTHETIC")));
  EXPECT_EQ(Cli({"show", "sqlite3_step", "--html", "-", "--json"}).exit_status, 64);
  EXPECT_EQ(Cli({"show", "sqlite3_stepp", "--html", "-"}).exit_status, 66);
  const ProcessResult nowhere = Cli({"show", "sqlite3_step", "--html", "/no/such/place/x.html"});
  EXPECT_NE(nowhere.exit_status, 0);
  EXPECT_THAT(nowhere.errors, HasSubstr("/no/such/place"));
}

TEST_F(DiffReportTest, TheReportIsTextAndCsvToo) {
  const ProcessResult text =
      Cli({"report", "vendor", "--library", "libz.so.1", "--baseline", "1.2.13"});
  EXPECT_EQ(text.exit_status, 0) << text.errors;
  EXPECT_THAT(text.output, AllOf(HasSubstr("1.2.13+synthetic"), HasSubstr("candidates"),
                                 HasSubstr("slower"), HasSubstr("SYNTHETIC")));
  const ProcessResult csv = Cli({"report", "vendor", "--library", "libz.so.1", "--csv"});
  EXPECT_EQ(csv.exit_status, 0) << csv.errors;
  EXPECT_THAT(csv.output, StartsWith("library,symbol,symbol_version,name,namespace,"));
  EXPECT_EQ(std::ranges::count(csv.output, '\n'), 1 + 12);
}

// Adds up the exact buckets of each group's APIs, and compares them with the group's.
constexpr char kCompareGroups[] = R"(
import collections, json, sys
report = json.load(sys.stdin)
apis = collections.defaultdict(list)
def add(time, counter):
    for bucket in time['all_calls']['buckets']:
        for part in ('count', 'sum', 'sum_of_squares'):
            counter[bucket['min'], part] += int(bucket[part])
for api in report['apis']:
    apis[api['group']].append(api['newest'])
exact = 0
for group in report['groups']:
    name, time, members = group['group'], group['time'], apis.pop(group['group'])
    assert group['apis'] == group['timed_apis'] == len(members), name
    assert time['p50']['estimate'] > 0 and time['buckets'], name
    assert time['few_machines'] == any(api['few_machines'] for api in members), name
    assert (time['all_calls'] is None) == any(api['all_calls'] is None for api in members), name
    if time['all_calls'] is None: continue
    expected, found = collections.Counter(), collections.Counter()
    for api in members: add(api, expected)
    add(time, found)
    assert found == expected, name
    exact += 1
assert exact and not apis, apis
print(report['by'], ' '.join(sorted(group['group'] for group in report['groups'])), end='')
)";

TEST_F(DiffReportTest, GroupsAreExactlyTheSumsOfTheirFunctions) {
  const auto groups = [&](std::vector<std::string> how) {
    how.insert(how.begin(), {"report", "vendor", "--library", "*", "--json"});
    const ProcessResult result = Cli(how);
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return Python({"-c", kCompareGroups}, result.output);
  };
  EXPECT_EQ(groups({}), "module libjsoncpp.so.25 libsqlite3.so.0 libz.so.1");
  EXPECT_THAT(groups({"--by", "namespace"}), HasSubstr(" Json::Reader "));
  EXPECT_THAT(groups({"--by", "both"}), HasSubstr("libjsoncpp.so.25, Json::Reader"));
  EXPECT_THAT(groups({"--by", "prefix"}),
              AllOf(HasSubstr(" deflate inflate sqlite3_"), HasSubstr("Json::Reader")));
  EXPECT_EQ(groups({"--by", "header", "--headers", "/usr/include/zlib.h"}),
            "header (header not known) zlib.h");
}

TEST_F(DiffReportTest, GroupsAreCsvAndAPageToo) {
  const ProcessResult csv =
      Cli({"report", "vendor", "--library", "libz.so.1", "--by", "prefix", "--csv", "--groups"});
  EXPECT_EQ(csv.exit_status, 0) << csv.errors;
  EXPECT_THAT(csv.output, AllOf(StartsWith("group,library,apis,timed_apis,calls,total_ns,"),
                                HasSubstr("\ndeflate,,3,3,"), HasSubstr("\ninflate,,4,4,")));
  const ProcessResult page =
      Cli({"report", "vendor", "--library", "libz.so.1", "--by", "prefix", "--html", "-"});
  EXPECT_THAT(Python({FIELDCOST_REPORT_TEST_DIR "/check_page.py"}, page.output), IsEmpty());
  EXPECT_THAT(page.output, AllOf(HasSubstr("Histogram of deflate, "), HasSubstr("group deflate<")));
}

}  // namespace
}  // namespace fieldcost::cli
