// `fieldcost probe list|show|mark|purge|export` with databases created here.
#include <boost/json.hpp>

#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/tools/cli/probe_fixture.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
using ::testing::StartsWith;

constexpr int kUsage = 64;
constexpr int kCorrupt = 65;
constexpr int kNotFound = 66;

TEST_F(ProbeCommandTest, ListsEventsNewestFirst) {
  const ProcessResult list = Probe(
      Database({{.count = 2}, {.first = 50, .count = 1, .build = "1.3", .tags = {"cold", "disk"}}}),
      {"list"});
  EXPECT_EQ(list.exit_status, 0) << list.errors;
  EXPECT_EQ(list.output,
            "BEGUN (UTC)          LABEL          TOTAL  PROGRAM  BUILD  TAGS       EVENT\n"
            "2020-09-13 12:27:30  index_open  60.00 ms  editor   1.3    cold,disk  00000032.1\n"
            "2020-09-13 12:26:42  index_open  60.30 ms  editor   1.2    warm       00000002.1\n"
            "2020-09-13 12:26:41  index_open  60.00 ms  editor   1.2    warm       00000001.1\n");
  EXPECT_THAT(list.errors, IsEmpty());
}

TEST_F(ProbeCommandTest, FiltersWhatItLists) {
  const std::string file =
      Database({{.count = 3},
                {.first = 50, .count = 2, .build = "1.3", .tags = {"cold", "disk"}},
                {.first = 60, .count = 1, .label = "close", .program = "viewer"}});
  const auto count = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "list");
    arguments.push_back("--json");
    const ProcessResult list = Probe(file, arguments);
    EXPECT_EQ(list.exit_status, 0) << list.errors;
    return json::parse(list.output).at("events").as_array().size();
  };
  EXPECT_EQ(count({}), 6u);
  EXPECT_EQ(count({"--label", "close"}), 1u);
  EXPECT_EQ(count({"--build", "1.3"}), 2u);
  EXPECT_EQ(count({"--tag", "cold"}), 2u);
  EXPECT_EQ(count({"--tag", "cold", "--tag", "disk"}), 2u);
  EXPECT_EQ(count({"--tag", "cold", "--tag", "warm"}), 0u);
  EXPECT_EQ(count({"--program", "viewer"}), 1u);
  EXPECT_EQ(count({"--since", "2020-09-13T12:27:30"}), 3u);
  EXPECT_EQ(count({"--until", "2020-09-13T12:27:30"}), 3u);
  EXPECT_EQ(count({"--limit", "1"}), 1u);
  EXPECT_EQ(count({"--limit", "0"}), 6u);
  EXPECT_THAT(Probe(file, {"list", "--limit", "2"}).output, HasSubstr("4 older: --limit\n"));
}

TEST_F(ProbeCommandTest, OmitsEventsSetAsideAndExplainsOnRequest) {
  const std::string file = Database({{.count = 20}, {.first = 90, .count = 1, .load_ms = 400}});
  const ProcessResult list = Probe(file, {"list", "--limit", "1"});
  EXPECT_THAT(list.output,
              AllOf(HasSubstr("00000014.1"), HasSubstr("19 older: --limit\n1 set aside: --all\n")));
  const ProcessResult all = Probe(file, {"list", "--all", "--limit", "1"});
  EXPECT_THAT(all.output, HasSubstr("0000005a.1  7.1 times the median of 21 such runs"));
  EXPECT_THAT(Probe(file, {"show", "0000005a.1"}).output,
              HasSubstr("\n  set aside: 7.1 times the median of 21 such runs\n"));
  const json::value parsed = json::parse(Probe(file, {"list", "--all", "--json"}).output);
  const json::value& newest = parsed.at("events").at(0);
  EXPECT_EQ(newest.at("set_aside").at("why"), "outlier");
  EXPECT_EQ(newest.at("total_ns"), "430000000");
  EXPECT_TRUE(parsed.at("events").at(1).at("set_aside").is_null());
}

TEST_F(ProbeCommandTest, ShowsAnEventStepByStep) {
  const std::string file = Database({{.count = 1}});
  const ProcessResult shown = Probe(file, {"show", "last"});
  EXPECT_EQ(shown.exit_status, 0) << shown.errors;
  EXPECT_EQ(
      shown.output,
      "index_open  60.00 ms  2020-09-13 12:26:41 UTC\n"
      "  event 00000001000000770000000000000001\n"
      "  editor, build 1.2, tags warm, session 000000000000ab01\n"
      "\n"
      "  STEP             TIME                               SHARE  THREAD     POINT            "
      "VALUE\n"
      "  file opened  10.00 ms  |████                    |  16.7 %  5          src/index.cc:14   "
      "4096\n"
      "  data loaded  30.00 ms  |████████████            |  50.0 %  6 (other)  src/index.cc:40\n"
      "  view ready   20.00 ms  |████████                |  33.3 %  5 (other)  src/view.cc:7\n");
  const ProcessResult stacks = Probe(file, {"show", "00000001.1", "--stacks"});
  EXPECT_THAT(stacks.output, HasSubstr("      #0 Load at src/index.cc:40 (editor)\n"
                                       "      #1 main at src/main.cc:3 (editor)\n"));
  const json::value parsed = json::parse(Probe(file, {"show", "last", "--json"}).output);
  const json::value& event = parsed.at("events").at(0);
  EXPECT_EQ(event.at("steps").at(1).at("ns"), "30000000");
  EXPECT_EQ(event.at("points").at(2).at("stack").at(0).at("function"), "Load");
  EXPECT_TRUE(event.at("points").at(0).at("stack").is_null());
}

