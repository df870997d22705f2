// Files of other programs as found in practice: truncated, out of order, with fractions, signs and
// blanks. Unambiguous content is read; omissions are reported.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "common/recording/recording.h"
#include "common/tree/tree_limits.h"
#include "tests/tools/exchange/read_as.h"
#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/gzip.h"
#include "tools/exchange/pprof.h"

namespace fieldcost::exchange {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

Error ErrorOf(const std::string& text) {
  const Result<Imported> imported = Import(text);
  return imported ? Error{ErrorCode{}, ""} : imported.error();
}

std::string Repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

// The values of the only line that ends with this frame.
std::string LineOf(const Imported& imported, std::string_view frame) {
  for (const std::string& line : LinesOf(imported.tree)) {
    if (line.substr(0, line.find(' ')).ends_with(frame)) return line.substr(line.find(' ') + 1);
  }
  return "";
}

TEST(LenientFoldedTest, TrimsBlanksAroundLinesAndFrames) {
  for (const char* text :
       {"main;parse 10 \nmain;draw 7\t\n", "main;parse 10\r\nmain;draw 7\r\n",
        "    main;    parse   10\n\tmain;\tdraw\t7", "main ;parse 10\nmain; draw 7",
        "\xef\xbb\xbfmain;parse 10\nmain;draw 7\n",
        "# a comment\n\n  \nmain;parse 10\nmain;draw 7\n"}) {
    const Imported imported = ReadAs(text, Format::kFolded);
    EXPECT_THAT(LinesOf(imported.tree), ElementsAre("main;draw samples=7", "main;parse samples=10"))
        << text;
    EXPECT_THAT(imported.untrusted_remarks, IsEmpty()) << text;
  }
  // Blanks in our own files are escaped and stay.
  EXPECT_THAT(LinesOf(ReadAs("\\x20main;f\\x20 1\n", Format::kFolded).tree),
              ElementsAre("\\x20main;f\\x20 samples=1"));
}

TEST(LenientFoldedTest, FractionsAreExactInASmallerUnit) {
  const Imported imported = ReadAs("foo;bar;baz 0.156\nfoo;bar 0.98\nfoo 2\n", Format::kFolded);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("foo milli-samples=2000", "foo;bar milli-samples=980",
                          "foo;bar;baz milli-samples=156"));
  EXPECT_THAT(imported.untrusted_remarks,
              ElementsAre("counts have fractions: they are in units of 10^-3, as milli-samples"));
  EXPECT_THAT(LinesOf(ReadAs("a 1.00\nb 2e3\nc +4\n", Format::kFolded).tree),
              ElementsAre("a samples=1", "b samples=2000", "c samples=4"));
  // The decimals of a third do not end.
  const Imported third = ReadAs("a 0.33333333333333331\nb 1.5\n", Format::kFolded);
  EXPECT_THAT(LinesOf(third.tree),
              ElementsAre("a nano-samples=333333333", "b nano-samples=1500000000"));
  EXPECT_THAT(third.untrusted_remarks, Contains("counts whose last decimals were cut off: 1"));
}

TEST(LenientFoldedTest, NegativeCountsAreLeftOutAndReported) {
  const Imported imported = ReadAs("a;b -3\na 4\n", Format::kFolded);
  EXPECT_THAT(LinesOf(imported.tree), ElementsAre("a samples=4"));
  EXPECT_THAT(imported.untrusted_remarks, ElementsAre("negative counts, left out: 1"));
  EXPECT_THAT(ErrorOf("a -3\n").message, HasSubstr("all of its counts are negative"));
}

