// Importers of calls that begin and end: enter/exit text, Chrome's trace events, speedscope's
// events.

#include <gmock/gmock.h>

#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/tools/exchange/read_as.h"
#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"

namespace fieldcost::exchange {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Error ErrorOf(const std::string& text, Format format) {
  const Result<Imported> imported = Import(text, {.format = format});
  return imported ? Error{ErrorCode{}, ""} : imported.error();
}

TEST(ImportEventsTest, TimeIsTheFunctionsOnTopByThread) {
  const Imported imported = ReadAs(
      "# a comment\n"
      "1000 7 enter app!main\n"
      "1100 7 enter libz.so.1!inflate(z_stream*, int)\r\n"
      "1150 8 enter app!worker\n"
      "\n"
      "1400 7 exit libz.so.1!inflate(z_stream*, int)\n"
      "1450 7 enter libz.so.1!inflate(z_stream*, int)\n"
      "1500 7 exit\n"
      "1600 7 exit app!main\n"
      "5000 7 enter app!main\n"
      "5001 7 exit app!main\n"
      "1850 8 exit app!worker",
      Format::kEvents);
  EXPECT_THAT(imported.untrusted_remarks, IsEmpty());
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("app!main calls=2 wall=251",
                          "app!main;libz.so!inflate(z_stream*, int) calls=2 wall=350",
                          "app!worker calls=1 wall=700"));
  EXPECT_THAT(imported.tree.metrics,
              ElementsAre(tree::Metric{.name = "calls", .unit = tree::Unit::kCount},
                          tree::Metric{.name = "wall"}));
}

TEST(ImportEventsTest, CountsInconsistentEventsWithoutGuessing) {
  const Imported imported = ReadAs(
      "1000 7 enter a\n"
      "1100 7 exit b\n"  // never entered
      "1200 7 enter b\n"
      "1300 7 enter c\n"
      "1250 7 enter d\n"  // before the previous one
      "1400 7 exit b\n"   // c and d have no exit
      "1450 7 lost 20\n"
      "1500 7 enter e\n"  // never exits
      "1600 8 exit a\n",  // in another thread
      Format::kEvents);
  EXPECT_THAT(imported.untrusted_remarks,
              UnorderedElementsAre("exits without an entry, left out: 2",
                                   "calls without an exit, ended with their caller: 2",
                                   "times before the last one of their thread, where no time "
                                   "passes: 1",
                                   "events lost, according to the file: 20",
                                   "calls open at the end, ended with the last event: 2"));
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("a calls=1 wall=300", "a;b calls=1 wall=100", "a;b;c calls=1",
                          "a;b;c;d calls=1 wall=100", "a;e calls=1"));
}

TEST(ImportEventsTest, ErrorsTellTheLine) {
  EXPECT_THAT(ErrorOf("1 1 enter a\n2 1 leave a\n", Format::kEvents).message,
              HasSubstr("reading it as events: line 2 is not an event"));
  for (const char* line : {"x 1 enter a", "1 1 enter", "1 1", "-1 1 enter a", "1 1 lost",
                           ""
                           "18446744073709551616 1 enter a"}) {
    EXPECT_EQ(ErrorOf(line, Format::kEvents).code, ErrorCode::kCorrupt) << line;
  }
  EXPECT_EQ(ErrorOf("1 1 enter " + std::string(20'000, 'f'), Format::kEvents).code,
            ErrorCode::kTooLarge);
}

TEST(ImportEventsTest, TheWorkedExampleIsAsTheReadmeSays) {
  const Imported imported =
      ReadAs(ReadFile(FIELDCOST_FUZZ_CORPUS "/events/example", kKiB).value(), Format::kEvents);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("app!main calls=1 wall=300", "app!main;libz.so!inflate calls=1 wall=300",
                          "app!worker calls=1 wall=700"));
  EXPECT_THAT(imported.untrusted_remarks, ElementsAre("events lost, according to the file: 3"));
}

TEST(ImportChromeTest, NestsBothKindsOfEventsOfAThread) {
  const Imported imported = ReadAs(R"([
    {"name":"a","ph":"B","ts":1,"pid":1,"tid":1},
    {"name":"b","ph":"X","ts":2,"dur":1,"pid":1,"tid":1},
    {"ph":"E","ts":5,"pid":1,"tid":1}])",
                                   Format::kChrome);
  EXPECT_THAT(LinesOf(imported.tree), ElementsAre("a calls=1 wall=3000", "a;b calls=1 wall=1000"));
  EXPECT_THAT(imported.untrusted_remarks, IsEmpty());
}

constexpr char kUftrace[] = R"({"traceEvents":[
{"ts":0,"ph":"M","pid":31022,"name":"process_name","args":{"name":"[31022] victim"}},
{"ts":40157422000.675,"ph":"B","pid":31022,"name":"main"},
{"ts":40157422001.386,"ph":"B","pid":31022,"name":"f"},
{"ts":40157422001.556,"ph":"B","pid":31022,"name":"g"},
{"ts":40157423529.559,"ph":"E","pid":31022,"name":"g"},
{"ts":40157428063.935,"ph":"E","pid":31022,"name":"linux:schedule"},
{"ts":40157428240.187,"ph":"E","pid":31022,"name":"main"}
], "displayTimeUnit": "ns", "metadata": {"version":"uftrace v0.13"} })";

TEST(ImportChromeTest, UftracesTimesAreExact) {
  const Imported imported = ReadAs(kUftrace, Format::kChrome);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("main calls=1 wall=711", "main;f calls=1 wall=4710798",
                          "main;f;g calls=1 wall=1528003"));
  EXPECT_THAT(imported.untrusted_remarks,
              UnorderedElementsAre("exits without an entry, left out: 1",
                                   "calls without an exit, ended with their caller: 1"));
}

