#include <cmath>
#include <random>

#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/support/binary_dir.h"
#include "tests/tools/cli/catalog_fixture.h"

// `fieldcost check -- PROGRAM`: real measurements of a real program against a published field.

namespace fieldcost::cli {
namespace {

using stats::StatRow;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";

constexpr int kHealthy = 0;
constexpr int kWorse = 1;
constexpr int kTooLittle = 2;
constexpr int kUsage = 64;
constexpr int kNotFound = 66;
constexpr int kUnsupported = 78;

// In the field, both functions typically take 130 us. On a machine that runs this test, adler32 of
// 16 bytes takes less than 1 us, so that a busy machine does not make it slower than the field, and
// compress2 of 1 MiB takes about 5 ms.
constexpr double kFieldOctaves = 17;
const std::vector<std::string> kFast = {kVictims + "zlib_calls", "adler32", "60", "16"};
const std::vector<std::string> kSlow = {kVictims + "zlib_calls", "compress2", "60", "1048576"};

class CheckProgramTest : public CatalogCliTest {
 protected:
  void Publish() {
    std::mt19937_64 random(7);
    PublishAndSync({Field("compress2", random), Field("adler32", random)});
  }

  static StatRow Field(const std::string& symbol, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    StatRow row = testing::MakeRow("libz.so.1", symbol, 0, 0);
    row.scalars = {};
    row.weights = {};
    for (int machine = 0; machine < 40; ++machine) {
      stats::CostHistogram one;
      const double typical = kFieldOctaves + 0.3 * normal(random);
      for (int call = 0; call < 200; ++call) {
        one.Add(static_cast<std::uint64_t>(std::exp2(typical + 0.5 * normal(random))));
      }
      row.histogram.Merge(one);
      row.scalars.Merge(stats::ScalarsOf(one));
    }
    row.fullest_quarter = {.week = 2900, .scalars = row.scalars};
    return row;
  }

  ProcessResult Check(std::vector<std::string> options, const std::vector<std::string>& program) {
    options.insert(options.begin(), {"check", "--rounds", "2"});
    options.emplace_back("--");
    options.insert(options.end(), program.begin(), program.end());
    return Cli(options);
  }
};

TEST_F(CheckProgramTest, FindsThePlantedChangeAndWhereItIsCalled) {
  Publish();
  const ProcessResult result = Check({"--keep", (home() / "kept").string()}, kSlow);
  EXPECT_EQ(result.exit_status, kWorse) << result.errors;
  EXPECT_THAT(result.output, AllOf(StartsWith("wall_time of zlib_calls: "),
                                   HasSubstr("\n! worse than the field: 1\n"),
                                   ContainsRegex("\n  libz.so.1!compress2 +[^ ]+ +120 +40 ")));
  // Both call paths, with their shares of the program.
  EXPECT_THAT(
      result.output,
      AllOf(
          ContainsRegex(
              "zlib_calls!Often[^\n]*\n[^\n]*Pack[^\n]*\n[^\n]*compress2  ! worse than the field"),
          ContainsRegex("zlib_calls!Rarely[^\n]*\n[^\n]*Pack[^\n]*\n[^\n]*compress2  ! worse"),
          HasSubstr("1 of 1 API that is worse than the field is in this profile")));
  // Ranked, the most expensive first.
  EXPECT_THAT(result.output,
              ContainsRegex("Where they cost most:\n[^\n]*\n[^\n]*compress2 [^\n]*Often[^\n]*\n"
                            "[^\n]*compress2 [^\n]*Rarely"));
  EXPECT_THAT(result.errors, AllOf(HasSubstr("plain "), HasSubstr("recording call paths: ")));
  // The kept files can be read by other commands, with the same verdict.
  EXPECT_EQ(Cli({"check", (home() / "kept" / "check.lab").string()}).exit_status, kWorse);
  EXPECT_EQ(Cli({"tree", "show", (home() / "kept" / "check.fct").string()}).exit_status, 0);
}

// compress2's calls are slow everywhere. Those from Rarely() are planted to be four times as slow,
// although they cost less than the others in all.
TEST_F(CheckProgramTest, MarksOnlyTheContextWhoseCallsAreSlowerThanElsewhere) {
  Publish();
  const std::string kept = (home() / "kept").string();
  ASSERT_EQ(Check({"--keep", kept}, kSlow).exit_status, kWorse);
  const std::string recording = kept + "/traced.fct";
  const auto contexts = [&](const std::string& rare_bytes) {
    const ProcessResult traced =
        Cli({"trace", "--runs", "12", "--output", recording, "--events",
             "functions,libz.so.1!compress2", "--", kVictims + "zlib_calls_traced", "compress2",
             "120", "524288", rare_bytes});
    EXPECT_EQ(traced.exit_status, 0) << traced.errors;
    const ProcessResult shown = Cli({"check", kept + "/check.lab", "--tree", recording, "--json"});
    EXPECT_EQ(shown.exit_status, kWorse) << shown.errors;
    return Json(shown.output,
                "[(c['callers'][1].split()[0], int(c['calls']) // d['denominator'], c['deviates'])"
                " for c in d['contexts'] if c['calls']]");
  };
  EXPECT_EQ(contexts("524288"),
            "[('zlib_calls_traced!Often', 108, False), ('zlib_calls_traced!Rarely', 12, False)]\n");
  EXPECT_EQ(contexts("2097152"),
            "[('zlib_calls_traced!Often', 108, False), ('zlib_calls_traced!Rarely', 12, True)]\n");
  const ProcessResult text = Cli({"check", kept + "/check.lab", "--tree", recording});
  EXPECT_THAT(text.output,
              ContainsRegex("Where they cost most:\n[^\n]*RATIO[^\n]*\n"
                            "[^\n!]*  108  0[^\n!]*!compress2 [^\n]*Often[^\n]*\n"
                            "[^\n]*  12  [2-9][0-9.]* ! [^\n]*!compress2 [^\n]*Rarely"));
}

TEST_F(CheckProgramTest, LeavesAHealthyProgramInPeace) {
  Publish();
  const ProcessResult result = Check({}, kFast);
  EXPECT_EQ(result.exit_status, kHealthy) << result.errors << result.output;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("! worse than the field: 0\n"), Not(HasSubstr("zlib_calls!Often")),
                    ContainsRegex("\n[0-9]+ of [0-9]+ functions of libz.so.1 were called\n")));
  EXPECT_THAT(result.errors, Not(HasSubstr("recording call paths")));
}