TEST(LenientFoldedTest, TwoCountsOnEachLineAreBothRead) {
  const Imported imported = ReadAs("main;parse 10 25\nmain;draw 7 7\nmain 0 3\n", Format::kFolded);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("main samples=3", "main;draw samples=7 samples-before=7",
                          "main;parse samples=25 samples-before=10"));
  EXPECT_THAT(imported.untrusted_remarks,
              ElementsAre("each line has two counts, as difffolded.pl writes them: samples-before "
                          "and samples"));
  // A number that only some lines have is part of a name.
  EXPECT_THAT(LinesOf(ReadAs("worker 7 25\nmain 3\n", Format::kFolded).tree),
              ElementsAre("main samples=3", "worker 7 samples=25"));
}

// The outermost kMaxDepth - 1 frames, then [other] with everything deeper.
TEST(DeepStackTest, FramesBeyondTheLimitBecomeOneInEveryFormat) {
  constexpr std::size_t kFrames = 2000;
  const std::string remark = fmt::format(
      "frames of stacks deeper than {}, the innermost ones, as [other]: ", tree::kMaxDepth);
  const std::string folded = "main" + Repeated(";f", kFrames - 1);
  std::string perf = "a 1 2.5: 10 cycles:\n" + Repeated("\t12 f (/a)\n", kFrames) +
                     "\na 1 2.6: 7 cycles:\n\t12 main (/a)\n";
  std::string events;
  std::string chrome = "[";
  for (std::size_t i = 0; i < kFrames; ++i) {
    events += fmt::format("{} 1 enter f\n", i);
    chrome += fmt::format("{{\"name\":\"f\",\"ph\":\"B\",\"ts\":{}}},\n", i);
  }
  events += fmt::format("{} 1 exit\n", kFrames + 9);
  chrome += fmt::format("{{\"ph\":\"E\",\"ts\":{}}}]", kFrames + 9);
  PprofContent content = {.types = {{"samples", "count"}},
                          .functions = {{"", "f"}},
                          .samples = {{std::vector<std::uint32_t>(kFrames, 0), {10}}},
                          .comments = {}};
  struct Case {
    std::string text;
    Format format;
    std::string value;
  };
  for (const auto& [text, format, value] :
       {Case{folded + " 10\nmain;draw 7\n", Format::kFolded, "samples=10"},
        Case{perf, Format::kPerfScript, "cycles=10"},
        Case{events, Format::kEvents, "calls=976 wall=985"},
        Case{chrome, Format::kChrome, "calls=976 wall=985000"}}) {
    const Imported imported = ReadAs(text, format);
    EXPECT_EQ(LineOf(imported, "f;[other]"), value);
    EXPECT_THAT(imported.untrusted_remarks, Contains(HasSubstr(remark)));
    const std::vector<std::string> lines = LinesOf(imported.tree);
    for (const std::string& line : lines) {
      EXPECT_LE(std::ranges::count(line, ';') + 1, tree::kMaxDepth);
    }
  }
  EXPECT_EQ(LineOf(ReadAs(folded + " 10\nmain;draw 7\n", Format::kFolded), ";draw"), "samples=7");
  // A stack of exactly the maximum depth stays unchanged.
  const Imported whole =
      ReadAs("main" + Repeated(";f", tree::kMaxDepth - 1) + " 10\n", Format::kFolded);
  EXPECT_EQ(LineOf(whole, "f;f"), "samples=10");
  EXPECT_THAT(whole.untrusted_remarks, IsEmpty());
}

