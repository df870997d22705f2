// `fieldcost probe compare|history` as used in continuous integration.
#include <boost/json.hpp>

#include "tests/tools/cli/probe_fixture.h"
#include "tools/cli/probe/event_selection.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::ProcessResult;

constexpr int kSlower = 1;
constexpr int kTooLittle = 2;
constexpr int kUsage = 64;
constexpr int kNotFound = 66;

TEST_F(ProbeCommandTest, TheStepThatIsSlowerIsNamedAndTheGateFails) {
  const std::string file = Database({{},
                                     {.first = 50, .build = "1.3", .load_ms = 60},
                                     {.first = 90, .count = 1, .load_ms = 900}});
  const ProcessResult compared =
      Probe(file, {"compare", "build:1.2", "build:1.3", "--fail-above", "10%"});
  EXPECT_EQ(compared.exit_status, kSlower) << compared.errors;
  EXPECT_EQ(compared.output,
            "index_open (program editor, tags warm): old 10 events (1 set aside), new 10 events\n"
            "  STEP              OLD       NEW  RATIO            95 %       Q  CHANGE  EVENTS\n"
            "  (all of it)  60.60 ms  90.60 ms  1.495  1.486 to 1.504  <0.001  slower  10, 10\n"
            "  file opened  10.20 ms  10.20 ms  1.000  0.986 to 1.014   1.000          10, 10\n"
            "  data loaded  30.20 ms  60.20 ms  1.993  1.986 to 2.001  <0.001  slower  10, 10\n"
            "  view ready   20.20 ms  20.20 ms  1.000  0.993 to 1.007   1.000          10, 10\n"
            "\n"
            "slower: index_open takes 1.495 times as long (1.486 to 1.504); the limit is 10 %\n");
}

TEST_F(ProbeCommandTest, GateReportsItsVerdictInLastLineAndStatus) {
  const std::string file = Database({{},
                                     {.first = 50, .build = "1.3", .load_ms = 60},
                                     {.first = 70, .build = "1.4", .load_ms = 31},
                                     {.first = 90, .count = 4, .build = "1.5", .load_ms = 90}});
  struct Case {
    std::string changed;
    std::string allowed;
    int status;
    std::string last_line;
  };
  for (const Case& each : {
           Case{"build:1.3", "10%", kSlower,
                "slower: index_open takes 1.495 times as long (1.486 to 1.504); the limit is 10 "
                "%\n"},
           Case{"build:1.3", "60", 0, "ok: nothing takes over 60 % longer\n"},
           Case{"build:1.4", "10%", 0, "ok: nothing takes over 10 % longer\n"},
           Case{"build:1.4", "0", kSlower, ""},
           Case{"build:1.5", "10%", kTooLittle,
                "too little data: each side needs 5 events of a label\n"},
       }) {
    const ProcessResult gate =
        Probe(file, {"compare", "build:1.2", each.changed, "--fail-above", each.allowed});
    EXPECT_EQ(gate.exit_status, each.status) << gate.output << gate.errors;
    EXPECT_THAT(gate.output, EndsWith("\n" + each.last_line));
  }
  const ProcessResult told = Probe(file, {"compare", "build:1.2", "build:1.3"});
  EXPECT_EQ(told.exit_status, 0);
}

TEST_F(ProbeCommandTest, ComparesAsJson) {
  const std::string file = Database({{}, {.first = 50, .build = "1.3", .load_ms = 60}});
  const ProcessResult compared =
      Probe(file, {"compare", "build:1.2", "build:1.3", "--fail-above", "10%", "--json"});
  EXPECT_EQ(compared.exit_status, kSlower);
  const json::value parsed = json::parse(compared.output);
  EXPECT_EQ(parsed.at("change"), "more");
  const json::value& label = parsed.at("labels").at(0);
  EXPECT_EQ(label.at("label"), "index_open");
  EXPECT_EQ(label.at("steps").at(1).at("name"), "data loaded");
  EXPECT_EQ(label.at("steps").at(1).at("change"), "more");
  EXPECT_EQ(label.at("steps").at(0).at("change"), "none");
  EXPECT_NEAR(label.at("steps").at(1).at("ratio").as_double(), 2, 0.02);
}

TEST_F(ProbeCommandTest, LabelsAreComparedEachOnItsOwn) {
  const std::string file =
      Database({{},
                {.first = 50, .build = "1.3"},
                {.first = 100, .label = "search"},
                {.first = 150, .build = "1.3", .load_ms = 60, .label = "search"}});
  const ProcessResult both =
      Probe(file, {"compare", "build:1.2", "build:1.3", "--fail-above", "10%"});
  EXPECT_EQ(both.exit_status, kSlower);
  EXPECT_THAT(both.output, AllOf(HasSubstr("index_open (program editor, tags warm): old 10 events"),
                                 HasSubstr("search (program editor, tags warm): old 10 events"),
                                 HasSubstr("\nslower: search takes")));
  EXPECT_EQ(Probe(file, {"compare", "build:1.2", "build:1.3", "--fail-above", "10%", "--label",
                         "index_open"})
                .exit_status,
            0);
}

