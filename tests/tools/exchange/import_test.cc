// Importers of stacks with values (perf script, pprof, folded stacks), and detection of formats.

#include <gmock/gmock.h>

#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/tools/exchange/read_as.h"
#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/gzip.h"
#include "tools/exchange/pprof.h"

namespace fieldcost::exchange {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Error ErrorOf(const std::string& text, const ImportOptions& options = {}) {
  const Result<Imported> imported = Import(text, options);
  return imported ? Error{ErrorCode{}, ""} : imported.error();
}

constexpr char kPerfScript[] =
    "# ========\n"
    "victim 31007 40155.960069:    2004008 task-clock: \n"
    "\t            1151 g+0x18 (/usr/bin/victim)\n"
    "\t            119c main+0x19 (/usr/bin/victim)\n"
    "\t           2724a __libc_start_call_main+0x7a (/usr/lib/x86_64-linux-gnu/libc.so.6)\n"
    "\n"
    "worker thread 31007/31008 [001] 40155.984194:    1000000 task-clock: \n"
    "\t            1151 inner(int)+0x18 (inlined)\n"
    "\t            1151 outer(char const*)+0x18 (/usr/lib/libz.so.1.2.13)\n"
    "\tffffffff8104b9a6 [unknown] ([unknown])\n"
    "\t    7f3ce0012345 [unknown] (/usr/lib/libssl.so.3 (deleted))\n"
    "\t            119c f.isra.0+0x19 (/usr/bin/victim)\n"
    "\n"
    "victim 31007 40155.985000: PERF_RECORD_LOST lost 12\n"
    "victim 31007 40155.986000:          1 page-faults:  1151 g+0x18 (/usr/bin/victim)\n"
    "victim 31007 40155.986001:          1 page-faults:  1151 g+0x18 (/usr/bin/victim)\n"
    " swapper     0 [000] 40155.987000: sched:sched_switch: prev_comm=victim (x)\n"
    "        119c main+0x19 (/usr/bin/victim)\n"
    "        main.c:17\n";

TEST(ImportPerfScriptTest, StacksEventsAndLossesAreRead) {
  const Imported imported = ReadAs(kPerfScript, Format::kPerfScript);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("libc.so!__libc_start_call_main;victim!main;victim!g task-clock=2004008",
                          "victim!f;libssl.so![unknown];[unknown];libz.so!outer(char const*);"
                          "libz.so!inner(int) task-clock=1000000",
                          "victim!g page-faults=2", "victim!main samples=1"));
  EXPECT_THAT(
      imported.tree.metrics,
      ElementsAre(tree::Metric{.name = "page-faults", .unit = tree::Unit::kCount, .per_sample = 1},
                  tree::Metric{.name = "samples", .unit = tree::Unit::kCount, .per_sample = 1},
                  tree::Metric{.name = "task-clock", .per_sample = 1'502'004}));
  EXPECT_THAT(imported.untrusted_remarks,
              UnorderedElementsAre("records lost, according to perf: 12",
                                   "lines of stacks that are not functions (source lines, for "
                                   "example), left out: 1"));
}

TEST(ImportPerfScriptTest, SamplesWithoutAStackAreCut) {
  const Imported imported =
      ReadAs("a 1 2.5: 10 cycles: \n\na 1 2.6: 20 cycles: \n", Format::kPerfScript);
  EXPECT_THAT(LinesOf(imported.tree), ElementsAre("[cut] cycles=30"));
  EXPECT_THAT(imported.untrusted_remarks, ElementsAre("samples without a stack, at [cut]: 2"));
}

TEST(ImportPerfScriptTest, ErrorsTellTheLine) {
  const auto error = [](const std::string& text) {
    return ErrorOf(text, {.format = Format::kPerfScript});
  };
  EXPECT_THAT(error("a 1 2.5: 10 cycles:\n\t12 f (/a)\n\nhello\n").message, HasSubstr("line 4"));
  EXPECT_THAT(error("\t12 f (/a)\n").message, HasSubstr("line 1"));
  const std::string most = "a 1 2.5: 18446744073709551615 cycles:\n\t12 f (/a)\n";
  EXPECT_EQ(error(most).code, ErrorCode{});
  EXPECT_EQ(error(most + "\n" + most).code, ErrorCode::kTooLarge);
}