TEST(ForeignKindTest, FilesThatAreNotImportedAreNamedWithWhatConvertsThem) {
  struct Case {
    std::string bytes;
    const char* kind;
    const char* command;
  };
  for (const auto& [bytes, kind, command] : {
           Case{"PERFILE2" + std::string(96, '\1'), "perf record", "perf script -i"},
           Case{std::string("FLR\0\0\2", 6) + "x", "Flight Recorder", "jfrconv --collapsed"},
           Case{R"({"nodes":[{"id":1,"callFrame":{"functionName":"main"}}],"startTime":1})",
                ".cpuprofile", "speedscope"},
           Case{"# callgrind format\nversion: 1\n", "callgrind", "callgrind_annotate"},
           Case{"version: 1\ncreator: x\nevents: Ir\nfn=(1) main\n16 400\n", "callgrind",
                "callgrind_annotate"},
           Case{"\x28\xb5\x2f\xfd....", "lab table", "fieldcost top --table"},
           Case{"\x7f"
                "ELF\2\1\1",
                "a program", "fieldcost trace"},
           Case{Gzip("PERFILE2....").value(), "perf record", "perf script -i"},
       }) {
    for (const auto& format : {std::optional<Format>(), std::optional(Format::kChrome)}) {
      const Result<Imported> imported = Import(bytes, {.format = format});
      ASSERT_FALSE(imported.has_value()) << kind;
      EXPECT_EQ(imported.error().code, ErrorCode::kUnsupported) << imported.error().message;
      EXPECT_THAT(imported.error().message, HasSubstr(kind));
      EXPECT_THAT(imported.error().message, HasSubstr(command));
    }
  }
  // A text format is recognised although a function's name begins like another format.
  ReadAs("gmon_start;f 1\n", Format::kFolded);
}

TEST(LenientGzipTest, ConcatenatesConsecutiveMembers) {
  const std::string members =
      Gzip("main;parse 10\nma").value() + Gzip("in;draw 7\n").value() + std::string(100, '\0');
  EXPECT_THAT(LinesOf(ReadAs(members, Format::kFolded).tree),
              ElementsAre("main;draw samples=7", "main;parse samples=10"));
  EXPECT_THAT(ErrorOf(members + "x").message, HasSubstr("after the end"));
}

TEST(LenientSpeedscopeTest, WeightsBelowOneAreNotLost) {
  const auto profile = [](const std::string& rest) {
    return R"({"$schema":"https://www.speedscope.app/file-format-schema.json",
      "shared":{"frames":[{"name":"a"},{"name":"b"}]},
      "profiles":[{"name":"p",)" +
           rest + "}]}";
  };
  const Imported imported = ReadAs(
      profile(R"("type":"sampled","unit":"none","samples":[[0],[0,1]],"weights":[0.75,1.25])"),
      Format::kSpeedscope);
  EXPECT_THAT(LinesOf(imported.tree), ElementsAre("a milli-samples=750", "a;b milli-samples=1250"));
  EXPECT_THAT(imported.untrusted_remarks, ElementsAre(HasSubstr("in units of 10^-3")));
  const Imported negative =
      ReadAs(profile(R"("type":"sampled","unit":"none","samples":[[0],[0,1]],"weights":[-1,3])"),
             Format::kSpeedscope);
  EXPECT_THAT(LinesOf(negative.tree), ElementsAre("a;b samples=3"));
  EXPECT_THAT(negative.untrusted_remarks,
              ElementsAre("samples with a negative weight, left out: 1"));
  const Imported events = ReadAs(
      profile(
          R"("type":"evented","unit":"milliseconds","events":[{"type":"O","frame":0,"at":-2.5},
             {"type":"O","frame":1,"at":-1},{"type":"C","frame":1,"at":0},
             {"type":"C","frame":0,"at":0.5}])"),
      Format::kSpeedscope);
  EXPECT_THAT(LinesOf(events.tree),
              ElementsAre("a calls=1 wall=2000000", "a;b calls=1 wall=1000000"));
}

std::string PerfSample(const std::string& thread) {
  return thread + "\n\t            1130 work+0x10 (/opt/bin/app)\n" +
         "\t            1180 main+0x20 (/opt/bin/app)\n\n";
}