// An unchanged program; half of the base is warm, and the new build has only cold runs.
TEST_F(ProbeCommandTest, RunsWithOtherTagsAreNeverMixed) {
  const std::string file =
      Database({{.count = 16},
                {.first = 50, .count = 17, .tags = {"cold"}, .load_ms = 200},
                {.first = 100, .build = "1.3", .tags = {"cold"}, .load_ms = 200},
                {.first = 150, .build = "1.3", .load_ms = 10, .program = "viewer"}});
  const ProcessResult gate =
      Probe(file, {"compare", "build:1.2", "build:1.3", "--fail-above", "10%"});
  EXPECT_EQ(gate.exit_status, 0) << gate.output << gate.errors;
  EXPECT_THAT(
      gate.output,
      AllOf(HasSubstr("index_open (program editor, tags cold): old 17 events, new 10 events"),
            HasSubstr("only the old side has it: index_open (program editor, tags warm), 16"),
            HasSubstr("only the new side has it: index_open (program viewer, tags warm), 10"),
            EndsWith("ok: nothing takes over 10 % longer\n")));
  const ProcessResult apart = Probe(file, {"compare", "build:1.2,tag:warm", "build:1.3,tag:cold"});
  EXPECT_EQ(apart.exit_status, 0) << "tags that both name may be compared: " << apart.errors;
  const ProcessResult none =
      Probe(file, {"compare", "program:viewer", "session:ab32", "--fail-above", "10%"});
  EXPECT_EQ(none.exit_status, kUsage);
  EXPECT_THAT(none.errors, HasSubstr("no events of both sides have the same label, program and"));
  const ProcessResult history = Probe(file, {"history", "index_open", "--json"});
  const json::value lines = json::parse(history.output).at("lines");
  ASSERT_EQ(lines.as_array().size(), 3U);
  EXPECT_EQ(lines.at(0).at("tags").at(0), "cold");
  EXPECT_EQ(lines.at(0).at("builds").at(1).at("change").at("change"), "none");
}

TEST_F(ProbeCommandTest, LostPointsAndDifferentLoadAreReported) {
  const std::string file = Path("events.db");
  probe::Batch base = BatchOf({});
  for (probe::Run& run : base.runs) run.observed_ns = 1000;
  base.runs[3].lost_hits = 4000;
  probe::Batch changed = BatchOf({.first = 50, .build = "1.3"});
  for (std::size_t i = 0; i < changed.runs.size(); ++i) {
    changed.runs[i].observed_ns = 1000;
    changed.runs[i].waited_ns = 400 + i;
  }
  Add(file, base);
  Add(file, changed);
  const ProcessResult compared = Probe(file, {"compare", "build:1.2", "build:1.3"});
  EXPECT_THAT(compared.output,
              AllOf(HasSubstr("old side: 4,000 points were lost in 1 of 10 runs"),
                    HasSubstr("ran under different load: their programs waited for a CPU 0")));
  const json::value parsed =
      json::parse(Probe(file, {"compare", "build:1.2", "build:1.3", "--json"}).output);
  EXPECT_EQ(parsed.at("base").at("lost_points"), 4000);
  EXPECT_EQ(parsed.at("new").at("lost_points"), 0);
  EXPECT_EQ(parsed.at("loads_differ"), true);
  EXPECT_NEAR(parsed.at("new").at("cpu_wait_share").as_double(), 0.4045, 1e-6);
  const ProcessResult list = Probe(file, {"list", "--build", "1.2"});
  EXPECT_THAT(list.output, HasSubstr("4,000 points were lost in 1 of 10 runs"));
  const ProcessResult history = Probe(file, {"history", "index_open"});
  EXPECT_THAT(history.output, EndsWith("\n4,000 points were lost in 1 of 20 runs; whole events may "
                                       "be missing\n"));
  EXPECT_EQ(json::parse(Probe(file, {"history", "index_open", "--json"}).output).at("lost_points"),
            4000);
}

TEST_F(ProbeCommandTest, SidesMayBeOfOtherDatabases) {
  const std::string file = Database({{.first = 50, .build = "1.3", .load_ms = 60}});
  const std::string base = Path("base.db");
  Add(base, BatchOf({}));
  const ProcessResult compared =
      Probe(file, {"compare", base + ":", "build:1.3", "--fail-above", "10%"});
  EXPECT_EQ(compared.exit_status, kSlower) << compared.errors;
  EXPECT_EQ(Probe(file, {"compare", base + ":build:1.2,tag:warm", "all"}).exit_status, 0);
}

