#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tools/report/check_csv.h"

#include "tools/analysis/check_report.h"
#include "tools/report/check_text.h"

namespace fieldcost::report {
namespace {

using stats::CostHistogram;
using stats::StatRow;
using stats::Verdict;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const stats::HardwareClass kLaptop{.architecture = "x86_64",
                                   .cpu_family = "GenuineIntel-6",
                                   .log2_cores = 3,
                                   .log2_memory_mib = 14,
                                   .os_release = "debian-12"};
const stats::HardwareClass kServer{.architecture = "x86_64",
                                   .cpu_family = "AuthenticAMD-25",
                                   .log2_cores = 6,
                                   .log2_memory_mib = 18,
                                   .os_release = "debian-12"};

// Machines whose typical costs differ by a third of an octave.
class Fleet {
 public:
  CostHistogram Machine(double octaves = 0, int calls = 300) {
    CostHistogram histogram;
    const double typical = 10 + octaves + 0.3 * normal_(random_);
    for (; calls > 0; --calls) {
      histogram.Add(static_cast<std::uint64_t>(std::exp2(typical + normal_(random_))));
    }
    return histogram;
  }
  StatRow Field(const stats::RowKey& key, int machines) {
    StatRow row{.key = key};
    for (; machines > 0; --machines) Contribute(Machine(), row);
    return row;
  }
  // In the week 2900, if the row does not tell another.
  static void Contribute(const CostHistogram& machine, StatRow& row) {
    row.histogram.Merge(machine);
    row.scalars.Merge(stats::ScalarsOf(machine));
    if (row.key.week == 0) row.fullest_week = {.week = 2900, .scalars = row.scalars};
  }

