#include <sys/stat.h>

#include <cmath>
#include <map>
#include <optional>
#include <random>

#include "common/base/file.h"
#include "common/sqlite/sqlite.h"
#include "common/wire/epoch.h"
#include "common/wire/fragment.h"
#include "common/wire/profile.h"
#include "tests/agent/volunteer/aggregator_stand_in.h"
#include "tests/support/binary_dir.h"
#include "tests/tools/cli/catalog_fixture.h"

// `check` as users run it: real catalogues, profiles, batches.

namespace fieldcost::cli {
namespace {

using stats::CostHistogram;
using stats::StatRow;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

constexpr int kWorse = 1;
constexpr int kTooLittle = 2;
constexpr int kUsage = 64;
constexpr int kCorrupt = 65;
constexpr int kNotFound = 66;

// The deviation of machines' typical costs is a third of an octave.
class Machines {
 public:
  CostHistogram Measure(double octaves = 0, int calls = 300) {
    CostHistogram histogram;
    const double typical = 10 + octaves + 0.3 * normal_(random_);
    for (; calls > 0; --calls) {
      histogram.Add(static_cast<std::uint64_t>(std::exp2(typical + normal_(random_))));
    }
    return histogram;
  }

 private:
  std::mt19937_64 random_{3};
  std::normal_distribution<double> normal_;
};

void Contribute(const CostHistogram& machine, StatRow& row) {
  row.histogram.Merge(machine);
  row.scalars.Merge(stats::ScalarsOf(machine));
  row.fullest_quarter = {.week = 2900, .scalars = row.scalars};
}

class CommandCheckTest : public CatalogCliTest {
 protected:
  static StatRow Row(const std::string& symbol, const std::string& soname = "liba.so.1") {
    StatRow row = testing::MakeRow(soname, symbol, 0, 0);
    row.scalars = {};
    row.weights = {};
    return row;
  }

  // The published costs of this API on other machines.
  StatRow Field(const std::string& symbol, int machines = 40) {
    StatRow row = Row(symbol);
    for (; machines > 0; --machines) Contribute(machines_.Measure(), row);
    return row;
  }

  // A profile's row of this API.
  StatRow Mine(const std::string& symbol, double octaves = 0, int calls = 300) {
    StatRow row = Row(symbol);
    row.key.hardware = {.architecture = "x86_64",
                        .cpu_family = "GenuineIntel-6",
                        .log2_cores = 3,
                        .log2_memory_mib = 14,
                        .os_release = "debian-12"};
    row.key.week = 2960;
    row.histogram = machines_.Measure(octaves, calls);
    return row;
  }

  std::string Write(const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(home());
    const std::string path = (home() / name).string();
    EXPECT_TRUE(WriteFileAtomically(path, bytes, 0600).has_value());
    return path;
  }
  std::string WriteProfile(const std::vector<StatRow>& rows) {
    return Write("my.profile", wire::EncodeProfile(rows).value());
  }

  // Publishes a field of eight APIs and measures a machine on which only `slow` is unhealthy.
  std::string PublishAndMeasure(double octaves_slower) {
    std::vector<StatRow> field;
    std::vector<StatRow> mine;
    for (const char* symbol : {"a", "b", "c", "d", "e", "f", "g", "slow"}) {
      field.push_back(Field(symbol));
      mine.push_back(Mine(symbol, symbol == std::string("slow") ? octaves_slower : -0.3));
    }
    PublishAndSync(field);
    return WriteProfile(mine);
  }

  std::filesystem::path kept() const { return home() / "state" / "check.json"; }

