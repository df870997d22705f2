#include "tests/tools/cli/catalog_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

// hist, spectrum, search, and the defaults of the reading commands.
class ReadCommandsTest : public CatalogCliTest {
 protected:
  static stats::StatRow Newer(stats::StatRow row) {
    row.key.api.package_version = "2.0-1";
    return row;
  }
  // The cell of a column in record `record` of a CSV text.
  std::string Cell(const std::string& csv, int record, const std::string& column) {
    const testing::ProcessResult result = testing::RunProcess(
        {.arguments = {"python3", "-c",
                       "import csv,io,sys; d=sys.stdin.buffer.read().decode();"
                       "r=list(csv.DictReader(io.StringIO(d,newline=''),strict=True));"
                       "print(r[int(sys.argv[1])][sys.argv[2]],end='')",
                       std::to_string(record), column},
         .input = csv});
    EXPECT_EQ(result.exit_status, 0) << result.errors << csv;
    return result.output;
  }
};

TEST_F(ReadCommandsTest, HistShowsOneMetricsHistogramWithItsStrata) {
  PublishAndSync(rows_);
  const ProcessResult result = Cli({"hist", "open_it"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.output,
              StartsWith("liba.so.1!open_it  version 1.2-3  build-id 00ff\n\n"
                         "  wall_time\n"
                         "    n 300, 1 contribution; all classes, all weeks; under low load\n"));
  EXPECT_THAT(result.output, AllOf(HasSubstr("1.0 µs – 2.0 µs  100.0 % |@@@"),
                                   Not(HasSubstr("alloc")), HasSubstr("catalogue: snapshot 1")));
  EXPECT_THAT(Cli({"hist", "open_it", "--metric", "alloc_inclusive"}).output,
              HasSubstr("4 KiB – 8 KiB"));
  const std::string csv = Cli({"hist", "open_it", "--csv"}).output;
  EXPECT_EQ(Cell(csv, 0, "min") + " " + Cell(csv, 0, "max"), "1024 2047");
  EXPECT_EQ(Cell(csv, 0, "count") + " " + Cell(csv, 0, "sum"), "300 450000");
  const std::string json = Cli({"hist", "open_it", "--json"}).output;
  EXPECT_EQ(Json(json, "list(d['rows'][0]['metrics'])"), "['wall_time']\n");
  EXPECT_EQ(Json(json, "d['rows'][0]['metrics']['wall_time']['strata']['classes']"), "[]\n");
}

TEST_F(ReadCommandsTest, SpectraStandBelowEachOtherOnOneScale) {
  PublishAndSync(rows_);
  const ProcessResult result = Cli({"spectrum", "open_it", "libb.so.2!twin"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(
      result.output,
      StartsWith("API      LIBRARY    VERSION    N  CONTRIB     P50     P99  SPECTRUM\n"
                 "open_it  liba.so.1  1.2-3    300        1  1.5 µs  1.5 µs  █\n"
                 "twin     libb.so.2  1.2-3      5        1  7.0 ms       -"
                 "              █\n"
                 "wall_time, all classes, all weeks\n"
                 "cheap 1.0 µs █████████┃███ 8.4 ms expensive; ┃ = 1 ms; height: how many\n"));
  EXPECT_EQ(Cell(Cli({"spectrum", "open_it", "libb.so.2!twin", "--csv"}).output, 1, "symbol"),
            "twin");
}

TEST_F(ReadCommandsTest, ALibrarysSpectraAreThoseOfItsMostExpensive) {
  PublishAndSync(rows_);
  const std::string all = Cli({"spectrum", "--library", "liba*"}).output;
  EXPECT_LT(all.find("open_it"), all.find("twin"));
  EXPECT_THAT(all, Not(HasSubstr("libb")));
  EXPECT_THAT(Cli({"spectrum", "--library", "liba*", "--limit", "1"}).output,
              AllOf(HasSubstr("open_it"), Not(HasSubstr("twin")), HasSubstr("more: --limit")));
  EXPECT_EQ(Cli({"spectrum", "--library", "libnone*"}).exit_status, 66);
  EXPECT_EQ(Cli({"spectrum"}).exit_status, 64);
  EXPECT_EQ(Cli({"spectrum", "open_it", "--library", "liba*"}).exit_status, 64);
}

TEST_F(ReadCommandsTest, SearchFindsPartsOfNamesMostExpensiveFirst) {
  PublishAndSync(rows_);
  const std::string both = Cli({"search", "T"}).output;  // open_it and two twins
  EXPECT_LT(both.find("libb.so.2"), both.find("open_it")) << both;
  EXPECT_LT(both.find("open_it"), both.rfind("twin")) << both;
  EXPECT_THAT(Cli({"search", "TWI"}).output, Not(HasSubstr("open_it")));
  EXPECT_THAT(Cli({"search", "*it"}).output, AllOf(HasSubstr("open_it"), Not(HasSubstr("twin"))));
  EXPECT_THAT(Cli({"search", "twin", "--library", "liba*"}).output, Not(HasSubstr("libb")));
  const std::string named = Cli({"search", "t", "--sort", "name", "--limit", "2"}).output;
  EXPECT_THAT(named, AllOf(HasSubstr("open_it"), HasSubstr("twin     liba.so.1    5 "),
                           Not(HasSubstr("libb")), HasSubstr("(the first 2 names")));
  const std::string csv = Cli({"search", "twin", "--csv"}).output;
  EXPECT_EQ(Cell(csv, 0, "api"), "libb.so.2!twin");
  EXPECT_EQ(Cell(csv, 0, "snapshot"), "1");
  EXPECT_EQ(Json(Cli({"search", "twin", "--json"}).output, "len(d['rows'])"), "2\n");
  const ProcessResult none = Cli({"search", "nothing_like_it"});
  EXPECT_EQ(none.exit_status, 66);
  EXPECT_EQ(none.errors, "fieldcost: no name matches 'nothing_like_it'\n");
}

TEST_F(ReadCommandsTest, AVersionMetricClassOrWeekCanBeChosen) {
  std::vector<stats::StatRow> rows = rows_;
  rows.push_back(Newer(testing::MakeRow("liba.so.1", "open_it", 20, 90)));
  PublishAndSync(rows);
  const std::string both = Cli({"show", "open_it"}).output;
  EXPECT_THAT(both, AllOf(HasSubstr("version 2.0-1"),
                          HasSubstr("2.0-1 is the newest version; other versions"),
                          Not(HasSubstr("alloc_inclusive"))));
  EXPECT_THAT(Cli({"show", "open_it", "--all"}).output,
              AllOf(HasSubstr("version 1.2-3"), HasSubstr("alloc_inclusive")));
  EXPECT_THAT(
      Cli({"show", "open_it", "--of-version", "2*"}).output,
      AllOf(HasSubstr("n 20, 1 contribution; all classes, all weeks"), Not(HasSubstr("1.2-3"))));
  EXPECT_THAT(Cli({"show", "open_it", "--metric", "alloc_inclusive"}).output,
              Not(HasSubstr("wall_time")));
  const ProcessResult none = Cli({"show", "open_it", "--class", "x86_64*"});
  EXPECT_EQ(none.exit_status, 66);
  EXPECT_THAT(none.errors,
              HasSubstr("no class x86_64* of open_it; available: only all classes together"));
  for (const char* wrong : {"yesterday", "2026-13-01", "2026-11-19..2026-11-01"}) {
    EXPECT_EQ(Cli({"hist", "open_it", "--week", wrong}).exit_status, 64) << wrong;
  }
  EXPECT_EQ(Cli({"hist", "open_it", "--week", "2026-11-19"}).exit_status, 66);
  EXPECT_EQ(Cli({"hist", "open_it", "--metric", "length"}).exit_status, 64);
}

TEST_F(ReadCommandsTest, TopByTotalStopsEarlyAndAgreesWithTheFullTable) {
  std::vector<stats::StatRow> rows = testing::MakeRows(60, 1000);
  for (unsigned i = 0; i < 60; i += 7) rows.push_back(Newer(rows[i]));
  PublishAndSync(rows);
  for (const char* versions : {"", "--versions"}) {
    const auto top = [&](const char* limit) {
      std::vector<std::string> command = {"top", "--limit", limit, "--csv"};
      if (*versions != 0) command.emplace_back(versions);
      return Cli(command).output;
    };
    const std::string all = top("0");
    const std::string few = top("9");
    EXPECT_EQ(all.substr(0, few.size()), few);
    // Both versions of that function together cost more than one version of any other.
    EXPECT_EQ(Cell(few, 0, "symbol"), *versions == 0 ? "function_56" : "function_59");
  }
  EXPECT_THAT(Cli({"top", "--limit", "9"}).output, HasSubstr("(the first 9; more: --limit)"));
  EXPECT_THAT(Cli({"top", "--library", "lib3*", "--csv"}).output,
              AllOf(HasSubstr("lib3.so.1"), Not(HasSubstr("lib4.so.1"))));
}

TEST_F(ReadCommandsTest, CsvIsForTablesAndExcludesJson) {
  PublishAndSync(rows_);
  EXPECT_EQ(Cell(Cli({"show", "open_it", "--csv"}).output, 0, "metric"), "wall_time");
  const ProcessResult status = Cli({"agent", "status", "--csv"});
  EXPECT_EQ(status.exit_status, 64);
  EXPECT_THAT(status.errors, HasSubstr("--csv cannot be combined with agent status"));
  EXPECT_EQ(Cli({"top", "--csv", "--json"}).exit_status, 64);
}

TEST_F(ReadCommandsTest, LocalMeasurementsAreSearchedToo) {
  EXPECT_EQ(Cli({"search", "x", "--local"}).exit_status, 66);
  EXPECT_EQ(Cli({"hist", "x", "--local"}).exit_status, 66);
}

// The library is installed on the test's machine, so all commands show that version rather than the
// newest one.
TEST_F(ReadCommandsTest, EveryCommandShowsTheVersionInstalledHere) {
  const ProcessResult package = testing::RunProcess(
      {.arguments = {"dpkg-query", "--show", "--showformat=${Version}", "zlib1g"}});
  if (package.exit_status != 0) GTEST_SKIP() << "no package zlib1g";
  std::vector<stats::StatRow> rows;
  for (const auto& [version, ns] : {std::pair(package.output, 1500), {"99:9-1", 6000}}) {
    rows.push_back(testing::MakeRow("libz.so.1", "z_call", 300, static_cast<std::uint64_t>(ns)));
    rows.back().key.api.package_version = version;
  }
  PublishAndSync(rows);
  EXPECT_THAT(Cli({"show", "z_call"}).output,
              AllOf(HasSubstr("version " + package.output), HasSubstr("p50    1.5 µs"),
                    HasSubstr(package.output + " is the version installed here; other versions "
                                               "(--all, or --of-version): 99:9-1\n")));
  EXPECT_THAT(Cli({"top"}).output, AllOf(HasSubstr("  1.5 µs"), Not(HasSubstr("  6.0 µs")),
                                         HasSubstr(" (installed, +1)")));
  EXPECT_THAT(Cli({"search", "z_call"}).output, HasSubstr("  1.5 µs"));
  EXPECT_THAT(Cli({"man", "z_call", "--roff"}).output, HasSubstr("installed here"));
}

}  // namespace
}  // namespace fieldcost::cli
