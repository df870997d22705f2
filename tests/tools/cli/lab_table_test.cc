// Commands that read lab tables: merge, and the reading commands with --table.
#include <sstream>

#include "common/base/file.h"
#include "common/draw/terminal.h"
#include "tests/common/wire/lab_samples.h"
#include "tests/tools/cli/catalog_fixture.h"
#include "tools/analysis/waiting.h"
#include "tools/report/lab/lab_export.h"
#include "tools/report/lab/lab_page.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

constexpr int kUsage = 64;
constexpr int kCorrupt = 65;
constexpr int kNotFound = 66;

class LabTableTest : public CatalogCliTest {
 protected:
  void SetUp() override { std::filesystem::create_directories(home()); }

  std::string Path(const std::string& name) const { return (home() / name).string(); }

  std::string Write(const std::string& name, const wire::LabTable& table) {
    const auto bytes = wire::EncodeLabTable(table);
    EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
    EXPECT_TRUE(WriteFileAtomically(Path(name), *bytes, 0600).has_value());
    return Path(name);
  }

  static std::string Bytes(const std::string& path) {
    return ReadFile(path, std::size_t{1} << 20).value_or("");
  }

  static std::string Json(const std::string& document, const std::string& expression) {
    const ProcessResult result = testing::RunProcess(
        {.arguments = {"python3", "-c",
                       "import json,sys; d=json.load(sys.stdin); print(" + expression + ",end='')"},
         .input = document});
    EXPECT_EQ(result.exit_status, 0) << result.errors << document;
    return result.output;
  }
};