TEST(LenientPerfScriptTest, NamesOfThreadsHaveAnyCharacters) {
  const std::vector<std::string> names = {"#2 worker",
                                          "#",
                                          "[ET_NET 0]",
                                          "HDMI polling ta",
                                          "Hashed wheel #1",
                                          "a: 1 b",
                                          "12.5:",
                                          "x 12.5: y",
                                          "(sd-pam)",
                                          "kworker/0:1-ev",
                                          "7/8",
                                          "[001]",
                                          "tokio-runtime-w",
                                          "GC Thread#0",
                                          ":-1",
                                          "C2 CompilerThre",
                                          "\xd0\xb6",
                                          "a;b!c"};
  std::string text = "# ========\n# captured on    : Thu Nov 26 18:00:00 2026\n#\n";
  for (const std::string& name : names) {
    text += PerfSample(name + " 4615/4801  [002] 52582.050949:    1000000 cpu-clock: ");
    text += PerfSample(name + " 4615 52582.150949:    1000000 cpu-clock: ");
  }
  const Imported imported = ReadAs(text, Format::kPerfScript);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre(fmt::format("app!main;app!work cpu-clock={}", names.size() * 2'000'000)));
  EXPECT_THAT(imported.untrusted_remarks, IsEmpty());
  const auto recording = recording::Recording::Of(*imported.recording).value();
  std::vector<std::string> found;
  for (const recording::Thread& thread : recording.contents().descriptions.threads) {
    if (thread.tid == 4801) found.push_back(thread.name);
  }
  EXPECT_THAT(found, UnorderedElementsAreArray(names));
}

TEST(LenientPerfScriptTest, SamplesMayShowNoEvent) {
  const Imported imported = ReadAs(PerfSample("   apply worker 79618/79969 [010] 1199.718048: ") +
                                       PerfSample("app 79618 1199.718049:"),
                                   Format::kPerfScript);
  EXPECT_THAT(LinesOf(imported.tree), ElementsAre("app!main;app!work samples=2"));
}

TEST(LenientPerfScriptTest, BothNamesOfAFrameHaveBlanksAndParentheses) {
  struct Case {
    const char* line;
    const char* frame;
  };
  for (const auto& [line, frame] : {
           Case{"work(int) const+0x10 (/opt/My App (v2)/bin/app)", "app!work(int) const"},
           Case{"work(int) const (/opt/My App (v2)/bin/app)", "app!work(int) const"},
           Case{"work(int) const+0x10 (/opt/My App (v2)/a (1))", "a (1)!work(int) const"},
           Case{"f(void (*)(int), int (&) [3])+0x1 (/opt/app)",
                "app!f(void (*)(int), int (&) [3])"},
           Case{"f(void (*)(int)) (app)", "app!f(void (*)(int))"},
           Case{"hashCode ([JIT app cache])", "[JIT app cache]!hashCode"},
           Case{"work+0x10 (/opt/My App/app (deleted))", "app!work"},
           Case{"work (app (deleted))", "app!work"},
           Case{"[unknown] ([unknown])", "[unknown]"},
           Case{"a+0x1c+0x10 (/opt/app)", "app!a+0x1c"},
       }) {
    const Imported imported = ReadAs(
        std::string("a 1 2.5: 10 cycles:\n\t   9c51fd34 ") + line + "\n", Format::kPerfScript);
    ASSERT_EQ(imported.tree.dictionary->frames.size(), 1U) << line;
    const tree::Frame& read = imported.tree.dictionary->frames.frame(tree::FrameId(0));
    EXPECT_EQ((read.module.empty() ? "" : read.module + "!") + read.function, frame) << line;
  }
}

constexpr char kLoad[] = R"({"name":"main","ph":"B","ts":0,"pid":1,"tid":1},
{"name":"load","ph":"B","ts":100,"pid":1,"tid":1},
{"name":"load","ph":"E","ts":300,"pid":1,"tid":1},
{"name":"draw","ph":"B","ts":300,"pid":1,"tid":1})";