  Machines machines_;
};

TEST_F(CommandCheckTest, FindsThePlantedChangesAndNothingElse) {
  const std::string profile = PublishAndMeasure(3);
  const ProcessResult result = Cli({"check", profile});
  EXPECT_EQ(result.exit_status, kWorse) << result.errors;
  EXPECT_THAT(result.output,
              AllOf(StartsWith("wall_time of my.profile: 8 APIs\n! worse than the field: 1\n"),
                    HasSubstr("\n  liba.so.1!slow  1.2-3    300  40 "),
                    HasSubstr("same version, all hardware classes"),
                    HasSubstr("? too little data: 0\n"), HasSubstr("catalogue: snapshot 1")));
  EXPECT_THAT(result.errors, IsEmpty());
}

TEST_F(CommandCheckTest, AHealthyMachineIsLeftInPeace) {
  const std::string profile = PublishAndMeasure(0);
  const ProcessResult result = Cli({"check", profile, "--json"});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_EQ(Json(result.output, "d['counts']['more'], len(d['apis'])"), "0 8\n");
}

TEST_F(CommandCheckTest, TheResultIsKeptForEditorsAndIsWhatJsonPrints) {
  const std::string profile = PublishAndMeasure(3);
  const std::string printed = Cli({"check", profile, "--json"}).output;
  EXPECT_EQ(ReadFile(kept(), kMiB).value(), printed);
  EXPECT_EQ(std::filesystem::status(kept()).permissions() & std::filesystem::perms::mask,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(Json(printed, "d['format_version'], d['profile'], d['metric'], d['permutations']"),
            "1 file wall_time 9999\n");
  EXPECT_EQ(Json(printed,
                 "[(a['api'], a['verdict'], a['n'], a['contributions'], a['compared_with'],"
                 " a['own_removed'], a['q'] >= a['machines']['p'])"
                 " for a in d['apis']][0]"),
            "('liba.so.1!slow', 'more', 300, 40, 'all_classes', False, True)\n");
}

TEST_F(CommandCheckTest, AReportReproducesAndASeedDrawsOthers) {
  const std::string profile = PublishAndMeasure(0.2);
  const auto csv = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"check", profile, "--csv"});
    return Cli(more).output;
  };
  const std::string plain = csv({});
  EXPECT_THAT(plain, StartsWith("api,library,symbol,name,version,"));
  EXPECT_EQ(csv({}), plain);
  EXPECT_NE(csv({"--seed", "7"}), plain);
  EXPECT_EQ(csv({"--seed", "7"}), csv({"--seed", "7"}));
}

TEST_F(CommandCheckTest, ReportsTooLittleDataWithItsOwnExitStatus) {
  PublishAndSync({Field("few", 12), Field("rare")});
  const std::string profile = WriteProfile({Mine("few", 3), Mine("rare", 3, 20), Mine("new")});
  const ProcessResult result = Cli({"check", profile});
  EXPECT_EQ(result.exit_status, kTooLittle) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("? too little data: 3\n"),
                                   HasSubstr("  liba.so.1!few  12 of 30 machines\n"),
                                   HasSubstr("  liba.so.1!rare  20 of 100 calls\n"),
                                   HasSubstr("  liba.so.1!new  not in the catalogue\n")));
  // No data for this metric, then no data at all.
  EXPECT_EQ(Cli({"check", profile, "--metric", "alloc_inclusive"}).exit_status, kTooLittle);
  const ProcessResult nothing = Cli({"check"});
  EXPECT_EQ(nothing.exit_status, kTooLittle) << nothing.errors;
  EXPECT_THAT(nothing.output, HasSubstr("Nothing of that kind has been measured yet"));
}

TEST_F(CommandCheckTest, WithoutACatalogueThereIsNoAnswer) {
  const std::string profile = WriteProfile({Mine("a")});
  const ProcessResult result = Cli({"check", profile});
  EXPECT_EQ(result.exit_status, kNotFound);
  EXPECT_THAT(result.errors, HasSubstr("fieldcost sync"));
  EXPECT_FALSE(std::filesystem::exists(kept()));
}

TEST_F(CommandCheckTest, RefusesFilesThatAreNotProfiles) {
  PublishAndSync({Field("a")});
  for (const std::string& bytes :
       {std::string("main;run 12\n"), std::string(), wire::EncodeFragment({Field("a")}).value(),
        wire::EncodeProfile({Mine("a")}).value().substr(0, 40)}) {
    const ProcessResult result = Cli({"check", Write("other", bytes)});
    EXPECT_EQ(result.exit_status, kCorrupt) << result.output;
    EXPECT_THAT(result.errors, HasSubstr("reading a profile"));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
  }
  EXPECT_EQ(Cli({"check", "/nowhere"}).exit_status, kNotFound);
  EXPECT_EQ(Cli({"check", "--metric", "elegance"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"check", "p", "--save", "q"}).exit_status, kUsage);
}