 private:
  std::mt19937_64 random_{12};
  std::normal_distribution<double> normal_;
};

stats::RowKey Key(const std::string& symbol, const std::string& version = "1.2-3",
                  const stats::HardwareClass& hardware = {}, std::uint32_t week = 0) {
  return {.api = {.soname = "liba.so.1",
                  .package_version = version,
                  .build_id = version == "" ? "" : "0a" + std::string(version.size() * 2, '1'),
                  .symbol = symbol,
                  .symbol_version = ""},
          .metric = stats::Metric::kWallTime,
          .hardware = hardware,
          .week = week};
}

TEST(CheckFieldTest, TheSameClassIsChosenIfItHasEnoughMachines) {
  Fleet fleet;
  const std::vector<StatRow> rows = {fleet.Field(Key("f"), 80),
                                     fleet.Field(Key("f", "1.2-3", kLaptop), 30),
                                     fleet.Field(Key("f", "1.2-3", kServer), 29)};
  const analysis::FieldChoice laptop = analysis::ChooseField(rows, {}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(laptop.stratum, analysis::Stratum::kSameClass);
  EXPECT_EQ(laptop.sums.histogram, rows[1].histogram);
  const analysis::FieldChoice server = analysis::ChooseField(rows, {}, Key("f", "1.2-3", kServer));
  EXPECT_EQ(server.stratum, analysis::Stratum::kAllClasses);
  EXPECT_EQ(server.sums.histogram, rows[0].histogram);
  EXPECT_EQ(server.sums.scalars, rows[0].scalars);
  EXPECT_THAT(server.versions, ElementsAre("1.2-3"));
}

TEST(CheckFieldTest, WithoutARowOverAllClassesOrWeeksTheSingleOnesAreSummed) {
  Fleet fleet;
  std::vector<StatRow> rows = {fleet.Field(Key("f", "1.2-3", kLaptop, 7), 20),
                               fleet.Field(Key("f", "1.2-3", kLaptop, 8), 20),
                               fleet.Field(Key("f", "1.2-3", kServer, 8), 5)};
  StatRow both = rows[0];  // machines of two weeks: no more than one of them for the test
  Fleet::Contribute(rows[1].histogram, both);
  analysis::FieldChoice choice = analysis::ChooseField(rows, {}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(choice.stratum, analysis::Stratum::kSameClass);
  EXPECT_EQ(choice.sums.histogram, both.histogram);
  EXPECT_EQ(choice.sums.scalars.contributions, 40U);
  EXPECT_EQ(choice.sums.fullest_week.scalars.contributions, 20U);
  EXPECT_EQ(analysis::ChooseField(rows, {}, Key("f")).sums.scalars.contributions, 45U);
  // But not twice.
  both.key = Key("f", "1.2-3", kLaptop);
  rows.push_back(both);
  EXPECT_EQ(analysis::ChooseField(rows, {}, Key("f", "1.2-3", kLaptop)).sums.histogram,
            both.histogram);
}

TEST(CheckFieldTest, OtherVersionsServeOnlyWhereMineIsMissing) {
  Fleet fleet;
  std::vector<StatRow> rows = {fleet.Field(Key("f", "1.1-1"), 50),
                               fleet.Field(Key("f", "1.3-1"), 50),
                               fleet.Field(Key("g", "1.2-3"), 50)};
  const analysis::FieldChoice others = analysis::ChooseField(rows, {}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(others.stratum, analysis::Stratum::kOtherVersions);
  EXPECT_THAT(others.versions, ElementsAre("1.1-1", "1.3-1"));
  EXPECT_EQ(others.sums.scalars.contributions, 100U);
  // Too few of the same version are still its own.
  rows.push_back(fleet.Field(Key("f", "1.2-3"), 3));
  EXPECT_EQ(analysis::ChooseField(rows, {}, Key("f", "1.2-3", kLaptop)).stratum,
            analysis::Stratum::kAllClasses);
  // Another build of the same package is the same version.
  rows.back().key.api.build_id = "ffff";
  const analysis::FieldChoice build = analysis::ChooseField(rows, {}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(build.stratum, analysis::Stratum::kAllClasses);
  EXPECT_EQ(build.sums.scalars.contributions, 3U);
  EXPECT_EQ(analysis::ChooseField(rows, {}, Key("h")).stratum, analysis::Stratum::kNone);
  stats::RowKey other_symbol_version = Key("g");
  other_symbol_version.api.symbol_version = "V2";
  EXPECT_EQ(analysis::ChooseField(rows, {}, other_symbol_version).stratum,
            analysis::Stratum::kNone);
}

TEST(CheckFieldTest, OwnContributionIsTakenOutToTheLastBit) {
  Fleet fleet;
  const StatRow others = fleet.Field(Key("f"), 40);
  std::vector<StatRow> own;
  StatRow field = others;
  for (const std::uint32_t week : {2900U, 2901U}) {
    own.push_back({.key = Key("f", "1.2-3", kLaptop, week)});
    Fleet::Contribute(fleet.Machine(), own.back());
    own.back().histogram.Merge(fleet.Machine());  // a later batch of the same week
    field.histogram.Merge(own.back().histogram);
    field.scalars.Merge(own.back().scalars);
    if (week == 2900) field.fullest_week.scalars.Merge(own.back().scalars);
  }
  own.push_back({.key = Key("g", "1.2-3", kLaptop, 2900)});
  Fleet::Contribute(fleet.Machine(), own.back());
  const analysis::FieldChoice choice =
      analysis::ChooseField(std::vector{field}, own, Key("f", "1.2-3", kLaptop));
  EXPECT_TRUE(choice.own_removed);
  EXPECT_EQ(choice.sums.histogram, others.histogram);
  EXPECT_EQ(choice.sums.scalars, others.scalars);
  EXPECT_EQ(choice.sums.fullest_week, others.fullest_week);
  // Where contributions from before are in it, cubes are known neither of all nor of the others.
  field.scalars.cubed_contributions = field.fullest_week.scalars.cubed_contributions = 7;
  const analysis::FieldChoice older =
      analysis::ChooseField(std::vector{field}, own, Key("f", "1.2-3", kLaptop));
  EXPECT_TRUE(older.own_removed);
  EXPECT_EQ(older.sums.fullest_week.scalars.contributions, 40U);
  EXPECT_FALSE(older.sums.fullest_week.scalars.knows_cubes());
  // What was not in there is not taken out.
  const analysis::FieldChoice unsent =
      analysis::ChooseField(std::vector{fleet.Field(Key("g"), 1)}, own, Key("g"));
  EXPECT_FALSE(unsent.own_removed);
}

TEST(CheckFieldTest, WhatOfMineIsNotInTheChosenRowsIsNotTakenOut) {
  Fleet fleet;
  const StatRow others = fleet.Field(Key("f", "1.2-3", kLaptop, 2900), 40);
  std::vector<StatRow> own;
  for (const auto& [hardware, week] :
       {std::pair(kLaptop, 2900U), std::pair(kLaptop, 2901U), std::pair(kServer, 2900U)}) {
    own.push_back({.key = Key("f", "1.2-3", hardware, week)});
    Fleet::Contribute(fleet.Machine(), own.back());
  }
  // Only one week of one class is published.
  StatRow field = others;
  field.histogram.Merge(own[0].histogram);
  field.scalars.Merge(own[0].scalars);
  for (const stats::HardwareClass& hardware : {kLaptop, kServer}) {
    const analysis::FieldChoice choice =
        analysis::ChooseField(std::vector{field}, own, Key("f", "1.2-3", hardware));
    EXPECT_TRUE(choice.own_removed);
    EXPECT_EQ(choice.sums.histogram, others.histogram);
    EXPECT_EQ(choice.sums.scalars, others.scalars);
  }
}

TEST(CheckFieldTest, OthersAreCountedWithoutMe) {
  Fleet fleet;
  StatRow in_class = fleet.Field(Key("f", "1.2-3", kLaptop), 29);
  StatRow own{.key = Key("f", "1.2-3", kLaptop, 2900)};
  Fleet::Contribute(fleet.Machine(), own);
  in_class.histogram.Merge(own.histogram);
  in_class.scalars.Merge(own.scalars);
  in_class.fullest_week.scalars.Merge(own.scalars);
  StatRow all = in_class;
  all.key.hardware = {};
  Fleet::Contribute(fleet.Machine(), all);
  const std::vector<StatRow> rows = {all, in_class};
  const analysis::FieldChoice choice =
      analysis::ChooseField(rows, std::vector{own}, Key("f", "1.2-3", kLaptop));
  EXPECT_EQ(choice.stratum, analysis::Stratum::kAllClasses);  // 30 others, not 29
  EXPECT_EQ(choice.sums.scalars.contributions, 30U);
  EXPECT_EQ(choice.sums.fullest_week.scalars.contributions, 30U);
}

analysis::CheckedApi Api(const std::string& symbol, const CostHistogram& mine,
                         const StatRow& field) {
  const stats::RowKey key = Key(symbol, "1.2-3", kLaptop);
  return {.key = key,
          .mine = mine,
          .field = analysis::ChooseField(std::vector{field}, {}, key),
          .comparison = {}};
}

std::vector<analysis::CheckedApi> SomeApis() {
  Fleet fleet;
  std::vector<analysis::CheckedApi> apis;
  apis.push_back(Api("slow", fleet.Machine(3), fleet.Field(Key("slow"), 50)));
  for (int i = 0; i < 6; ++i) {
    const std::string name = "fine" + std::to_string(i);
    apis.push_back(Api(name, fleet.Machine(-0.3), fleet.Field(Key(name), 50)));
  }
  apis.push_back(Api("rare", fleet.Machine(3, 12), fleet.Field(Key("rare"), 7)));
  apis.push_back(Api("unknown", fleet.Machine(3), fleet.Field(Key("other"), 50)));
  return apis;
}

TEST(CheckReportTest, WhatIsWorseComesFirstWhateverTheOrder) {
  std::vector<analysis::CheckedApi> apis = SomeApis();
  const analysis::CheckReport report = analysis::Check(apis, stats::Metric::kWallTime, 0);
  EXPECT_EQ(report.apis.front().key.api.symbol, "slow");
  EXPECT_EQ(report.Count(Verdict::kWorse), 1U);
  EXPECT_EQ(report.Count(Verdict::kTooLittleData), 2U);
  EXPECT_EQ(report.Count(Verdict::kNormal), 6U);
  std::reverse(apis.begin(), apis.end());
  const analysis::CheckReport reversed = analysis::Check(apis, stats::Metric::kWallTime, 0);
  EXPECT_EQ(CheckCsv(reversed, {}), CheckCsv(report, {}));
  EXPECT_EQ(CheckText(reversed, true, {}), CheckText(report, true, {}));
  EXPECT_EQ(reversed.Seed(), report.Seed());
  EXPECT_NE(analysis::Check(apis, stats::Metric::kWallTime, 7).Seed(), report.Seed());
}

TEST(CheckReportTest, TheTextTellsVerdictsNumbersAndWhatIsMissing) {
  analysis::CheckReport report = analysis::Check(SomeApis(), stats::Metric::kWallTime, 0);
  report.profile = "x\x1b[31m.profile";
  report.own_unknown = 3;
  const std::string text = CheckText(report, false, {});
  EXPECT_THAT(text,
              StartsWith("wall_time of x\\x1b[31m.profile: 9 APIs\n! worse than the field: 1\n"
                         "  API             VERSION    N   A  RATIO  DELTA  P-MACHINES"));
  EXPECT_THAT(text, HasSubstr("\n  liba.so.1!slow  1.2-3    300  50 "));
  EXPECT_THAT(text, HasSubstr(analysis::SeedText(report.apis[0].comparison.call_test.seed) +
                              "  same version, all hardware classes\n"));
  EXPECT_THAT(text, HasSubstr("? too little data: 2\n"));
  EXPECT_THAT(text, HasSubstr("  liba.so.1!rare  12 of 100 calls, 7 of 30 machines\n"));
  EXPECT_THAT(text, HasSubstr("  liba.so.1!unknown  not in the catalogue\n"));
  EXPECT_THAT(text, HasSubstr("Seed of the report " + analysis::SeedText(report.Seed()) + "."));
  EXPECT_THAT(text, HasSubstr("3 of your own batches could not be taken out"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("fine0"))));
  const std::string everything =
      CheckText(report, true, {.utf8 = true, .color = draw::ColorDepth::kTrue});
  EXPECT_THAT(everything, AllOf(HasSubstr("\x1b[38;2;"), HasSubstr("liba.so.1!fine0")));
}

// Catalogues from before have no week's scalars.
TEST(CheckReportTest, WhereNoWeekIsKnownThereAreNotEnoughMachines) {
  Fleet fleet;
  StatRow field = fleet.Field(Key("slow"), 50);
  field.fullest_week = {};
  const analysis::CheckReport report =
      analysis::Check({Api("slow", fleet.Machine(3), field)}, stats::Metric::kWallTime, 0);
  EXPECT_EQ(report.Count(Verdict::kTooLittleData), 1U);
  EXPECT_EQ(analysis::Lack(report.apis[0]), "not enough machines known");
}

TEST(CheckReportTest, OfManyWithTooLittleDataTheFirstAreNamed) {
  Fleet fleet;
  std::vector<analysis::CheckedApi> apis;
  for (int i = 0; i < 25; ++i) {
    apis.push_back(Api("f" + std::to_string(i), fleet.Machine(0, 5), fleet.Field(Key("none"), 1)));
  }
  const analysis::CheckReport report = analysis::Check(apis, stats::Metric::kWallTime, 0);
  EXPECT_THAT(CheckText(report, false, {}), HasSubstr("  (and 15 more: --all)\nnormal: 0\n"));
  EXPECT_THAT(CheckText(report, true, {}), AllOf(HasSubstr("f24"), Not(HasSubstr("--all"))));
  EXPECT_THAT(CheckText(analysis::Check({}, stats::Metric::kWallTime, 0), true, {}),
              EndsWith("normal: 0\n"));
}

TEST(CheckReportTest, ExplainingShowsBothDistributionsBucketByBucket) {
  CostHistogram mine;
  for (int i = 0; i < 150; ++i) mine.Add(4096);
  for (int i = 0; i < 50; ++i) mine.Add(1024);
  StatRow field{.key = Key("slow")};
  for (int machine = 0; machine < 40; ++machine) {
    CostHistogram one;
    for (int i = 0; i < 100; ++i) one.Add(i < 80 ? 600U + static_cast<unsigned>(machine) : 1024U);
    Fleet::Contribute(one, field);
  }
  const analysis::CheckReport report =
      analysis::Check({Api("slow", mine, field)}, stats::Metric::kWallTime, 0);
  const std::string text = ExplainText(report.apis[0], report.metric, {});
  EXPECT_THAT(
      text,
      StartsWith("liba.so.1!slow  version 1.2-3  wall_time\n  worse than the field\n"
                 "  compared with: same version, all hardware classes (1.2-3)\n"
                 "  n 200 calls of mine, 4,000 of 40 contributions; A 40 machines of the fullest "
                 "week\n"));
  EXPECT_THAT(text, HasSubstr("39 degrees of freedom"));
  EXPECT_THAT(text, EndsWith("  510 ns - 1.0 us             0   0.0 % |                        |   "
                             "        3,200  80.0 "
                             "% |@@@@@@@@@@@@@@@@@@@@@@@@|\n"
                             "  1.0 us - 2.0 us            50  25.0 % |@@@@@@@                 |   "
                             "          800  20.0 "
                             "% |@@@@@@                  |\n"
                             "  2.0 us - 4.1 us             0   0.0 % |                        |   "
                             "            0   0.0 "
                             "% |                        |\n"
                             "  4.1 us - 8.2 us           150  75.0 % |@@@@@@@@@@@@@@@@@@@@@@  |   "
                             "            0   0.0 "
                             "% |                        |\n"));
  const analysis::CheckReport unknown = analysis::Check(
      {Api("slow", mine, StatRow{.key = Key("other")})}, stats::Metric::kWallTime, 0);
  EXPECT_THAT(ExplainText(unknown.apis[0], report.metric, {}),
              AllOf(HasSubstr("  too little data: not in the catalogue\n"),
                    HasSubstr("4.1 us - 8.2 us"), Not(HasSubstr("compared with"))));
}

TEST(CheckReportTest, CsvHasARecordForEveryApi) {
  const analysis::CheckReport report = analysis::Check(SomeApis(), stats::Metric::kWallTime, 0);
  const std::string csv = CheckCsv(
      report, {.source = "catalogue", .snapshot = 5, .published = "2026", .synthetic = true});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 10);
  EXPECT_THAT(
      csv, StartsWith("api,library,symbol,name,version,build_id,symbol_version,metric,verdict,"));
  EXPECT_THAT(
      csv, HasSubstr("\r\nliba.so.1!slow,liba.so.1,slow,slow,1.2-3,0a1111111111,,wall_time,\"worse "
                     "than the field\",\"same version, all hardware classes\",1.2-3,300,50,50,"));
  EXPECT_THAT(csv, HasSubstr(",false,catalogue,5,2026,false,true\r\n"));
}

}  // namespace
}  // namespace fieldcost::report
