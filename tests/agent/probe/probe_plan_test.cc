#include "agent/probe/probe_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tests/support/golden_bytes.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::probe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kWhole[] = R"(
[[point]]
label = "step"
event = "query"
at = "libsqlite3.so.0!sqlite3_step"
when = "both"
stack = true
value = "result"

[[point]]
event = "query"
at = "libsqlite3.so.0!sqlite3_prepare*"
begins = true
value = "arg3"

[automatic]
dlopen = false
exec = false
)";

std::string ErrorOf(const std::string& text) {
  const auto points = ParsePoints(text, "probe.toml");
  if (points) return "";
  EXPECT_EQ(points.error().code, ErrorCode::kInvalidArgument);
  return points.error().message;
}

std::string PointWith(const std::string& lines) {
  return "[[point]]\nlabel = \"l\"\nat = \"lib!f\"\n" + lines + "\n";
}

TEST(ProbePlanTest, PointsAreReadFromAFile) {
  const auto points = ParsePoints(kWhole, "probe.toml");
  ASSERT_TRUE(points) << points.error().message;
  ASSERT_THAT(points->named, SizeIs(2));
  const NamedPoint& step = points->named[0];
  EXPECT_EQ(step.label, "step");
  EXPECT_EQ(step.event, "query");
  EXPECT_EQ(step.at, "libsqlite3.so.0!sqlite3_step");
  EXPECT_EQ(step.when, shm::kProbeBoth);
  EXPECT_TRUE(step.stack);
  EXPECT_EQ(step.value, 7);
  EXPECT_TRUE(points->named[1].begins);
  EXPECT_EQ(points->named[1].when, shm::kProbeEntry);
  EXPECT_EQ(points->named[1].value, 3);
  EXPECT_EQ(points->automatic, shm::kProbeAllAutomatic & ~(shm::kProbeDlopen | shm::kProbeExec));
  EXPECT_EQ(ParsePoints("", "probe.toml")->automatic, shm::kProbeAllAutomatic);
}

TEST(ProbePlanTest, ErrorsNameFileKeyAndAllowedValues) {
  EXPECT_THAT(ErrorOf(PointWith("when = \"before\"")),
              StartsWith("probe.toml:4:8: point.0.when: expected \"entry\", \"return\" or"));
  EXPECT_THAT(ErrorOf(PointWith("value = \"arg7\"")), HasSubstr("\"arg1\" to \"arg6\""));
  EXPECT_THAT(ErrorOf(PointWith("value = 1")), HasSubstr("expected a string"));
  EXPECT_THAT(ErrorOf(PointWith("value = \"result\"")), HasSubstr("when = \"return\" or \"both\""));
  EXPECT_THAT(ErrorOf(PointWith("when = \"return\"\nvalue = \"arg1\"")),
              HasSubstr("when = \"entry\" or \"both\""));
  EXPECT_THAT(ErrorOf(PointWith("begins = true")), HasSubstr("point.0.event: expected the name"));
  EXPECT_THAT(ErrorOf(PointWith("event = \"e\"\nbegins = true\nends = true")),
              HasSubstr("needs \"both\""));
  EXPECT_THAT(ErrorOf(PointWith("stak = true")), HasSubstr("nearest known one is point.0.stack"));
  EXPECT_THAT(ErrorOf("[[point]]\nat = \"lib!f\"\n"), HasSubstr("point.0.label"));
  EXPECT_THAT(ErrorOf("[[point]]\nlabel = \"l\"\n"), HasSubstr("point.0.at: expected \"library!"));
  EXPECT_THAT(ErrorOf("[[point]]\nlabel = \"l\"\nat = \"f\"\n"), HasSubstr("library!symbol"));
  EXPECT_THAT(ErrorOf("[[point]]\nlabel = \"l\"\nat = \"a!b,c!d\"\n"), HasSubstr("library!symbol"));
  EXPECT_THAT(ErrorOf("[[point]]\nlabel = \"" + std::string(65, 'x') + "\"\nat = \"a!b\"\n"),
              HasSubstr("1 to 64 bytes"));
  EXPECT_THAT(ErrorOf("[[point]]\nlabel = \"a\\u0007\"\nat = \"a!b\"\n"),
              HasSubstr("control characters"));
  EXPECT_THAT(ErrorOf("[point]\nlabel = \"l\"\n"), HasSubstr("expected [[point]] tables"));
  EXPECT_THAT(ErrorOf("[automatic]\nmain = 1\n"), HasSubstr("automatic.main: expected true or"));
  EXPECT_THAT(ErrorOf("[automatic]\nstarts = true\n"), HasSubstr("automatic.start"));
  std::string many;
  for (int i = 0; i < 5; ++i) many += PointWith("");
  EXPECT_THAT(ErrorOf(many), HasSubstr("at most 4 points for one function"));
  many.clear();
  for (int i = 0; i < 257; ++i) many += PointWith("");
  EXPECT_THAT(ErrorOf(many), HasSubstr("257 points, at most 256"));
}

