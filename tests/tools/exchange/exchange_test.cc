// Exported trees are imported unchanged, except for what a format cannot represent.

#include "tools/exchange/exchange.h"

#include <gmock/gmock.h>

#include "common/tree/algebra.h"
#include "common/tree/codec.h"
#include "tests/tools/exchange/sample_tree.h"

namespace fieldcost::exchange {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Exported Written(const tree::Tree& tree, Format format, const ExportOptions& options = {}) {
  Result<Exported> exported = Export(tree, format, options);
  EXPECT_TRUE(exported.has_value()) << exported.error().message;
  return exported ? std::move(*exported) : Exported{};
}

Imported Read(const std::string& bytes, const ImportOptions& options = {}) {
  Result<Imported> imported = Import(bytes, options);
  EXPECT_TRUE(imported.has_value()) << imported.error().message;
  return imported ? std::move(*imported) : Imported{TreeOfStacks({}, {}), Format::kPprof, {}};
}

// The sample tree without what the format omits.
tree::Tree Without(bool files, bool build_ids) {
  tree::Tree tree = SampleTree();
  auto dictionary = std::make_shared<tree::Dictionary>();
  for (std::size_t i = 0; i < tree.dictionary->frames.size(); ++i) {
    tree::Frame frame = tree.dictionary->frames.frame(tree::FrameId(static_cast<std::uint32_t>(i)));
    if (files) frame.file.clear();
    if (build_ids) frame.build_id.clear();
    EXPECT_EQ(dictionary->frames.Intern(frame).value().value(), i);
  }
  dictionary->paths = tree.dictionary->paths;
  tree.dictionary = dictionary;
  return tree;
}

TEST(ExchangeTest, PprofHoldsAllOfARunBitForBit) {
  const tree::Tree tree = SampleTree();
  const Exported exported = Written(tree, Format::kPprof);
  EXPECT_THAT(exported.remarks, IsEmpty());
  const Imported imported = Read(exported.bytes);
  EXPECT_EQ(imported.format, Format::kPprof);
  EXPECT_THAT(imported.untrusted_remarks, IsEmpty());
  EXPECT_EQ(tree::EncodeTree(imported.tree), tree::EncodeTree(tree));
}

TEST(ExchangeTest, SpeedscopeHoldsAllOfARunButBuildIds) {
  const Exported exported = Written(SampleTree(), Format::kSpeedscope);
  EXPECT_THAT(exported.remarks, ElementsAre("build-ids of places without a name, left out: 1"));
  const Imported imported = Read(exported.bytes);
  EXPECT_EQ(imported.format, Format::kSpeedscope);
  EXPECT_THAT(imported.untrusted_remarks, IsEmpty());
  EXPECT_EQ(tree::EncodeTree(imported.tree), tree::EncodeTree(Without(false, true)));
}

TEST(ExchangeTest, ChromeHoldsAllOfARunButBuildIdsAndSourceFiles) {
  const Exported exported = Written(SampleTree(), Format::kChrome);
  EXPECT_THAT(exported.remarks, ElementsAre("source files of local functions, left out: 1",
                                            "build-ids of places without a name, left out: 1"));
  const Imported imported = Read(exported.bytes);
  EXPECT_EQ(imported.format, Format::kChrome);
  EXPECT_THAT(imported.untrusted_remarks, IsEmpty());
  EXPECT_EQ(tree::EncodeTree(imported.tree), tree::EncodeTree(Without(true, true)));
}

TEST(ExchangeTest, FoldedHoldsOneMetricAndNames) {
  const tree::Tree tree = SampleTree();
  const Exported exported = Written(tree, Format::kFolded, {.metric = "cpu"});
  EXPECT_THAT(exported.remarks, ElementsAre("source files of local functions, left out: 1",
                                            "build-ids of places without a name, left out: 1",
                                            "allocated is left out: the format has one metric, cpu",
                                            "calls is left out: the format has one metric, cpu",
                                            "wall is left out: the format has one metric, cpu"));
  EXPECT_EQ(
      exported.bytes,
      "app!main;app!Runner::operator()(int, char const*) const;libz.so!deflate 1003009\n"
      "app!main;app!Runner::operator()(int, char const*) const;libz.so!deflate;"
      "libz.so!fill_window 3009027\n"
      "app!main;app!Runner::operator()(int, char const*) const;libz.so!deflate;[kernel] 77\n");
  const tree::Metric cpu = {.name = "cpu", .per_sample = 1'003'009};
  const Imported imported = Read(exported.bytes, {.folded_metric = cpu});
  EXPECT_EQ(imported.format, Format::kFolded);
  EXPECT_THAT(LinesOf(imported.tree),
              ElementsAre(HasSubstr("deflate cpu=1003009"), HasSubstr("fill_window cpu=3009027"),
                          HasSubstr("deflate;[kernel] cpu=77")));
  EXPECT_EQ(imported.tree.metrics, std::vector<tree::Metric>{cpu});
  // Exporting it again gives the same bytes.
  EXPECT_EQ(Written(imported.tree, Format::kFolded).bytes, exported.bytes);
}

TEST(ExchangeTest, BytesDoNotDependOnHowTheTreeWasPutTogether) {
  const tree::Tree tree = SampleTree();
  const tree::Tree other = tree::DecodeTree(tree::EncodeTree(tree)).value();
  for (const FormatInfo& info : Formats()) {
    if (!info.can_export) continue;
    EXPECT_EQ(Written(tree, info.format).bytes, Written(other, info.format).bytes) << info.name;
  }
}

TEST(ExchangeTest, WritesAndNamesTheSumsOfSeveralRuns) {
  const tree::Tree one = TreeOfStacks({{.name = "wall"}}, {{{Function("main")}, {7}}});
  const tree::Tree tree = tree::Add(std::vector<tree::Tree>{one, one, one}).value().tree;
  for (const FormatInfo& info : Formats()) {
    if (!info.can_export) continue;
    const Exported exported = Written(tree, info.format);
    EXPECT_THAT(exported.remarks,
                ElementsAre("values are sums over 3 runs; their differences are left out"));
    if (!info.can_import) continue;
    const tree::Metric wall = {.name = "wall"};
    const Imported imported = Read(exported.bytes, {.folded_metric = wall});
    EXPECT_THAT(LinesOf(imported.tree), ElementsAre("main wall=21")) << info.name;
    EXPECT_EQ(imported.tree.runs, 1U);
  }
  EXPECT_THAT(
      Written(tree::Minimum(std::vector<tree::Tree>{tree}).value().tree, Format::kFolded).remarks,
      ElementsAre("values are the minimum of 3 runs; variation is left out"));
}

TEST(ExchangeTest, SumsThatDoNotFitAreRefusedNotScaled) {
  constexpr std::uint64_t kMost63 = ~std::uint64_t{0} >> 1;
  const auto tree = [](std::uint64_t value) {
    return TreeOfStacks({{.name = "wall"}}, {{{Function("main"), Function("run")}, {value}}});
  };
  EXPECT_EQ(LinesOf(Read(Written(tree(kMost63), Format::kPprof).bytes).tree),
            LinesOf(tree(kMost63)));
  const Result<Exported> refused = Export(tree(kMost63 + 1), Format::kPprof);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  EXPECT_THAT(refused.error().message, HasSubstr("wall of main;run"));
  const tree::Tree two =
      tree::Add(std::vector<tree::Tree>{tree(~std::uint64_t{0}), tree(1)}).value().tree;
  for (const FormatInfo& info : Formats()) {
    if (!info.can_export) continue;
    EXPECT_EQ(Export(two, info.format).error().code, ErrorCode::kTooLarge) << info.name;
  }
}

TEST(ExchangeTest, CostOfNoPathIsKept) {
  const tree::Tree tree = TreeOfStacks({{.name = "wall"}}, {{{}, {5}}, {{Function("main")}, {7}}});
  for (const Format format : {Format::kPprof, Format::kSpeedscope}) {
    EXPECT_EQ(tree::EncodeTree(Read(Written(tree, format).bytes).tree), tree::EncodeTree(tree));
  }
  EXPECT_EQ(Written(tree, Format::kFolded).bytes, "[cut] 5\nmain 7\n");
  EXPECT_THAT(Written(tree, Format::kChrome).bytes, HasSubstr("\"[cut]\""));
}

TEST(ExchangeTest, FormatsAreKnownByName) {
  for (const FormatInfo& info : Formats()) {
    ASSERT_NE(FindFormat(info.name), nullptr);
    EXPECT_EQ(FindFormat(info.name)->format, info.format);
    EXPECT_EQ(InfoOf(info.format).name, info.name);
    EXPECT_TRUE(info.extension.starts_with('.'));
    if (!info.can_import) {
      EXPECT_EQ(Import("{}", {.format = info.format}).error().code, ErrorCode::kUnsupported);
    }
    if (!info.can_export) {
      EXPECT_EQ(Export(SampleTree(), info.format).error().code, ErrorCode::kUnsupported);
    }
  }
  EXPECT_EQ(FindFormat("jfr"), nullptr);
  EXPECT_EQ(Export(SampleTree(), Format::kFolded, {.metric = "faults"}).error().code,
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace fieldcost::exchange