TEST(ImportPprofTest, OthersTypesBecomeMetricsWithUnits) {
  const PprofContent content = {
      .types = {{"samples", "count"}, {"cpu", "microseconds"}, {"CPU", "widgets"}},
      .functions = {{"/usr/bin/app", "main", "main.go"}, {"/lib/libz.so.1", "_Z1fi"}},
      .samples = {{{0, 1}, {2, 20, 7}}},
      .comments = {},
      .period_type = {"cpu", "microseconds"},
      .period = 10};
  const Imported imported = ReadAs(EncodePprof(content).value(), Format::kPprof);
  EXPECT_THAT(LinesOf(imported.tree), ElementsAre("app!main;libz.so!f(int) cpu=20000 cpu-2=7 "
                                                  "samples=2"));
  EXPECT_THAT(
      imported.tree.metrics,
      ElementsAre(tree::Metric{.name = "cpu", .per_sample = 10'000},
                  tree::Metric{.name = "cpu-2", .unit = tree::Unit::kCount, .per_sample = 1},
                  tree::Metric{.name = "samples", .unit = tree::Unit::kCount, .per_sample = 1}));
  EXPECT_THAT(imported.untrusted_remarks, ElementsAre("CPU in widgets is taken for a count"));
  // There, the source file is not part of the name.
  EXPECT_EQ(imported.tree.dictionary->frames.frame(tree::FrameId(0)), Function("app!main"));
}

TEST(ImportPprofTest, SumsThatDoNotFitAreRefused) {
  PprofContent content = {.types = {{"time", "seconds"}},
                          .functions = {{"", "f"}},
                          .samples = {{{0}, {std::uint64_t{1} << 62}}},
                          .comments = {}};
  EXPECT_EQ(ErrorOf(EncodePprof(content).value()).code, ErrorCode::kTooLarge);
  content.types[0].unit = "nanoseconds";
  EXPECT_EQ(ErrorOf(EncodePprof(content).value()).code, ErrorCode{});
  for (int i = 0; i < 3; ++i) content.samples.push_back(content.samples[0]);
  EXPECT_EQ(ErrorOf(EncodePprof(content).value()).code, ErrorCode::kTooLarge);
}

TEST(ImportFoldedTest, ValuesOfAStackAddUpAndErrorsTellTheLine) {
  const Imported imported =
      ReadAs("a;b 1\n\na;b 2\r\n[kernel] 3\na b;operator() 4", Format::kFolded);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("a;b samples=3", "a b;operator() samples=4", "[kernel] samples=3"));
  EXPECT_THAT(ErrorOf("a 1\nb\n").message, HasSubstr("line 2"));
  for (const char* line : {"a", "a x", " 1", "a 1x", "a nan"}) {
    EXPECT_EQ(ErrorOf(line).code, ErrorCode::kCorrupt) << line;
  }
  EXPECT_EQ(ErrorOf("a 18446744073709551616").code, ErrorCode::kTooLarge);
  EXPECT_EQ(ErrorOf("a 18446744073709551615\na 1\n").code, ErrorCode::kTooLarge);
  EXPECT_EQ(ErrorOf(std::string(kMaxLineBytes + 1, 'a')).code, ErrorCode::kTooLarge);
}

TEST(ImportFoldedTest, TheExampleIsAsTheReadmeSays) {
  const Imported imported = ReadAs(
      ReadFile(FIELDCOST_FUZZ_CORPUS "/exchange_folded/example", kKiB).value(), Format::kFolded);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre("app!main samples=10", "app!main;libz.so!inflate samples=300",
                          "app!main;libz.so!inflate;[kernel] samples=5",
                          "app!main;libx.so!0x1234 samples=7"));
}

TEST(ImportTest, TheContentTellsTheFormatAlsoInGzip) {
  const tree::Tree tree = SampleTree();
  for (const FormatInfo& info : Formats()) {
    if (!info.can_export) continue;
    const std::string bytes = Export(tree, info.format).value().bytes;
    if (!info.can_import) {
      EXPECT_EQ(ErrorOf(bytes).code, ErrorCode::kUnsupported);
      continue;
    }
    ReadAs(bytes, info.format);
    if (!IsGzip(bytes)) ReadAs(Gzip(bytes).value(), info.format);
  }
  const std::string pprof = Export(tree, Format::kPprof).value().bytes;
  ReadAs(Gunzip(pprof, kMaxImportBytes).value(), Format::kPprof);
  ReadAs("{lambda()#1} 12\n", Format::kFolded);
  ReadAs("[kernel];f 12\n", Format::kFolded);
  ReadAs("", Format::kFolded);
  ReadAs("# events\n\n1 2 enter f\n", Format::kEvents);
  EXPECT_THAT(ErrorOf("a 1\n", {.format = Format::kPprof}).message, HasSubstr("as pprof"));
}

TEST(ImportTest, EveryCutFileIsRefusedOrReadAsOne) {
  const tree::Tree tree = SampleTree();
  for (const FormatInfo& info : Formats()) {
    if (!info.can_export || !info.can_import) continue;
    const std::string bytes = Export(tree, info.format).value().bytes;
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      const Error error = ErrorOf(bytes.substr(0, size), {.format = info.format});
      if (info.format == Format::kPprof) {
        EXPECT_EQ(error.code, ErrorCode::kCorrupt) << size;
      }
      if (info.format == Format::kChrome || info.format == Format::kSpeedscope) {
        // Except for the end of the last line, and complete events of Chrome's.
        const auto imported = Import(bytes.substr(0, size), {.format = info.format});
        const bool is_reported =
            imported && info.format == Format::kChrome && imported->untrusted_remarks.size() == 1;
        EXPECT_TRUE(error.code == ErrorCode::kCorrupt || size + 1 == bytes.size() || is_reported)
            << size;
      }
    }
  }
}

}  // namespace
}  // namespace fieldcost::exchange