// Even if the misspelt key is required: the error is not that it is missing.
TEST(ProbePlanTest, NamesEachMisspeltKeyWithItsLineAndWhatWasMeant) {
  const std::pair<std::string, std::string> whole[] = {
      {"label", "\"l\""}, {"event", "\"e\""}, {"at", "\"lib!f\""}, {"when", "\"both\""},
      {"begins", "true"}, {"ends", "true"},   {"stack", "true"},   {"value", "\"arg1\""}};
  for (std::size_t wrong = 0; wrong < std::size(whole); ++wrong) {
    std::string text = "[[point]]\n";
    std::string misspelt;
    for (std::size_t i = 0; i < std::size(whole); ++i) {
      std::string key = whole[i].first;
      if (i == wrong) misspelt = key = key + key.back();
      text += key + " = " + whole[i].second + "\n";
    }
    EXPECT_EQ(ErrorOf(text), fmt::format("probe.toml:{}:1: point.0.{}: unknown key; the nearest "
                                         "known one is point.0.{}",
                                         wrong + 2, misspelt, whole[wrong].first));
  }
}

TEST(ProbePlanTest, EncodesThePlanAsTheGoldenBytes) {
  const testing::TempDir directory(testing::kMemory);
  PlanOptions options{.library = "/lib/libfieldcost_probe.so",
                      .points = *ParsePoints(kWhole, "probe.toml"),
                      .session = 0x0102030405060708,
                      .tsc_to_ns_multiplier = 0x80000000,
                      .start_unix_ns = 1'700'000'000'000'000'000,
                      .starter = 4711,
                      .stacks = true,
                      .local = true,
                      .build = "nightly",
                      .tags = {"cold", "ssd"}};
  ::setenv("LD_PRELOAD", "/usr/lib/libfieldcost_preload.so:/lib/other.so", 1);
  const auto variables = WritePlan(directory.path(), options);
  ::unsetenv("LD_PRELOAD");
  ASSERT_TRUE(variables) << variables.error().message;
  EXPECT_THAT(*variables,
              ElementsAre(Pair("LD_PRELOAD", "/lib/libfieldcost_probe.so:/lib/other.so"),
                          Pair("FIELDCOST_PROBE_DIR", directory.path().string())));
  const auto facts = ReadPlan(directory.path());
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->session, options.session);
  EXPECT_EQ(facts->start_unix_ns, options.start_unix_ns);
  EXPECT_TRUE(facts->local);
  EXPECT_EQ(facts->build, "nightly");
  EXPECT_THAT(facts->tags, ElementsAre("cold", "ssd"));
  const auto bytes = runs::RunFileBytes::Open(directory.path() / "plan");
  ASSERT_TRUE(bytes);
  testing::ExpectGolden(std::filesystem::path(FIELDCOST_PROBE_GOLDEN_DIR) / "plan",
                        testing::GoldenLines(*bytes));
}

TEST(ProbePlanTest, RefusesPlansThatDoNotFit) {
  const testing::TempDir directory(testing::kMemory);
  const PlanOptions sound{.library = "l", .session = 1};
  ASSERT_TRUE(WritePlan(directory.path(), sound));
  PlanOptions options = sound;
  options.session = 0;
  EXPECT_EQ(WritePlan(directory.path(), options).error().code, ErrorCode::kInvalidArgument);
  options = sound;
  options.build = std::string(64, 'b');
  EXPECT_EQ(WritePlan(directory.path(), options).error().code, ErrorCode::kTooLarge);
  options = sound;
  options.tags = {std::string(32, 't')};
  EXPECT_EQ(WritePlan(directory.path(), options).error().code, ErrorCode::kTooLarge);
  options.tags.assign(9, "t");
  EXPECT_EQ(WritePlan(directory.path(), options).error().code, ErrorCode::kTooLarge);
  options = sound;
  options.points.named.resize(257);
  EXPECT_EQ(WritePlan(directory.path(), options).error().code, ErrorCode::kTooLarge);
}

TEST(ProbePlanTest, RefusesInvalidPlans) {
  const testing::TempDir directory(testing::kMemory);
  EXPECT_EQ(ReadPlan(directory.path()).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(WritePlan(directory.path(), {.library = "l", .session = 1, .tags = {"a"}}));
  const auto path = directory.path() / shm::kProbePlanName;
  const std::string bytes = *ReadFile(path, 1 << 20);
  for (const std::size_t at :
       {std::size_t{0}, offsetof(shm::ProbePlan, version), offsetof(shm::ProbePlan, size_bytes),
        offsetof(shm::ProbePlan, session), offsetof(shm::ProbePlan, tag_count)}) {
    std::string changed = bytes;
    changed[at] = at == offsetof(shm::ProbePlan, session) ? '\0' : '\x09';
    ASSERT_TRUE(WriteFileAtomically(path, changed, 0600));
    EXPECT_FALSE(ReadPlan(directory.path())) << at;
  }
  ASSERT_TRUE(WriteFileAtomically(path, bytes.substr(0, 100), 0600));
  EXPECT_EQ(ReadPlan(directory.path()).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace fieldcost::probe
