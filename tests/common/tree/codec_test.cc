#include "common/tree/codec.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/stats/varint.h"
#include "common/tree/tree_limits.h"
#include "tests/common/tree/random_runs.h"

namespace fieldcost::tree {
namespace {

// The example in FORMAT.md: main calls read (10 in one run, 14 in the other), which waits in the
// kernel (3, in the first run only); main itself has 5 in both.
Tree Example() {
  auto dictionary = std::make_shared<Dictionary>();
  Dictionary& names = *dictionary;
  const auto enter = [&](PathId parent, const Frame& frame) {
    return names.paths.Intern(parent, names.frames.Intern(frame).value()).value();
  };
  const PathId main = enter(kRootPath, {.module = "app", .function = "main"});
  const PathId read = enter(main, {.module = "libc.so", .function = "read"});
  const PathId kernel = enter(read, SpecialFrame(kKernel));
  std::vector<RunValues> runs(2, RunValues(1));
  for (const auto& [run, path, value] :
       {std::tuple(0, main, 5U), std::tuple(1, main, 5U), std::tuple(0, read, 10U),
        std::tuple(1, read, 14U), std::tuple(0, kernel, 3U)}) {
    EXPECT_TRUE(runs[std::size_t(run)].Add(0, path, value).has_value());
  }
  return TreeOf(dictionary, {{.name = "cpu", .per_sample = 1}}, runs).value();
}

std::vector<std::string> SomeTrees() {
  std::mt19937_64 random(31);
  std::vector<std::string> all = {EncodeTree(Example())};
  for (std::size_t runs = 1; runs <= 4; ++runs) {
    std::vector<PlainRun> plain;
    for (std::size_t i = 0; i < runs; ++i) plain.push_back(RandomRun(random, 2, 8));
    const Tree tree = TreeOfPlain(plain, SomeMetrics(2), random);
    all.push_back(EncodeTree(tree));
    all.push_back(EncodeTree(Minimum(std::span(&tree, 1)).value().tree));
    all.push_back(EncodeMeanTree(Average(tree).value()));
    all.push_back(EncodeMeanTree(Difference(Example(), Example()).value().tree));
  }
  return all;
}

// Encodes the tree in these bytes again, if there is one.
std::optional<std::string> Again(std::string_view bytes) {
  const auto tree = DecodeTree(bytes);
  if (tree.has_value()) return EncodeTree(*tree);
  const auto means = DecodeMeanTree(bytes);
  if (means.has_value()) return EncodeMeanTree(*means);
  return std::nullopt;
}

void ExpectGolden(const std::string& name, const std::string& bytes) {
  const auto path = std::filesystem::path(FIELDCOST_GOLDEN_DIR) / name;
  // After an intended change of the format: run once with this set, review the difference.
  if (std::getenv("FIELDCOST_WRITE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(path, bytes, 0644).has_value());
  }
  EXPECT_EQ(HexEncode(ReadFile(path, kMiB).value()), HexEncode(bytes)) << name;
}

TEST(TreeCodecTest, Golden) {
  ExpectGolden("example.tree", EncodeTree(Example()));
  const Tree first = Minimum(std::vector{Example()}).value().tree;
  ExpectGolden("difference.tree", EncodeMeanTree(Difference(first, Example()).value().tree));
}

TEST(TreeCodecTest, TheExampleIsAsTheReadmeHasIt) {
  EXPECT_EQ(HexEncode(EncodeTree(Example())),
            "0101"
            "010363707501"
            "01"  // names
            "05"
            "00085b6b65726e656c5d"
            "0003617070"
            "00076c6962632e736f"  //
            "00046d61696e"
            "000472656164"  //
            "03"
            "010204000000"
            "010305000000"
            "030001000000"  //
            "03"
            "0000"
            "0001"
            "0002"  //
            "02"
            "00"
            "00000001"  // runs, present
            "03030309"
            "00"
            "0e0418a802"
            "00"
            "0e01ed02"
            "0500"
            "00"
            "1301ad05"  // values
            "00"
            "00"
            "1301ad05");
}

TEST(TreeCodecTest, DecodingRestoresTheSameValuesAndBytes) {
  std::mt19937_64 random(32);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<PlainRun> runs;
    for (std::uint64_t i = 0; i < 1 + random() % 20; ++i) {
      runs.push_back(RandomRun(random, 2, random() % 12));
    }
    const Tree tree = TreeOfPlain(runs, SomeMetrics(2), random);
    const std::string bytes = EncodeTree(tree);
    const Tree again = DecodeTree(bytes).value();
    EXPECT_EQ(EncodeTree(again), bytes);
    EXPECT_EQ(again.runs, tree.runs);
    EXPECT_EQ(again.metrics, tree.metrics);
    for (const Names& path : AllPaths(runs)) {
      const PathId id = *Find(*tree.dictionary, path);
      const auto found = Find(*again.dictionary, path);
      if (tree.present[id.value()] == 0) {
        EXPECT_TRUE(path.empty() || !found);
        continue;
      }
      EXPECT_EQ(again.present[found->value()], tree.present[id.value()]);
      for (std::size_t metric = 0; metric < 2; ++metric) {
        EXPECT_EQ(again.values[metric].self[found->value()], tree.values[metric].self[id.value()]);
        EXPECT_EQ(again.values[metric].inclusive[found->value()],
                  tree.values[metric].inclusive[id.value()]);
      }
    }
  }
}

TEST(TreeCodecTest, ValuesOf128BitsComeBack) {
  auto dictionary = std::make_shared<Dictionary>();
  RunValues run(1);
  ASSERT_TRUE(run.Add(0, Enter(*dictionary, {"f"}), ~std::uint64_t{0}).has_value());
  const Tree one = TreeOf(dictionary, SomeMetrics(1), std::span(&run, 1)).value();
  EXPECT_TRUE(DecodeTree(EncodeTree(one))->values[0].self[1].sum_squares ==
              stats::Uint128{~std::uint64_t{0}} * ~std::uint64_t{0});
  RunValues half(1);
  ASSERT_TRUE(half.Add(0, PathId(1), ~std::uint64_t{0} / 4).has_value());
  const Tree two = TreeOf(dictionary, SomeMetrics(1), std::vector(3, half)).value();
  EXPECT_EQ(DecodeTree(EncodeTree(two))->values[0].self[1], two.values[0].self[1]);
}

TEST(TreeCodecTest, RefusesTruncatedAndExtendedTrees) {
  for (const std::string& bytes : SomeTrees()) {
    ASSERT_EQ(Again(bytes), bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(Again(std::string_view(bytes).substr(0, size)).has_value()) << size;
    }
    EXPECT_FALSE(Again(bytes + '\0').has_value());
  }
}

TEST(TreeCodecTest, OneByteAsideIsAnotherTreeOrNone) {
  std::size_t trees = 0;
  std::size_t refused = 0;
  for (std::string bytes : SomeTrees()) {
    for (char& byte : bytes) {
      const char kept = byte;
      for (unsigned bit = 0; bit < 8; ++bit) {
        byte = static_cast<char>(static_cast<unsigned char>(kept) ^ (1U << bit));
        const auto again = Again(bytes);
        if (again.has_value()) {
          EXPECT_EQ(*again, bytes);
          ++trees;
        } else {
          ++refused;
        }
      }
      byte = kept;
    }
  }
  EXPECT_GT(trees, 500U);
  EXPECT_GT(refused, trees);
}

TEST(TreeCodecTest, ReportsKindsAndVersions) {
  std::string bytes = EncodeTree(Example());
  EXPECT_EQ(DecodeMeanTree(bytes).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(DecodeTree(EncodeMeanTree(Average(Example()).value())).error().code,
            ErrorCode::kCorrupt);
  bytes[0] = 2;
  EXPECT_EQ(DecodeTree(bytes).error().code, ErrorCode::kUnsupported);
  bytes[0] = 0;
  EXPECT_EQ(DecodeTree(bytes).error().code, ErrorCode::kCorrupt);
}

// Sums that no runs can have, one after the other.
TEST(TreeCodecTest, SumsMustBePossible) {
  const std::size_t read = 2;
  const auto refused = [](const Tree& tree) {
    return DecodeTree(EncodeTree(tree)).error().code == ErrorCode::kCorrupt;
  };
  // Its root has 37, main 37, read 10 + 14 (squares 296).
  const auto with = [&](auto change) {
    Tree tree = Example();
    change(tree.values[0].self[read], tree.values[0].inclusive[read]);
    return tree;
  };
  ASSERT_TRUE(DecodeTree(EncodeTree(Example())).has_value());
  EXPECT_TRUE(refused(with([](Spread& self, Spread&) { self.sum_squares += 1; })));   // parity
  EXPECT_TRUE(refused(with([](Spread& self, Spread&) { self.sum_squares = 286; })));  // Cauchy
  EXPECT_TRUE(refused(with([](Spread& self, Spread&) { self.sum_squares = 298; })));  // range
  EXPECT_TRUE(refused(with([](Spread& self, Spread&) { self.max = 15; })));           // sum
  EXPECT_TRUE(refused(with([](Spread& self, Spread&) { self.min = 9; })));            // sum
  EXPECT_TRUE(refused(with([](Spread& self, Spread& all) { self.min = self.max = all.max = 12; })));
  EXPECT_TRUE(refused(with([](Spread&, Spread& all) { all.sum_squares -= 2; })));
  EXPECT_TRUE(refused(with([](Spread&, Spread& all) { all.max = 13; })));  // below self
  Tree tree = Example();
  tree.present[read] = 1;  // so one of them has 0
  EXPECT_TRUE(refused(tree));
  tree = Example();
  tree.values[0].self[3].min = 1;  // in one run out of two
  EXPECT_TRUE(refused(tree));
}

TEST(TreeCodecTest, DifferencesMustBePossible) {
  const MeanTree good = Difference(Example(), Example()).value().tree;
  const std::size_t read = 2;
  const auto refused = [&](auto change) {
    MeanTree tree = good;
    change(tree, tree.values[0].self[read].after);
    return DecodeMeanTree(EncodeMeanTree(tree)).error().code == ErrorCode::kCorrupt;
  };
  ASSERT_TRUE(DecodeMeanTree(EncodeMeanTree(good)).has_value());
  EXPECT_TRUE(refused([](MeanTree&, SideSum& side) { side.sum_squares += 1; }));
  EXPECT_TRUE(refused([](MeanTree&, SideSum& side) { side.sum_squares = 22; }));
  EXPECT_TRUE(refused([](MeanTree&, SideSum& side) { side.sum_squares = 286; }));
  EXPECT_TRUE(refused([](MeanTree&, SideSum& side) { side.sum_squares = 24 * 24 + 2; }));
  EXPECT_TRUE(refused([](MeanTree& tree, SideSum&) { tree.where[3] = kInBefore; }));
  EXPECT_TRUE(refused([](MeanTree& tree, SideSum&) { tree.where[1] = kInBefore; }));
  EXPECT_TRUE(refused([](MeanTree& tree, SideSum&) { tree.denominator = 0; }));
  EXPECT_TRUE(refused([](MeanTree& tree, SideSum&) { tree.runs_after = 0; }));
  EXPECT_TRUE(refused([](MeanTree& tree, SideSum&) { tree.runs_before = kMaxRuns + 1; }));
}

// Small inputs that claim much content are refused before memory is allocated.
TEST(TreeCodecTest, CountsBeyondTheBytesOrTheLimitsAreRefused) {
  const std::string begin("\x01\x01", 2);
  const std::string huge = "\xff\xff\xff\xff\x0f";
  const auto code = [&](const std::string& rest) { return DecodeTree(begin + rest).error().code; };
  EXPECT_EQ(code(huge), ErrorCode::kTooLarge);                             // metrics
  EXPECT_EQ(code(std::string("\0", 1) + huge), ErrorCode::kTooLarge);      // names
  EXPECT_EQ(code(std::string("\0\0", 2) + huge), ErrorCode::kTooLarge);    // frames
  EXPECT_EQ(code(std::string("\0\0\0", 3) + huge), ErrorCode::kTooLarge);  // paths
  EXPECT_EQ(code("\x40"), ErrorCode::kCorrupt);                            // 64 metrics
  EXPECT_EQ(code(std::string("\0\xff\xff\x03", 4)), ErrorCode::kCorrupt);  // 65535 names
  EXPECT_EQ(code(std::string("\0\0\xff\xff\x03", 5)), ErrorCode::kCorrupt);
  EXPECT_EQ(code(std::string("\0\0\0\xff\xff\x03", 6)), ErrorCode::kCorrupt);
  EXPECT_EQ(DecodeTree(begin + std::string("\0\0\0\0\1\0\0", 7)).value().runs,
            1U);  // the empty tree
}

// Each name of 16 KiB takes four bytes, because it begins like the previous one.
TEST(TreeCodecTest, NamesThatGrowInMemoryHaveALimit) {
  std::string bytes("\x01\x01\0", 3);
  const unsigned firsts = 127;
  const unsigned seconds = 200;
  stats::AppendVarint(firsts * seconds, bytes);
  const std::size_t size = kMaxNameBytes - 2;
  for (unsigned first = 1; first <= firsts; ++first) {
    for (unsigned second = 1; second <= seconds; ++second) {
      const std::string ending = {static_cast<char>(first), static_cast<char>(second)};
      const bool is_first = first == 1 && second == 1;
      const std::string rest = is_first      ? std::string(size, 1) + ending
                               : second == 1 ? ending
                                             : ending.substr(1);
      stats::AppendVarint(kMaxNameBytes - rest.size(), bytes);
      stats::AppendVarint(rest.size(), bytes);
      bytes += rest;
    }
  }
  EXPECT_EQ(DecodeTree(bytes).error().code, ErrorCode::kTooLarge);
}

// 1,024 frames are decoded; one more is refused.
TEST(TreeCodecTest, DepthHasALimit) {
  auto dictionary = std::make_shared<Dictionary>();
  const Names deepest(kMaxDepth, "f");
  RunValues run(0);
  ASSERT_EQ(dictionary->paths.depth(Enter(*dictionary, deepest)), kMaxDepth);
  Tree tree = TreeOf(dictionary, {}, std::span(&run, 1)).value();
  tree.present.assign(tree.present.size(), 1);
  std::string bytes = EncodeTree(tree);
  EXPECT_EQ(DecodeTree(bytes)->paths().size(), kMaxDepth + 1);
  std::string count;
  std::string more;
  stats::AppendVarint(kMaxDepth, count);
  stats::AppendVarint(kMaxDepth + 1, more);
  bytes.replace(bytes.find(count), count.size(), more);
  bytes.insert(bytes.size() - kMaxDepth - 3, std::string(2, '\0'));
  EXPECT_EQ(DecodeTree(bytes).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace fieldcost::tree