TEST_F(ProbeCommandTest, SidesThatAreEmptyOrShareEventsAreRefused) {
  const std::string file = Database({{}});
  const ProcessResult none = Probe(file, {"compare", "build:1.2", "build:1.9"});
  EXPECT_EQ(none.exit_status, kNotFound);
  EXPECT_THAT(none.errors, HasSubstr("no event matches build:1.9"));
  const ProcessResult shared = Probe(file, {"compare", "build:1.2", "tag:warm"});
  EXPECT_EQ(shared.exit_status, kUsage);
  EXPECT_THAT(shared.errors, HasSubstr("10 events are on both sides"));
  EXPECT_EQ(Probe(file, {"compare", "all", "all", "--fail-above", "much"}).exit_status, kUsage);
}

TEST_F(ProbeCommandTest, AHistoryStandsInTheOrderOfBuilds) {
  const std::string file = Database({{},
                                     {.first = 50, .build = "1.10", .load_ms = 60},
                                     {.first = 90, .count = 1, .build = "1.11", .load_ms = 10}});
  const ProcessResult history = Probe(file, {"history", "index_open"});
  EXPECT_EQ(history.exit_status, 0) << history.errors;
  EXPECT_EQ(history.output,
            "index_open (program editor, tags warm)\n"
            "  BUILD  FIRST (UTC)          EVENTS    MEDIAN                                  HALF "
            "OF THEM  "
            "RATIO       Q  CHANGE\n"
            "  1.2    2020-09-13 12:26:41      10  60.60 ms  |█████████████       |  60.30 ms to "
            "60.90 ms  "
            "    -       -\n"
            "  1.10   2020-09-13 12:27:30      10  90.60 ms  |████████████████████|  90.30 ms to "
            "90.90 ms  "
            "1.495  <0.001  slower\n"
            "  1.11   2020-09-13 12:28:10       1  40.00 ms  |█████████           |  40.00 ms to "
            "40.00 ms  "
            "    -       -  too little data\n");
  const json::value parsed = json::parse(Probe(file, {"history", "index_open", "--json"}).output);
  EXPECT_EQ(parsed.at("lines").at(0).at("builds").at(1).at("build"), "1.10");
  EXPECT_EQ(parsed.at("lines").at(0).at("builds").at(1).at("change").at("change"), "more");
  EXPECT_EQ(parsed.at("lines").at(0).at("builds").at(2).at("change").at("change"),
            "too_little_data");
  const ProcessResult unknown = Probe(file, {"history", "index_opne"});
  EXPECT_EQ(unknown.exit_status, kNotFound);
  EXPECT_THAT(unknown.errors, HasSubstr("did you mean index_open?"));
}

TEST(EventSelectionTest, IsWhatPeopleSay) {
  const auto all = ParseEventSelection("tag:cold,build:1.2,tag:a\\,b,label:x:y,session:aB");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->tags, (std::vector<std::string>{"cold", "a,b"}));
  EXPECT_EQ(all->build, "1.2");
  EXPECT_EQ(all->label, "x:y");
  EXPECT_EQ(all->session, 0xabu);
  EXPECT_EQ(ParseEventSelection("dir/base.db:tag:cold")->file, "dir/base.db");
  EXPECT_EQ(ParseEventSelection("base.db:")->file, "base.db");
  EXPECT_TRUE(ParseEventSelection("base.db:last")->last);
  EXPECT_EQ(ParseEventSelection("ABc,12.7")->names[0].digits, "abc");
  EXPECT_EQ(ParseEventSelection("ABc,12.7")->names[1].number, 7u);
  EXPECT_EQ(ParseEventSelection("tag:a.b")->file, "");
  for (const char* const wrong :
       {"", ",", "tag:", "abc,", "xyz", "session:0", "session:xyz", "12.", "12.x", "tga:x",
        "12345678123456781.2", "123456781234567812345678123456789"}) {
    EXPECT_FALSE(ParseEventSelection(wrong)) << wrong;
  }
}

TEST(EventSelectionTest, APercentageIsWithOrWithoutItsSign) {
  EXPECT_EQ(ParsePercent("10%"), 0.1);
  EXPECT_EQ(ParsePercent("2.5"), 0.025);
  EXPECT_EQ(ParsePercent("0"), 0.0);
  for (const char* const wrong : {"", "%", "-1", "1e3", "nan", "10001", "1.2.3", "10 %", "10%%"}) {
    EXPECT_FALSE(ParsePercent(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace fieldcost::cli