TEST_F(CommandCheckTest, RefusesCsvForOutputThatIsNotATable) {
  const std::string profile = PublishAndMeasure(3);
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"check", profile, "--explain", "slow", "--csv"},
                                             {"check", profile, "--tree", "x", "--csv"},
                                             {"check", "--save", "x", "--csv"},
                                             {"check", "--save", "x", "--tree", "y"}}) {
    const ProcessResult result = Cli(command);
    EXPECT_EQ(result.exit_status, 64) << ::testing::PrintToString(command) << result.output;
    EXPECT_THAT(result.output, IsEmpty());
  }
  EXPECT_FALSE(std::filesystem::exists(kept()));
}

TEST_F(CommandCheckTest, ADamagedCatalogueIsNotTheProfilesFault) {
  const std::string profile = PublishAndMeasure(3);
  ASSERT_EQ(
      testing::RunProcess({.arguments = {"python3", "-c",
                                         "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); "
                                         "d.execute(\"UPDATE apis SET rows = x'28b5'\"); "
                                         "d.commit()",
                                         (home() / "catalog.db").string()}})
          .exit_status,
      0);
  const ProcessResult result = Cli({"check", profile});
  EXPECT_EQ(result.exit_status, 65);
  EXPECT_THAT(result.errors, HasSubstr("remove it and run `fieldcost sync --full`"));
}

TEST_F(CommandCheckTest, ExplainShowsBothSidesAndAsksBack) {
  const std::string profile = PublishAndMeasure(3);
  const ProcessResult slow = Cli({"check", profile, "--explain", "slow"});
  EXPECT_EQ(slow.exit_status, kWorse) << slow.errors;
  EXPECT_THAT(slow.output,
              AllOf(StartsWith("liba.so.1!slow  version 1.2-3  wall_time\n"
                               "  worse than the field\n"),
                    HasSubstr("  8.2 µs – 16 µs "), HasSubstr("catalogue: snapshot 1")));
  EXPECT_EQ(Cli({"check", profile, "--explain", "liba.so.1!a"}).exit_status, 0);
  const ProcessResult json = Cli({"check", profile, "--explain", "slow", "--json"});
  EXPECT_EQ(Json(json.output, "d['apis'][0]['mine']['count'], d['apis'][0]['field']['count']"),
            "300 12000\n");
  const ProcessResult typo = Cli({"check", profile, "--explain", "slo"});
  EXPECT_EQ(typo.exit_status, kNotFound);
  EXPECT_THAT(typo.errors, HasSubstr("did you mean liba.so.1!slow?"));
}

TEST_F(CommandCheckTest, ATreeShowsWhereTheCostIs) {
  const std::string profile = PublishAndMeasure(3);
  const std::string stacks = Write("stacks.folded",
                                   "main;run;liba.so.1!slow;memcpy 60\nmain;run;slow_[k] 10\n"
                                   "main;run;libother.so.2!slow 5\nmain;parse 25\n"
                                   "main;<img src=x>\x1b[2J 1\n");
  const ProcessResult result = Cli({"check", profile, "--tree", stacks});
  EXPECT_EQ(result.exit_status, kWorse) << result.errors;
  EXPECT_THAT(
      result.output,
      AllOf(StartsWith("  SHARE  COST  SELF  FUNCTION\n100.0 %   101        main\n"
                       " 74.3 %    75          run\n"),
            HasSubstr("    liba.so!slow  ! worse than the field, ratio "),
            HasSubstr("    slow_[k]  ! worse"), HasSubstr("5     5      libother.so!slow\n"),
            HasSubstr("1     1    <img src=x>\\x1b[2J\n"),
            HasSubstr("101 in all. 1 of 1 API that is worse than the field is in this "
                      "profile, with 69.3 % of it (!)\n")));
  const std::string json = Cli({"check", profile, "--tree", stacks, "--json"}).output;
  EXPECT_EQ(Json(json,
                 "d['total'], d['worse_total'], [n['parent'] for n in d['nodes']][:4],"
                 " d['nodes'][2]['flagged']['verdict']"),
            "101 70 [None, 0, 1, 2] more\n");
  const ProcessResult bad = Cli({"check", profile, "--tree", Write("bad", "main;run twelve\n")});
  EXPECT_EQ(bad.exit_status, kCorrupt);
  EXPECT_THAT(bad.errors, HasSubstr("line 1: not a folded stack"));
}

