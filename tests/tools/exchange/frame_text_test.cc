#include "tools/exchange/frame_text.h"

#include <gtest/gtest.h>

#include "common/base/text.h"
#include "tests/tools/exchange/sample_tree.h"

namespace fieldcost::exchange {
namespace {

using tree::Frame;
using tree::FrameKind;

TEST(FrameTextTest, EveryTextIsReadAsWhatWasWritten) {
  const std::vector<Frame> frames = {
      Function("main"),
      Function("libz.so!deflate"),
      {.function = "operator!"},
      {.function = "operator!=(A, B)"},
      {.function = "a!b!c"},
      {.module = "libz.so", .function = "a!b"},
      {.module = "operator", .function = "f"},
      {.module = "odd (name)!;\n", .function = ";\x01\x7f\\x3b \\ x"},
      {.module = "\xff\xc3", .function = "\xff;\xc3\xa9\xed\xa0\x80"},
      {.module = "\xfe\xc3", .function = "\xff;\xc3\xa9\xed\xa0\x80"},
      {.function = "0x12"},
      {.module = "libz.so", .function = "0x12"},
      {.function = "[kernel]"},
      {.module = "libz.so", .function = "[unknown]"},
      {.function = " "},
      {.function = " a b "},
      {.kind = FrameKind::kUnnamed, .module = "libz.so", .offset = 0x12},
      {.kind = FrameKind::kUnnamed, .offset = ~std::uint64_t{0}},
      tree::SpecialFrame("[kernel]"),
      tree::SpecialFrame("[a;b]"),
      tree::SpecialFrame("[a!b]"),
  };
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::string text = FrameText(frames[i]);
    EXPECT_EQ(FrameOfText(text), frames[i]) << text;
    EXPECT_EQ(FrameOfOwnText(text), frames[i]) << text;
    EXPECT_EQ(QuoteJson(text).find("\\ufffd"), std::string::npos) << text;
    EXPECT_EQ(text.find(';'), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(text, FrameText(frames[j]));
  }
  EXPECT_EQ(FrameText(frames[3]), "operator!=(A, B)");
  EXPECT_EQ(FrameText(frames[4]), "a\\x21b\\x21c");
}

TEST(FrameTextTest, OthersNamesBecomeTheSameInEveryBuild) {
  EXPECT_EQ(FrameOfText("/usr/lib/libz.so.1.2.13!deflate"), Function("libz.so!deflate"));
  EXPECT_EQ(FrameOfText("_Z1fi.isra.0"), Function("f(int)"));
  EXPECT_EQ(FrameOfText("main.hot"), Function("main.hot"));  // for example in Go
  EXPECT_EQ(FrameOfText(""), tree::SpecialFrame("[unknown]"));
  EXPECT_EQ(FrameOfNames("/usr/lib/libz.so.1", ""), Function("libz.so![unknown]"));
  EXPECT_EQ(FrameOfNames("", "[unknown]"), tree::SpecialFrame("[unknown]"));
}

TEST(FrameTextTest, MetricsAreReadAsTheyWereWritten) {
  const std::vector<tree::Metric> metrics = {
      {.name = "wall"},
      {.name = "a.b_c-9", .unit = tree::Unit::kBytes},
      {.name = "cpu", .unit = tree::Unit::kCount, .per_sample = ~std::uint64_t{0}}};
  for (const tree::Metric& metric : metrics) {
    tree::Metric read;
    ASSERT_TRUE(TakeMetricText(MetricText(metric), read));
    EXPECT_EQ(read, metric);
  }
  tree::Metric read;
  for (const char* text : {"", "wall", "wall ns", "wall ns ", "wall hours exact", "wall ns sampled",
                           "wall ns sampled 0", "wall ns sampled x", "Wall ns exact",
                           "wall ns exact ", " ns exact", "wall ns sampled 99999999999999999999"}) {
    EXPECT_FALSE(TakeMetricText(text, read)) << text;
  }
}

TEST(FrameTextTest, EveryTextGivesAMetricsName) {
  EXPECT_EQ(MetricName("alloc_space"), "alloc_space");
  EXPECT_EQ(MetricName("CPU Time"), "cpu-time");
  EXPECT_EQ(MetricName(""), "value");
  EXPECT_EQ(MetricName("::"), "value");
  for (const std::string& text : {std::string(1000, 'x'), std::string("\xff\x00 ;", 4)}) {
    EXPECT_TRUE(tree::Validate(tree::Metric{.name = MetricName(text)}).has_value());
  }
}

}  // namespace
}  // namespace fieldcost::exchange