TEST_F(CheckProgramTest, NamesWorseFunctionsThatAreNeverOnTheStack) {
  Publish();
  const ProcessResult result = Check({}, {kVictims + "zlib_calls", "adler32", "60", "16777216"});
  EXPECT_EQ(result.exit_status, kWorse) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr("! worse than the field: 1\n"),
                                   HasSubstr("On no sampled stack: libz.so.1!adler32 ")));
}

TEST_F(CheckProgramTest, JsonHasTheTreeOnlyIfSomethingIsWorse) {
  Publish();
  const ProcessResult worse = Check({"--json"}, kSlow);
  EXPECT_EQ(worse.exit_status, kWorse) << worse.errors;
  EXPECT_EQ(Json(worse.output,
                 "d['profile'], d['counts']['more'], d['tree']['worse_apis_seen'],"
                 " sorted({n['flagged']['api'] for n in d['tree']['nodes'] if n['flagged']})"),
            "program 1 1 ['libz.so.1!compress2']\n");
  EXPECT_EQ(Json(worse.output,
                 "[('compress2' in l['uncalled'], 'inflate' in l['uncalled'], 1 < l['called'] < "
                 "l['of']) for l in d['coverage']['libraries'] if l['library'] == 'libz.so.1']"),
            "[(False, True, True)]\n");
  const ProcessResult healthy = Check({"--json"}, kFast);
  EXPECT_EQ(healthy.exit_status, kHealthy) << healthy.errors;
  EXPECT_EQ(Json(healthy.output, "d['counts']['more'], d['tree']"), "0 None\n");
}

TEST_F(CheckProgramTest, TooLittleDataIsNotAPass) {
  Publish();
  const ProcessResult result = Check({}, {kVictims + "zlib_calls", "adler32", "20", "16"});
  EXPECT_EQ(result.exit_status, kTooLittle) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("40 of 100 calls"));
}

TEST_F(CheckProgramTest, FailsClearlyBeforeAnythingIsMeasured) {
  EXPECT_EQ(Check({}, kFast).exit_status, kNotFound);  // no catalogue
  Publish();
  const ProcessResult missing = Check({}, {"no-such-program"});
  EXPECT_EQ(missing.exit_status, kNotFound);
  EXPECT_THAT(missing.errors, HasSubstr("cannot run no-such-program: no such program"));
  const ProcessResult linked = Check({}, {kVictims + "hello_static"});
  EXPECT_EQ(linked.exit_status, kUnsupported);
  EXPECT_THAT(linked.errors, HasSubstr("cannot be measured: "));
  const ProcessResult failing = Check({}, {"/bin/sh", "-c", "echo broken >&2; exit 3"});
  EXPECT_EQ(failing.exit_status, kUsage);
  EXPECT_THAT(failing.errors, HasSubstr("broken"));
  for (const ProcessResult& result : {missing, linked, failing}) {
    EXPECT_THAT(result.output, IsEmpty());
  }
}

TEST_F(CheckProgramTest, OptionsOfProgramsNeedOne) {
  for (const char* option : {"--rounds", "--input", "--keep"}) {
    const ProcessResult result = Cli({"check", option, "1"});
    EXPECT_EQ(result.exit_status, kUsage) << option;
    EXPECT_THAT(result.errors, HasSubstr("-- PROGRAM")) << option;
  }
  EXPECT_THAT(Check({"a.profile"}, kFast).errors, HasSubstr("cannot be combined with a program"));
  EXPECT_THAT(Check({"--tree", "a.fct"}, kFast).errors, HasSubstr("cannot be combined"));
  EXPECT_THAT(Check({"--save", "a.profile"}, kFast).errors, HasSubstr("cannot be combined"));
  EXPECT_THAT(Cli({"check", "--flame", "a.html"}).errors, HasSubstr("--flame requires --tree"));
}

TEST_F(CheckProgramTest, EachRunReadsTheInput) {
  Publish();
  std::filesystem::create_directories(home());
  const std::string input = (home() / "input").string();
  ASSERT_TRUE(WriteFileAtomically(input, "compress2 60 1048576\n", 0600));
  const ProcessResult result =
      Check({"--input", input},
            {"/bin/sh", "-c", "read a b c; exec " + kVictims + "zlib_calls $a $b $c"});
  EXPECT_EQ(result.exit_status, kWorse) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("compress2  ! worse than the field"));
}

}  // namespace
}  // namespace fieldcost::cli