TEST_F(CommandCheckTest, AFlameGraphIsAPageForTheUserOnly) {
  const std::string profile = PublishAndMeasure(3);
  const std::string stacks =
      Write("stacks.folded", "main;liba.so.1!slow 60\nmain;<img src=x> 40\n");
  const std::filesystem::path page = home() / "flame.html";
  const ProcessResult result = Cli({"check", profile, "--tree", stacks, "--flame", page.string()});
  EXPECT_EQ(result.exit_status, kWorse) << result.errors;
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, HasSubstr(" bytes in " + page.string()));
  EXPECT_EQ(std::filesystem::status(page).permissions(), std::filesystem::perms(0600));
  const ProcessResult shown = Cli({"check", profile, "--tree", stacks, "--flame", "-"});
  EXPECT_THAT(
      shown.output,
      AllOf(StartsWith("<!doctype html>"), HasSubstr("<h1>Flame graph of stacks.folded</h1>"),
            HasSubstr("class=\"worse\"><title>liba.so!slow: 60 %, 60; itself 60 %; "),
            HasSubstr("&lt;img src=x&gt;"), Not(HasSubstr("<img"))));
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"check", profile, "--flame", "x"},
           {"check", profile, "--tree", stacks, "--flame", "x", "--json"}}) {
    EXPECT_EQ(Cli(wrong).exit_status, kUsage);
  }
}

TEST_F(CommandCheckTest, MarksASyntheticOrOutdatedCatalogue) {
  publisher_.snapshot.synthetic = true;
  const std::string profile = PublishAndMeasure(0);
  const ProcessResult fresh = Cli({"check", profile});
  EXPECT_THAT(fresh.output, AllOf(HasSubstr("SYNTHETIC"), Not(HasSubstr("out of date"))));
  auto database = sqlite::Database::Open(home() / "catalog.db", sqlite::Database::Access::kWrite);
  ASSERT_TRUE(database.has_value()) << database.error().message;
  ASSERT_TRUE(database->Execute("UPDATE meta SET value = 1000000 WHERE key = 'snapshot_expires'")
                  .has_value());
  const ProcessResult stale = Cli({"check", profile});
  EXPECT_EQ(stale.exit_status, fresh.exit_status);
  EXPECT_THAT(stale.output, HasSubstr("out of date since 1970-01-01"));
  EXPECT_THAT(Cli({"check", profile, "--csv"}).output, HasSubstr(",true,true\r\n"));
}

// With an agent that has actually measured and sent data.
class OwnContributionTest : public CommandCheckTest {
 protected:
  OwnContributionTest() {
    std::filesystem::create_directories(home());
    server_.emplace(home());
    Configure();
    EXPECT_EQ(Cli({"agent", "on"}).exit_status, 0);
  }

  void Configure() {
    WriteConfig(
        "[aggregator]\nurl = \"" + server_->url() + "\"\nca_file = \"" +
        server_->certificates().ca.string() +
        "\"\n[selection]\nselection_probability = 1.0\npicks_per_run = 512\n"
        "max_load_per_core_percent = 10000\nmax_cpu_pressure_percent = 200\nmax_programs = 0\n"
        "[modules]\nbuiltin_modules = false\nextra_modules = [\"libvictim.so.1\"]\n");
  }