TEST_F(ProbeCommandTest, FindsAnEventByAnyBeginningThatMeansOne) {
  const std::string file = Database({{.count = 3}});
  for (const std::string name : {"00000002000000770000000000000001", "00000002", "00000002.1",
                                 "0000000200000077.1", "00000002000000770"}) {
    EXPECT_THAT(Probe(file, {"show", name}).output, HasSubstr("event 0000000200000077")) << name;
  }
  const ProcessResult several = Probe(file, {"show", "0000000"});
  EXPECT_EQ(several.exit_status, kUsage);
  EXPECT_THAT(several.errors, HasSubstr("0000000 matches 3 events: 00000003.1 (index_open), "));
  const ProcessResult none = Probe(file, {"show", "abc"});
  EXPECT_EQ(none.exit_status, kNotFound);
  EXPECT_THAT(none.errors, HasSubstr("no event abc; fieldcost probe list --all lists them"));
  EXPECT_EQ(Probe(file, {"show", "nonsense"}).exit_status, kUsage);
}

TEST_F(ProbeCommandTest, ShowsAllEventsOfARun) {
  probe::Batch batch = BatchOf({.count = 1});
  probe::Batch second = BatchOf({.count = 1, .label = "search"});
  for (probe::Hit& hit : second.hits) hit.event.number = 2;
  second.events[0].id.number = 2;
  const std::string file = Path("events.db");
  Add(file, batch);
  Add(file, second);
  EXPECT_THAT(Probe(file, {"show", "0000000100000077"}).output,
              AllOf(StartsWith("index_open"), HasSubstr("\nsearch  ")));
}

TEST_F(ProbeCommandTest, SetsShowsAndRemovesMarks) {
  const std::string file = Database({{.count = 20}, {.first = 90, .count = 1, .load_ms = 400}});
  ProcessResult marked =
      Probe(file, {"mark", "00000001.1", "set-aside", "--reason", "a backup ran"});
  EXPECT_EQ(marked.exit_status, 0) << marked.errors;
  EXPECT_EQ(marked.output, "00000001000000770000000000000001 (index_open) is set aside\n");
  EXPECT_THAT(Probe(file, {"list", "--all"}).output, HasSubstr("00000001.1  a backup ran\n"));
  marked = Probe(file, {"mark", "0000005a.1", "keep", "--json"});
  EXPECT_EQ(json::parse(marked.output).at("event").at("mark"), "kept");
  EXPECT_THAT(Probe(file, {"list"}).output,
              AllOf(HasSubstr("0000005a.1"), Not(HasSubstr("00000001.1"))));
  EXPECT_EQ(Probe(file, {"mark", "00000001.1", "none"}).exit_status, 0);
  EXPECT_THAT(Probe(file, {"list"}).output, HasSubstr("00000001.1"));
  const ProcessResult wrong = Probe(file, {"mark", "last", "keeps"});
  EXPECT_EQ(wrong.exit_status, kUsage);
  EXPECT_THAT(wrong.errors, HasSubstr("keep"));
}

TEST_F(ProbeCommandTest, PurgesWhatIsSetAsideAndNothingElse) {
  const std::string file = Database({{.count = 20}, {.first = 90, .count = 1, .load_ms = 400}});
  const ProcessResult asked = Probe(file, {"purge"});
  EXPECT_EQ(asked.exit_status, kUsage);
  EXPECT_THAT(asked.errors, HasSubstr("1 event, but there is no terminal; use --yes"));
  EXPECT_EQ(Probe(file, {"purge", "--yes"}).output, "removed: 1 event\n");
  EXPECT_EQ(Probe(file, {"purge", "--json"}).output, "{\"purged\":0}\n");
  const json::value left = json::parse(Probe(file, {"list", "--all", "--json"}).output);
  EXPECT_EQ(left.at("events").as_array().size(), 20u);
  EXPECT_EQ(Probe(file, {"purge", "--all", "--yes"}).output, "removed: 20 events\n");
  EXPECT_EQ(Probe(file, {"list", "--all"}).output, "no events\n");
}