TEST(LenientChromeTest, ArraysThatAreNotClosedAreReadAsFarAsTheyGo) {
  for (const std::string& text : {std::string("[\n") + kLoad, std::string("[\n") + kLoad + ",\n",
                                  std::string("[\n") + kLoad + ",\n{\"name\":\"dra",
                                  std::string("[\n") + kLoad + ",\n{\"name\":\"dra\r\n",
                                  "{\"traceEvents\":[" + std::string(kLoad),
                                  "{\"traceEvents\":[" + std::string(kLoad) + "], \"other\": [1,",
                                  std::string("[\n") + kLoad + ",\n" + std::string(4096, '\0')}) {
    const Imported imported = ReadAs(text, Format::kChrome);
    EXPECT_THAT(LinesOf(imported.tree), ElementsAre("main calls=1 wall=100000", "main;draw calls=1",
                                                    "main;load calls=1 wall=200000"))
        << text.substr(0, 400);
    EXPECT_THAT(imported.untrusted_remarks, Contains(HasSubstr("4 whole events")));
  }
  const Imported whole = ReadAs(std::string("[") + kLoad + ",]", Format::kChrome);
  EXPECT_THAT(whole.untrusted_remarks,
              ElementsAre("calls open at the end, ended with the last event: 2"));
  EXPECT_THAT(ErrorOf("[{\"name\":\"main\",\"ph\":\"B\"").message, HasSubstr("first event"));
  EXPECT_EQ(ErrorOf(std::string("[") + kLoad + "},").code, ErrorCode::kCorrupt);
}

TEST(LenientChromeTest, EventsInAnyOrderAreThoseOfTheirTimes) {
  std::vector<std::string> events = {R"({"name":"main","ph":"B","ts":-100,"tid":1})",
                                     R"({"name":"a","ph":"B","ts":0,"tid":1})",
                                     R"({"name":"b","ph":"B","ts":50,"tid":1})",
                                     R"({"name":"b","ph":"E","ts":80,"tid":1})",
                                     R"({"name":"a","ph":"E","ts":300,"tid":1})",
                                     R"({"name":"a","ph":"B","ts":300,"tid":1})",
                                     R"({"name":"a","ph":"E","ts":310,"tid":1})",
                                     R"({"name":"main","ph":"E","ts":400,"tid":1})",
                                     R"({"name":"x","ph":"X","ts":350,"dur":20,"tid":1})"};
  std::ranges::sort(events);
  int orders = 0;
  do {
    std::string text;
    for (const std::string& event : events) text += (text.empty() ? "[" : ",") + event;
    const Imported imported = ReadAs(text + "]", Format::kChrome);
    ASSERT_THAT(LinesOf(imported.tree),
                ElementsAre("main calls=1 wall=170000", "main;a calls=2 wall=280000",
                            "main;a;b calls=1 wall=30000", "main;x calls=1 wall=20000"))
        << text;
    ASSERT_THAT(imported.untrusted_remarks, IsEmpty()) << text;
    // Tests every 97th of the 9! orders.
    for (int i = 0; i < 96; ++i) std::ranges::next_permutation(events);
  } while (std::ranges::next_permutation(events).found && ++orders < 3000);
  EXPECT_GT(orders, 2999);
}

TEST(LenientChromeTest, CallsRoundedToMicrosecondsEndWithTheirCaller) {
  const Imported imported = ReadAs(R"([{"name":"a","ph":"X","ts":0.4,"dur":9.7},
    {"name":"b","ph":"X","ts":5,"dur":6}])",
                                   Format::kChrome);
  EXPECT_THAT(LinesOf(imported.tree), ElementsAre("a calls=1 wall=4600", "a;b calls=1 wall=5100"));
  EXPECT_THAT(imported.untrusted_remarks, IsEmpty());
}

TEST(LenientChromeTest, FilesWithoutAnyUsableCallAreErrors) {
  EXPECT_THAT(ErrorOf(R"([{"name":"a","ph":"i","ts":1}])").message,
              HasSubstr("none of its 1 event"));
}

}  // namespace
}  // namespace fieldcost::exchange