  void MeasureAndSend() {
    const ProcessResult run =
        Shell("\"$fieldcost\" run -- " FIELDCOST_BINARY_DIR "/victims/victim alloc");
    ASSERT_EQ(run.exit_status, 0) << run.errors;
    const ProcessResult sent = Shell(FIELDCOST_BINARY_DIR "/bin/fieldcostd --once --flush");
    ASSERT_EQ(sent.exit_status, 0) << sent.errors;
  }

  // The contributions of 40 other machines to this machine's functions.
  std::map<stats::ApiKey, StatRow> Others() {
    std::map<stats::ApiKey, StatRow> others;
    for (const wire::UntrustedRow& sent : server_->Rows(stats::Metric::kWallTime)) {
      StatRow& row = others.try_emplace(sent.api, StatRow{.key = {.api = sent.api}}).first->second;
      while (row.scalars.contributions < 40) Contribute(machines_.Measure(), row);
    }
    return others;
  }

  static std::vector<StatRow> Rows(const std::map<stats::ApiKey, StatRow>& rows) {
    std::vector<StatRow> all;
    for (const auto& [api, row] : rows) all.push_back(row);
    return all;
  }

  // All numbers in the comparisons' results.
  std::string Numbers(const std::string& document) {
    return Json(document,
                "[(a['api'], a['n'], a['contributions'], a['field_calls'], a['seed'], "
                "a['machines']['p'], a['q'], a['ratio']) for a in d['apis']]");
  }

  std::optional<testing::AggregatorStandIn> server_;
};

TEST_F(OwnContributionTest, IsTakenOutToTheLastBit) {
  MeasureAndSend();
  MeasureAndSend();  // in the same week: no new contribution
  auto others = Others();
  ASSERT_FALSE(others.empty());
  // The fullest quarter is that of the measurement.
  const std::uint32_t week = server_->Rows().at(0).week;
  const std::uint32_t quarter = week - week % wire::kWeeksPerEpoch;
  for (auto& [api, row] : others) row.fullest_quarter = {.week = quarter, .scalars = row.scalars};
  PublishAndSync(Rows(others));
  const std::string without = Cli({"check", "--json"}).output;
  EXPECT_EQ(Json(without, "any(a['own_removed'] for a in d['apis'])"), "False\n");

  auto field = others;
  for (const wire::UntrustedRow& sent : server_->Rows(stats::Metric::kWallTime)) {
    StatRow& row = field.at(sent.api);
    row.histogram.Merge(sent.histogram);
    if (sent.first_contribution) row.scalars.Merge(stats::ScalarsOf(sent.histogram));
    row.fullest_quarter.scalars = row.scalars;
  }
  publisher_.Publish(Rows(field), 2, SystemClock().Now());
  ASSERT_EQ(Cli({"sync", "--full"}).exit_status, 0);
  const std::string with = Cli({"check", "--json"}).output;
  EXPECT_EQ(Json(with,
                 "all(a['own_removed'] for a in d['apis']), d['own_batches_unknown'],"
                 " d['profile']"),
            "True 0 local\n");
  EXPECT_EQ(Numbers(with), Numbers(without));

  // A file does not record what its machine has sent.
  const std::string file = (home() / "saved.profile").string();
  const ProcessResult saved = Cli({"check", "--save", file});
  EXPECT_EQ(saved.exit_status, 0) << saved.errors;
  EXPECT_THAT(saved.output, HasSubstr(" bytes in " + file));
  const std::string from_file = Cli({"check", file, "--json"}).output;
  EXPECT_EQ(Json(from_file, "any(a['own_removed'] for a in d['apis'])"), "False\n");
  EXPECT_NE(Numbers(from_file), Numbers(with));
}

TEST_F(OwnContributionTest, SubtractsNothingForRefusedRowsAndReportsIt) {
  server_->Script(
      {.status = 200,
       .body = R"({"accepted_rows":1,"rejected_rows":1,"rejects":[{"row":0,"reason":"no"}]})",
       .counted = true});
  MeasureAndSend();
  const auto others = Others();
  PublishAndSync(Rows(others));
  const ProcessResult result = Cli({"check"});
  EXPECT_THAT(result.output, HasSubstr("1 of your own batches could not be subtracted"));
}

}  // namespace
}  // namespace fieldcost::cli