TEST(ImportChromeTest, CompleteEventsNestInAnyOrder) {
  const Imported imported = ReadAs(R"([
    {"name":"crc32","ph":"X","ts":12,"dur":3.25,"pid":1,"tid":7},
    {"name":"inflate","cat":"zip","ph":"X","ts":10,"dur":20,"pid":1,"tid":7},
    {"name":"main","ph":"X","ts":0,"dur":100.5,"pid":1,"tid":7,"args":{"name":"x","dur":9}},
    {"name":"next","ph":"X","ts":30,"dur":1,"pid":1,"tid":7},
    {"name":"across","ph":"X","ts":95,"dur":20,"pid":1,"tid":7},
    {"name":"tick","ph":"i","ts":26,"pid":1,"tid":7,"s":"t"},
    {"name":"late","ph":"X","ts":"soon","dur":20,"pid":1,"tid":7},
    {"name":"short","ph":"X","ts":1,"pid":1,"tid":7},
    {"name":"main","ph":"X","ts":0,"dur":50,"pid":1,"tid":"8"}])",
                                   Format::kChrome);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("main calls=2 wall=129500", "main;inflate calls=1 wall=16750",
                          "main;inflate;crc32 calls=1 wall=3250", "main;next calls=1 wall=1000"));
  EXPECT_THAT(imported.untrusted_remarks,
              UnorderedElementsAre("calls that begin in another and end after it, left out: 1",
                                   "events of kinds other than B, E and X, left out: 1",
                                   "events whose time is missing or beyond 2^64 ns, left out: 1",
                                   "events without a duration, left out: 1"));
}

TEST(ImportChromeTest, BadFilesAreRefused) {
  EXPECT_EQ(ErrorOf("{}", Format::kChrome).code, ErrorCode::kCorrupt);
  EXPECT_EQ(ErrorOf("{\"traceEvents\":1}", Format::kChrome).code, ErrorCode::kCorrupt);
  EXPECT_THAT(ErrorOf("[{\"ph\":\"B\"}x", Format::kChrome).message, HasSubstr("at byte 11"));
  EXPECT_THAT(ErrorOf("[{\"ph\":\"B\"},", Format::kChrome).message,
              HasSubstr("none of its 1 event"));
  // Sums above 64 bits.
  std::string much = "[";
  for (int i = 0; i < 2; ++i) {
    much += (i == 0 ? "" : ",") +
            fmt::format(R"({{"name":"f","ph":"X","ts":0,"dur":18446744073709551,"tid":{}}})", i);
  }
  EXPECT_EQ(ErrorOf(much + "]", Format::kChrome).code, ErrorCode::kTooLarge);
}

TEST(ImportSpeedscopeTest, EventsAndSamplesOfOtherProgramsAreRead) {
  const Imported imported =
      ReadAs(R"({"$schema":"https://www.speedscope.app/file-format-schema.json",
    "profiles":[
     {"type":"evented","name":"thread 1","unit":"microseconds","startValue":0,"endValue":20.5,
      "events":[{"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":2},
                {"type":"C","frame":1,"at":12.25},{"type":"C","frame":0,"at":20.5}]},
     {"type":"sampled","name":"thread 2","unit":"seconds","startValue":0,"endValue":0.3,
      "samples":[[0],[0,1],[]],"weights":[0.1,0.15,0.05]},
     {"weights":[10],"samples":[[1]],"unit":"bytes","name":"heap","type":"sampled"}],
    "shared":{"frames":[{"name":"main","file":"main.cc","line":3},{"name":"inflate"}]}})",
             Format::kSpeedscope);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre(" wall=50000000", "inflate bytes=10", "main calls=1 wall=100010250",
                          "main;inflate calls=1 wall=150010250"));
  EXPECT_THAT(imported.untrusted_remarks, IsEmpty());
  EXPECT_EQ(imported.tree.metrics.back(),
            (tree::Metric{.name = "wall", .per_sample = 100'000'000}));
}

TEST(ImportSpeedscopeTest, BadFilesAreRefused) {
  const auto error = [](const std::string& profile) {
    return ErrorOf(R"({"profiles":[)" + profile + R"(],"shared":{"frames":[{"name":"f"}]}})",
                   Format::kSpeedscope);
  };
  EXPECT_EQ(error("").code, ErrorCode::kCorrupt);
  EXPECT_EQ(error(R"({"type":"sampled","unit":"none","samples":[[0]],"weights":[1]})").code,
            ErrorCode{});
  for (const char* profile : {
           R"({"type":"sampled","unit":"none","samples":[[1]],"weights":[1]})",
           R"({"type":"sampled","unit":"none","samples":[[-1]],"weights":[1]})",
           R"({"type":"sampled","unit":"none","samples":[[0]],"weights":[]})",
           R"({"type":"evented","unit":"none","events":[{"type":"O","frame":1,"at":1}]})",
           R"({"type":"evented","unit":"none","events":[{"type":"O","frame":0}]})",
           R"({"type":"evented","unit":"none","events":[{"type":"X","frame":0,"at":1}]})",
           R"({"unit":"none"})",
       }) {
    EXPECT_EQ(error(profile).code, ErrorCode::kCorrupt) << profile;
    EXPECT_THAT(error(profile).message,
                ::testing::AnyOf(HasSubstr("profile 1"), HasSubstr("byte")));
  }
}

}  // namespace
}  // namespace fieldcost::exchange
