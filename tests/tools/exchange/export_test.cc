// The bytes of small trees, as other programs see them.

#include <gmock/gmock.h>

#include "tests/tools/exchange/sample_tree.h"
#include "tools/exchange/exchange.h"

namespace fieldcost::exchange {
namespace {

using ::testing::HasSubstr;

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

TEST(ExportTest, BytesThatAreNoTextBecomeText) {
  const tree::Tree tree =
      TreeOfStacks({{.name = "wall"}}, {{{{.module = "\xff", .function = "\xc3("}}, {1}}});
  for (const Format format : {Format::kSpeedscope, Format::kChrome, Format::kFirefox}) {
    const std::string json = Export(tree, format).value().bytes;
    // Firefox' names are escaped text, as everywhere.
    EXPECT_THAT(json, HasSubstr(format == Format::kFirefox ? "\\\\xc3(" : "\\ufffd("));
    EXPECT_EQ(json.find('\xff'), std::string::npos);
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