TEST_F(LabTableTest, MergeAddsUpInAnyOrder) {
  const std::string a = Write("a.lab", wire::RandomLabTable(1));
  const std::string b = Write("b.lab", wire::RandomLabTable(2));
  const std::string c = Write("c.lab", wire::SampleLabTable());
  const ProcessResult merged = Cli({"merge", "-o", Path("all.lab"), a, b, c});
  EXPECT_EQ(merged.exit_status, 0) << merged.errors;
  EXPECT_THAT(merged.output, AllOf(HasSubstr("3 measurements, "), HasSubstr("all.lab\n")));
  const std::vector<wire::LabTable> tables = {wire::RandomLabTable(1), wire::RandomLabTable(2),
                                              wire::SampleLabTable()};
  const wire::LabTable sum = wire::MergeLabTables(tables).value();
  EXPECT_EQ(Bytes(Path("all.lab")), wire::EncodeLabTable(sum).value());
  // A sum is a table, too, and may overwrite one of its parts.
  EXPECT_EQ(Cli({"merge", c, b, "--output", Path("some.lab")}).exit_status, 0);
  EXPECT_EQ(Cli({"merge", "-o", Path("some.lab"), Path("some.lab"), a}).exit_status, 0);
  EXPECT_EQ(Bytes(Path("some.lab")), Bytes(Path("all.lab")));
  // Only the user can read it.
  EXPECT_EQ(std::filesystem::status(Path("all.lab")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(LabTableTest, MergeReportsTheContentOfTheSum) {
  const std::string a = Write("a.lab", wire::SampleLabTable());
  const ProcessResult one = Cli({"merge", "-o", Path("one.lab"), a});
  EXPECT_EQ(one.output, "1 measurement, 3 APIs, 7 calls in " + Path("one.lab") + "\n");
  const std::string json = Cli({"merge", "-o", Path("one.lab"), a, "--json"}).output;
  EXPECT_EQ(Json(json, "d['file'], d['api_count'], d['calls'], len(d['parts'])"),
            Path("one.lab") + " 3 7 1");
  EXPECT_EQ(Json(json, "d['parts'][0]['name'], d['parts'][0]['runs'], d['parts'][0]['seed']"),
            "sqlite3 :memory: 11 7");
  EXPECT_EQ(Json(json, "d['parts'][0]['started'], d['parts'][0]['content_hash']"),
            "2026-01-01 00:00 UTC " + wire::SampleLabTable().parts[0].content_hash);
}

TEST_F(LabTableTest, MergeExportsTheStacksOfTheSum) {
  const std::string a = Write("a.lab", wire::SampleLabTable());
  const std::string b = Write("b.lab", wire::ShapesLabTable());
  const ProcessResult merged = Cli({"merge", "-o", Path("all.lab"), a, b, "--export-pprof",
                                    Path("all.pb.gz"), "--export-folded", Path("all.folded")});
  EXPECT_EQ(merged.exit_status, 0) << merged.errors;
  const wire::LabTable sum =
      wire::MergeLabTables(std::vector{wire::SampleLabTable(), wire::ShapesLabTable()}).value();
  EXPECT_EQ(Bytes(Path("all.folded")), report::LabFolded(sum));
  EXPECT_EQ(Bytes(Path("all.pb.gz")), report::LabPprof(sum).value());
  EXPECT_THAT(Bytes(Path("all.folded")), HasSubstr("libsqlite3.so.0!own;"));
  EXPECT_NE(Cli({"merge", "-o", Path("x.lab"), a, "--export-folded", Path("none/x")}).exit_status,
            0);
}

TEST_F(LabTableTest, MergeRefusesDuplicatesAndFilesThatAreNotTables) {
  const std::string a = Write("a.lab", wire::SampleLabTable());
  const std::string b = Write("b.lab", wire::RandomLabTable(2));
  ASSERT_EQ(Cli({"merge", "-o", Path("all.lab"), a, b}).exit_status, 0);
  const std::string before = Bytes(Path("all.lab"));
  const ProcessResult twice = Cli({"merge", "-o", Path("all.lab"), Path("all.lab"), a});
  EXPECT_EQ(twice.exit_status, kUsage);
  EXPECT_THAT(twice.errors, HasSubstr("measurement sqlite3 :memory: ("));
  EXPECT_EQ(Bytes(Path("all.lab")), before);
  EXPECT_EQ(Cli({"merge", "-o", Path("x.lab"), a, a}).exit_status, kUsage);
  ASSERT_TRUE(WriteFileAtomically(Path("bad.lab"), before.substr(0, 40), 0600).has_value());
  const ProcessResult bad = Cli({"merge", "-o", Path("x.lab"), a, Path("bad.lab")});
  EXPECT_EQ(bad.exit_status, kCorrupt);
  EXPECT_THAT(bad.errors, HasSubstr("bad.lab"));
  EXPECT_EQ(Cli({"merge", "-o", Path("x.lab"), Path("none.lab")}).exit_status, kNotFound);
  EXPECT_EQ(Cli({"merge", a, b}).exit_status, kUsage);
  EXPECT_EQ(Cli({"merge", "-o", Path("x.lab")}).exit_status, kUsage);
  EXPECT_EQ(Cli({"merge", "-o", Path("x.lab"), a, "--csv"}).exit_status, kUsage);
  EXPECT_FALSE(std::filesystem::exists(Path("x.lab")));
}

class ReadTableTest : public LabTableTest {
 protected:
  void SetUp() override {
    LabTableTest::SetUp();
    table_ = Write("t.lab", wire::ShapesLabTable());
  }
  std::string table_;
};

TEST_F(ReadTableTest, VendorReportCoversRuns) {
  const std::vector<std::string> report = {"report", "vendor",  "--library",
                                           "lib*",   "--table", table_};
  const ProcessResult text = Cli(report);
  EXPECT_EQ(text.exit_status, 0) << text.errors;
  EXPECT_THAT(text.output, AllOf(HasSubstr("RUNS"), Not(HasSubstr("CONTRIB")),
                                 Not(HasSubstr("field")), HasSubstr(" runs of ")));
  const auto as = [&](const std::string& format) {
    std::vector<std::string> arguments = report;
    arguments.push_back("--" + format);
    if (format == "html") arguments.push_back("-");
    return Cli(arguments).output;
  };
  EXPECT_THAT(as("html"), AllOf(HasSubstr("<h1>Costs of "), HasSubstr(">Runs<"),
                                HasSubstr("waiting is not a cost: poll<"),
                                Not(HasSubstr("olunteers")), Not(HasSubstr("ontribution"))));
  EXPECT_THAT(as("csv"), HasSubstr(",table,"));
  // Each API once, with all its calls.
  std::map<std::string, std::uint64_t> calls;
  for (const stats::StatRow& row : wire::ShapesLabTable().rows) {
    const stats::ApiKey& api = row.key.api;
    if (row.key.metric == stats::Metric::kCallsPerRun && api.soname.starts_with("lib") &&
        !analysis::IsWaiting(api)) {
      calls[api.symbol] += static_cast<std::uint64_t>(row.histogram.sum());
    }
  }
  ASSERT_FALSE(calls.empty());
  std::string expected = "table None";
  for (const auto& [symbol, count] : calls) expected += fmt::format(" {}={}", symbol, count);
  EXPECT_EQ(Json(as("json"),
                 "' '.join([d['source'], str(d['freshness'])] + sorted("
                 "a['symbol'] + '=' + str(a['calls']) for a in d['apis']))"),
            expected);
  EXPECT_EQ(Cli({"report", "vendor", "--library", "libnone.so", "--table", table_}).exit_status,
            kNotFound);
}

TEST_F(LabTableTest, VendorReportGroupsByHeaderAndStatesUnknownTimes) {
  const std::string table =
      Write("t.lab", wire::LabTableBuilder()
                         .Run("sqlite3_step", {100, 120, 300})
                         .Run("sqlite3_exec", {110})
                         .Row("sqlite3_free", stats::Metric::kCallsPerRun, {7})
                         .Table());
  std::filesystem::create_directory(home() / "include");
  ASSERT_TRUE(WriteFileAtomically(home() / "include/\x1b[31m.h",
                                  "int sqlite3_step(int);\nint sqlite3_exec(int);\n", 0600));
  const auto report = [&](const char* format) {
    const ProcessResult result =
        Cli({"report", "vendor", "--library", "libsqlite3", "--table", table, "--by", "header",
             "--headers", Path("include"), format});
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result.output;
  };
  EXPECT_EQ(Json(report("--json"),
                 "sorted((g['group'], [(b['min'], b['count']) for b in g['time']['all_calls']"
                 "['buckets']] if g['time'] else None) for g in d['groups'])"),
            R"([('\x1b[31m.h', [('64', 3), ('256', 1)]), ('(header not known)', None)])");
  EXPECT_THAT(report("--color=never"), AllOf(HasSubstr("\\x1b[31m.h"), Not(HasSubstr("\x1b["))));
}

TEST_F(ReadTableTest, ViewMakesItsPage) {
  const ProcessResult view = Cli({"agent", "view", "--table", table_});
  EXPECT_EQ(view.exit_status, 0) << view.errors;
  EXPECT_THAT(view.output, HasSubstr("t.lab.html"));
  const std::string page = Bytes(table_ + ".html");
  EXPECT_EQ(page, report::LabPage(report::LabPageContentOf(wire::ShapesLabTable())));
  EXPECT_EQ(Cli({"agent", "view", "--table", table_, "--output", "-"}).output, page);
  EXPECT_EQ(Cli({"agent", "view", "--table", Path("none.lab")}).exit_status, kNotFound);
}

TEST_F(ReadTableTest, TopShowsWhatOnlyTheLabKnows) {
  const ProcessResult top = Cli({"top", "--table", table_});
  EXPECT_EQ(top.exit_status, 0) << top.errors;
  EXPECT_THAT(top.output,
              AllOf(StartsWith(" TOTAL   SHARE  API"), HasSubstr("RUN±"),
                    HasSubstr("grows with argument 3"), HasSubstr("Json::Reader::parse"),
                    HasSubstr("never_timed"),
                    HasSubstr("(waiting: 1 function set apart, since waiting is not a cost: poll"),
                    HasSubstr("(11 runs of sqlite3 :memory:, 1 left out; TOTAL: ")));
  EXPECT_THAT(Cli({"top", "--table", table_, "--waiting", "--sort", "p50"}).output,
              HasSubstr(" %  poll "));
  const std::string few = Cli({"top", "--table", table_, "--limit", "2"}).output;
  EXPECT_THAT(few, AllOf(HasSubstr("(2 of 9 APIs; more: --limit)"), Not(HasSubstr("never_timed"))));
  EXPECT_EQ(Cli({"top", "--table", table_, "--library", "libz"}).exit_status, kNotFound);
  EXPECT_EQ(Cli({"top", "--table", table_, "--library", "sqlite3"}).exit_status, 0);
  EXPECT_EQ(Cli({"top", "--table", table_, "--local"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"top", "--table", table_, "--versions"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"top", "--table", Path("none.lab")}).exit_status, kNotFound);
}

TEST_F(ReadTableTest, JsonAndCsvHaveStableNames) {
  const std::string json = Cli({"top", "--table", table_, "--json", "--sort", "calls"}).output;
  EXPECT_EQ(Json(json, "d['source'], len(d['parts']), len(d['rows'])"), "table 1 9");
  const std::string row = "next(r for r in d['rows'] if r['symbol']=='grows')";
  EXPECT_EQ(Json(json, row + "['calls'], " + row + "['runs'], " + row + "['own']"), "200 5 False");
  EXPECT_EQ(Json(json, row + "['shape']['name'], " + row + "['shape']['growth']['argument']"),
            "grows 3");
  EXPECT_EQ(Json(json, "len(" + row + "['shape']['growth']['points'])"), "11");
  EXPECT_EQ(Json(json, row + "['metrics']['wall_time']['count']"), "1000");
  EXPECT_EQ(Json(json, "[r['total_ns'] for r in d['rows'] if r['symbol']=='never_timed']"),
            "[None]");
  const std::string csv = Cli({"top", "--table", table_, "--csv"}).output;
  EXPECT_THAT(csv, StartsWith("api,library,symbol,name,version,build_id,symbol_version,own,calls,"
                              "timed,runs,total_ns,mean,p50,"));
  EXPECT_THAT(csv, HasSubstr(",run_spread,alloc_per_call,shape,sentence,start_up_ratio,"));
}

TEST_F(ReadTableTest, ShowHasTheShapeWithItsEvidence) {
  const ProcessResult show = Cli({"show", "grows", "--table", table_});
  EXPECT_EQ(show.exit_status, 0) << show.errors;
  EXPECT_THAT(show.output, AllOf(StartsWith("libsqlite3.so.0!grows"), HasSubstr("n 1,000"),
                                 HasSubstr("  shape: grows with argument 3, ~n^"),
                                 HasSubstr("explains "), HasSubstr("16,384–32,767")));
  EXPECT_THAT(Cli({"show", "Reader::parse", "--table", table_}).output,
              HasSubstr("  shape: too few calls\n"));
  const std::string json = Cli({"show", "bimodal", "--table", table_, "--json"}).output;
  EXPECT_EQ(Json(json, "len(d['rows']), d['rows'][0]['shape']['peaks']['dear']['calls']"), "1 200");
  EXPECT_EQ(Cli({"show", "grow", "--table", table_}).exit_status, kNotFound);
}

TEST_F(ReadTableTest, APageHasTheWholeTableOrOneApi) {
  const ProcessResult all = Cli({"show", "--table", table_, "--html", Path("all.html")});
  EXPECT_EQ(all.exit_status, 0) << all.errors;
  EXPECT_THAT(Bytes(Path("all.html")),
              AllOf(StartsWith("<!doctype html>"), HasSubstr("grows with argument 3"),
                    HasSubstr("bimodal, "), HasSubstr("On one stack")));
  EXPECT_EQ(std::filesystem::status(Path("all.html")).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const std::string one = Cli({"show", "grows", "--table", table_, "--html", "-"}).output;
  EXPECT_THAT(one, AllOf(HasSubstr("grows with argument 3"), Not(HasSubstr("bimodal, "))));
  EXPECT_EQ(Cli({"show", "--table", table_}).exit_status, kUsage);
  EXPECT_EQ(Cli({"show", "--html", "-"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"show", "nosuch", "--table", table_, "--html", "-"}).exit_status, kNotFound);
}

TEST_F(ReadTableTest, HistSpectrumAndSearchReadItAsTheyReadLocalRows) {
  EXPECT_THAT(Cli({"hist", "bimodal", "--table", table_}).output, HasSubstr("4.1 µs – 8.2 µs"));
  const std::string json = Cli({"hist", "bimodal", "--table", table_, "--json"}).output;
  EXPECT_EQ(Json(json, "d['source'], list(d['rows'][0]['metrics'])"), "table ['wall_time']");
  EXPECT_THAT(Cli({"spectrum", "grows", "heavy", "--table", table_}).output,
              AllOf(HasSubstr("grows"), HasSubstr("heavy"), HasSubstr("cheap ")));
  EXPECT_THAT(Cli({"search", "READER", "--table", table_}).output, HasSubstr("Json::Reader"));
  EXPECT_THAT(Cli({"search", "grows", "--table", table_, "--csv"}).output, HasSubstr(",table,"));
  EXPECT_EQ(Cli({"search", "grows", "--table", table_, "--local"}).exit_status, kUsage);
}

TEST_F(ReadTableTest, NoLineIsWiderThanTheTerminal) {
  using Line = std::vector<std::string>;
  for (const Line& line : {Line{"top", "--table", table_},
                           {"top", "--table", table_, "--limit", "0", "--waiting"},
                           {"show", "grows", "--table", table_},
                           {"show", "start_up", "--table", table_, "--all"},
                           {"spectrum", "grows", "heavy", "--table", table_},
                           {"search", "a", "--table", table_},
                           {"diff", table_, table_, "--all"},
                           {"merge", "--help"}}) {
    for (const std::size_t columns : {80U, 120U}) {
      Line command = {"python3", FIELDCOST_CLI_TEST_DIR "/in_terminal.py", "50",
                      std::to_string(columns), FIELDCOST_PROGRAM};
      command.insert(command.end(), line.begin(), line.end());
      const ProcessResult shown = Start(command, {{"TERM", "xterm"}, {"PAGER", "cat"}});
      EXPECT_THAT(shown.output, Not(IsEmpty()));
      std::istringstream lines(shown.output);
      for (std::string text; std::getline(lines, text);) {
        EXPECT_LE(draw::PlainWidth(text), columns) << line[0] << "\n" << text;
      }
    }
  }
}

// The user's own functions never leave the machine, not even by name.
TEST_F(ReadTableTest, CheckTakesItAsAProfileWithoutOwnFunctions) {
  PublishAndSync({testing::MakeRow("libsqlite3.so.0", "grows", 300, 1500),
                  testing::MakeRow("libsqlite3.so.0", "own", 300, 1500)});
  const ProcessResult check = Cli({"check", table_, "--json"});
  EXPECT_EQ(check.exit_status, 2) << check.errors;
  EXPECT_EQ(Json(check.output, "d['profile'], d['hardware']['cpu_family']"), "file GenuineIntel-6");
  EXPECT_THAT(check.output,
              AllOf(HasSubstr("libsqlite3.so.0!grows"), Not(HasSubstr("libsqlite3.so.0!own"))));
  EXPECT_THAT(Cli({"check", table_, "--all"}).output, HasSubstr("Json::Reader::parse"));
  ASSERT_TRUE(WriteFileAtomically(table_, Bytes(table_).substr(0, 100), 0600).has_value());
  EXPECT_EQ(Cli({"check", table_}).exit_status, kCorrupt);
}

TEST_F(ReadTableTest, DiffComparesRuns) {
  const std::string same = Write("same.lab", wire::ShapesLabTable(1, 2));
  const std::string slow = Write("slow.lab", wire::ShapesLabTable(1.5, 3));
  const ProcessResult none = Cli({"diff", table_, same});
  EXPECT_EQ(none.exit_status, 0) << none.errors;
  EXPECT_THAT(none.output, AllOf(StartsWith("No function takes significantly more or less."),
                                 HasSubstr("\n0 changed, ")));
  const ProcessResult slower = Cli({"diff", table_, slow});
  EXPECT_EQ(slower.exit_status, 1);
  EXPECT_THAT(slower.output, AllOf(HasSubstr("slower"), HasSubstr("Json::Reader::parse")));
  EXPECT_EQ(Cli({"diff", slow, table_}).exit_status, 0);
  EXPECT_EQ(Cli({"diff", table_, slow, "--api", "never_timed"}).exit_status, 2);
  const std::string json = Cli({"diff", table_, slow, "--api", "constant", "--json"}).output;
  EXPECT_EQ(Json(json, "len(d['rows']), d['rows'][0]['change'], d['rows'][0]['runs_after']"),
            "1 more 5");
  EXPECT_EQ(Json(json, "d['rows'][0]['test']['ratio_low'] > 1.4"), "True");
  EXPECT_THAT(slower.output, HasSubstr(" is slower: 1.5"));
  EXPECT_EQ(Cli({"diff", table_}).exit_status, kUsage);
  EXPECT_EQ(Cli({"diff", table_, slow, same}).exit_status, kUsage);
  EXPECT_EQ(Cli({"diff", table_, slow, "--html", "-"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"diff", table_, Path("none.lab")}).exit_status, kNotFound);
}

// Each call took the same time, but there are more calls: the output and the status report this.
TEST_F(ReadTableTest, DiffReportsExactCounts) {
  wire::LabTable more = wire::ShapesLabTable(1, 2);
  const auto constant = std::find_if(more.apis.begin(), more.apis.end(),
                                     [](const auto& api) { return api.api.symbol == "constant"; });
  ASSERT_TRUE(constant != more.apis.end() && constant->totals.size() == 1);
  constant->totals[0] = {.metric = stats::Metric::kCallsPerRun, .least = 1061, .most = 1061};
  const std::string file = Write("more.lab", more);
  const ProcessResult diff = Cli({"diff", table_, file});
  EXPECT_EQ(diff.exit_status, 1) << diff.errors;
  EXPECT_THAT(diff.output,
              StartsWith("constant is called more often: 200 → 1,061 calls per run.\n"));
  EXPECT_EQ(Cli({"diff", file, table_}).exit_status, 0);
  EXPECT_EQ(Cli({"diff", table_, file, "--metric", "calls_per_run"}).exit_status, 1);
  EXPECT_EQ(Cli({"diff", table_, file, "--metric", "wall_time"}).exit_status, 0);
  EXPECT_EQ(Cli({"diff", table_, file, "--metric", "disk_read"}).exit_status, 2) << "not measured";
  const std::string json = Cli({"diff", table_, file, "--json"}).output;
  EXPECT_EQ(Json(json,
                 "d['counts']['rows'][0]['symbol'], d['counts']['rows'][0]['before'], "
                 "d['counts']['rows'][0]['after']['most'], d['counts']['runs_after']"),
            "constant {'least': 200, 'most': 200} 1061 6");
  EXPECT_EQ(Json(json, "d['summary'], d['counts']['rows'][0]['regression']"),
            "constant is called more often: 200 -> 1,061 calls per run. True");
  EXPECT_THAT(Cli({"diff", table_, file, "--csv"}).output,
              HasSubstr("constant,,calls_per_run,more,"));
}

}  // namespace
}  // namespace fieldcost::cli
