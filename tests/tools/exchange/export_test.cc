// The bytes of small exported trees, as other programs see them.

#include <gmock/gmock.h>

#include "common/tree/codec.h"
#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"
#include "tools/exchange/pprof.h"

namespace fieldcost::exchange {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

tree::Tree Small() {
  return TreeOfStacks({{.name = "wall"}, {.name = "calls", .unit = tree::Unit::kCount}},
                      {{{Function("app!main")}, {1'000, 1}},
                       {{Function("app!main"), Function("libz.so!\"crc\"")}, {2'500, 3}}});
}

std::string Written(Format format) {
  return Export(Small(), format, {.title = "a <b>"}).value().bytes;
}

TEST(ExportTest, FoldedIsALineAStack) {
  EXPECT_EQ(Written(Format::kFolded), "app!main 1000\napp!main;libz.so!\"crc\" 2500\n");
}

TEST(ExportTest, SpeedscopeHasAProfileAMetric) {
  EXPECT_EQ(
      Written(Format::kSpeedscope),
      R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"fieldcost","name":"a <b>","activeProfileIndex":1,
"shared":{"frames":[{"name":"app!main"},{"name":"libz.so!\"crc\""}]},
"profiles":[
{"type":"sampled","name":"calls count exact","unit":"none","startValue":0,"endValue":4,
"samples":[[0],[0,1]],
"weights":[1,3]},
{"type":"sampled","name":"wall ns exact","unit":"nanoseconds","startValue":0,"endValue":3500,
"samples":[[0],[0,1]],
"weights":[1000,2500]}]}
)");
}

TEST(ExportTest, ChromeHasAProcessAMetricAndEachPathOnce) {
  EXPECT_EQ(Written(Format::kChrome), R"({"displayTimeUnit":"ns","traceEvents":[
{"name":"process_name","ph":"M","pid":1,"tid":1,"args":{"name":"calls count exact"}},
{"name":"app!main","ph":"X","ts":0.000,"dur":0.004,"pid":1,"tid":1},
{"name":"libz.so!\"crc\"","ph":"X","ts":0.000,"dur":0.003,"pid":1,"tid":1},
{"name":"process_name","ph":"M","pid":2,"tid":1,"args":{"name":"wall ns exact"}},
{"name":"app!main","ph":"X","ts":0.000,"dur":3.500,"pid":2,"tid":1},
{"name":"libz.so!\"crc\"","ph":"X","ts":0.000,"dur":2.500,"pid":2,"tid":1}
]}
)");
}

TEST(ExportTest, FirefoxHasAThreadAMetricAndSharesTheStacks) {
  const std::string json = Written(Format::kFirefox);
  EXPECT_THAT(json, HasSubstr("\"preprocessedProfileVersion\":62,\"product\":\"a <b>\""));
  EXPECT_THAT(json, HasSubstr("\"stackTable\":{\"frame\":[0,1],\n\"prefix\":[null,0],\n"));
  EXPECT_THAT(json, HasSubstr("\"stringArray\":[\"main\",\"app\",\"\\\"crc\\\"\",\"libz.so\"]"));
  EXPECT_THAT(json, HasSubstr("\"weight\":[1,3],\n\"weightType\":\"samples\""));
  EXPECT_THAT(json, HasSubstr("\"timeDeltas\":[0,0.001000],\n\"weight\":[0.001000,0.002500],\n"
                              "\"weightType\":\"tracing-ms\""));
}

TEST(ExportTest, RepresentsArbitraryBytesAsText) {
  const tree::Tree tree =
      TreeOfStacks({{.name = "wall"}}, {{{{.module = "\xff", .function = "\xc3("}}, {1}}});
  for (const Format format : {Format::kSpeedscope, Format::kChrome, Format::kFirefox}) {
    const std::string json = Export(tree, format, {.title = "\xfe"}).value().bytes;
    EXPECT_THAT(json, AllOf(HasSubstr(R"(\\xff)"), HasSubstr(R"(\\xc3()"))) << json;
    EXPECT_THAT(json, Not(HasSubstr(R"(\ufffd)")));
  }
  EXPECT_EQ(Export(tree, Format::kFolded).value().bytes, "\\xff!\\xc3( 1\n");
  const std::string bytes = Export(tree, Format::kPprof, {.title = "\xfe"}).value().bytes;
  const PprofContent content = DecodePprof(bytes).value();
  EXPECT_EQ(content.functions[0].module, "\\xff");
  EXPECT_EQ(content.functions[0].name, "\\xc3(");
  EXPECT_EQ(content.comments[0], "\\xfe");
}

// Names that differ only in an invalid byte stay different, even at the maximum length.
TEST(ExportTest, NamesOfInvalidBytesAreReadAsTheyWere) {
  const std::string most(tree::kMaxNameBytes, '\xff');
  const std::string other = most.substr(1) + '\xfe';
  const std::vector<tree::Frame> frames = {{.module = most, .function = most, .file = other},
                                           {.module = most, .function = other, .file = most},
                                           {.function = other},
                                           {.function = "a\xc3\xa9;\xc3"}};
  std::vector<SampleStack> stacks;
  for (const tree::Frame& frame : frames) stacks.push_back({{frame}, {stacks.size() + 1}});
  const tree::Tree tree = TreeOfStacks({{.name = "wall"}}, stacks);
  for (tree::Frame without_file : frames) {
    without_file.file.clear();
    stacks.push_back({{without_file}, {stacks.size() - frames.size() + 1}});
  }
  stacks.erase(stacks.begin(), stacks.begin() + static_cast<std::ptrdiff_t>(frames.size()));
  const tree::Tree without_files = TreeOfStacks({{.name = "wall"}}, stacks);
  for (const FormatInfo& info : Formats()) {
    if (!info.can_import || !info.can_export) continue;
    const bool has_files = info.format == Format::kPprof || info.format == Format::kSpeedscope;
    const Result<Imported> read = Import(Export(tree, info.format).value().bytes,
                                         {.folded_metric = tree::Metric{.name = "wall"}});
    ASSERT_TRUE(read) << info.name << read.error().message;
    EXPECT_TRUE(tree::EncodeTree(read->tree) == tree::EncodeTree(has_files ? tree : without_files))
        << info.name;
  }
}

TEST(ExportTest, TheMainMetricIsTime) {
  EXPECT_EQ(MainMetric({{.name = "calls", .unit = tree::Unit::kCount}, {.name = "wall"}}), 1U);
  EXPECT_EQ(MainMetric({{.name = "a"}, {.name = "cpu"}}), 1U);
  EXPECT_EQ(MainMetric({{.name = "calls", .unit = tree::Unit::kCount}, {.name = "off-cpu"}}), 1U);
  EXPECT_EQ(MainMetric({{.name = "calls", .unit = tree::Unit::kCount}}), 0U);
}

}  // namespace
}  // namespace fieldcost::exchange