TEST_F(ProbeCommandTest, ExportsWhatIsChosen) {
  const std::string file = Database({{.count = 3}, {.first = 9, .count = 1, .build = "1.3"}});
  const ProcessResult otlp = Probe(file, {"export", "build:1.2", "--to", "otlp"});
  EXPECT_EQ(otlp.exit_status, 0) << otlp.errors;
  EXPECT_EQ(json::parse(otlp.output).at("resourceSpans").as_array().size(), 3u);
  const std::string out = Path("trace.json");
  EXPECT_THAT(Probe(file, {"export", "last", "--to", "chrome", "-o", out}).output, IsEmpty());
  EXPECT_TRUE(json::parse(*ReadFile(out, kMiB)).as_object().contains("traceEvents"));
  EXPECT_EQ(Probe(file, {"export", "build:9", "--to", "otlp"}).exit_status, kNotFound);
  EXPECT_EQ(Probe(file, {"export", "last", "--to", "jaeger"}).exit_status, kUsage);
}

TEST_F(ProbeCommandTest, ExplainsHowToRecordEventsWhenThereAreNone) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list"}, {"show", "last"}, {"history", "x"}}) {
    std::vector<std::string> words = {"probe"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const ProcessResult none = Cli(words);
    EXPECT_EQ(none.exit_status, kNotFound);
    EXPECT_THAT(none.errors, HasSubstr("fieldcost probe run -- PROGRAM records some"));
  }
  EXPECT_EQ(Probe(Path("missing.db"), {"list"}).exit_status, kNotFound);
}

TEST_F(ProbeCommandTest, FilesOfAnotherKindAreRefusedAndStayAsTheyAre) {
  const std::string text = Path("text.db");
  std::ofstream(text) << std::string(5000, 'x');
  EXPECT_EQ(Probe(text, {"list"}).exit_status, kCorrupt);
  const std::string other = Path("other.db");
  {
    auto database = *sqlite::Database::Open(other, sqlite::Database::Access::kCreate);
    ASSERT_TRUE(database.Execute("CREATE TABLE t(x)"));
  }
  const std::string before = *ReadFile(other, kMiB);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"list"}, {"mark", "last", "keep"}, {"purge", "--yes"}}) {
    const ProcessResult refused = Probe(other, arguments);
    EXPECT_EQ(refused.exit_status, kUsage);
    EXPECT_THAT(refused.errors, HasSubstr("not a database of probe points"));
  }
  EXPECT_EQ(*ReadFile(other, kMiB), before);
}

TEST_F(ProbeCommandTest, TextsOfOthersCannotSteerTheTerminal) {
  const std::string hostile =
      "\x1b]0;owned\x07\n\x9b"
      "31m";
  probe::Batch batch = BatchOf({.count = 6, .build = hostile, .tags = {hostile}});
  batch.runs[0].program = hostile;
  batch.events[0].label = hostile;
  for (probe::Site& site : batch.sites) site.function = site.file = hostile;
  batch.sites[2].label = hostile;
  for (probe::Frame& frame : batch.frames) frame = {hostile, hostile, hostile, 1};
  const std::string file = Path("events.db");
  Add(file, batch);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"list", "--all"},
           {"list", "--json"},
           {"show", "00000001.1", "--stacks"},
           {"show", "00000001.1", "--json"},
           {"show", "0000"},
           {"history", hostile},
           {"history", "index_open"},
           {"compare", "00000001.1", "00000002.1"},
           {"compare", "00000001.1", "00000002.1", "--json"},
           {"export", "all", "--to", "otlp"},
           {"export", "all", "--to", "chrome"},
           {"mark", "00000001.1", "set-aside", "--reason", hostile},
           {"list", "--all", "--label", hostile},
           {"show", hostile}}) {
    const ProcessResult result = Probe(file, arguments);
    for (const std::string& text : {result.output, result.errors}) {
      EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << arguments[0];
      EXPECT_THAT(text, Not(HasSubstr("\x07"))) << arguments[0];
      EXPECT_THAT(text, Not(HasSubstr("owned\n"))) << arguments[0];
    }
  }
}

TEST_F(ProbeCommandTest, AMistypedCommandOrChoiceIsNamedWithWhatWasMeant) {
  const ProcessResult mistyped = Cli({"probe", "lsit"});
  EXPECT_EQ(mistyped.exit_status, kUsage);
  EXPECT_THAT(mistyped.errors, HasSubstr("list"));
  const ProcessResult key = Cli({"probe", "compare", "tga:cold", "tag:warm"});
  EXPECT_EQ(key.exit_status, kUsage);
  EXPECT_THAT(key.errors, HasSubstr("did you mean tag:?"));
}

}  // namespace
}  // namespace fieldcost::cli
