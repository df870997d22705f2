#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <thread>

#include "common/recording/recording_limits.h"
#include "tests/common/recording/samples.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::recording {
namespace {

using testing::TempDir;

struct Shape {
  const char* name;
  std::size_t paths;
  std::size_t metrics;
  std::size_t samples;
  std::uint64_t mean_step_ns;  // 0: all at the same time
  std::size_t flush_every;     // samples
  std::uint64_t greatest_value;
};

constexpr Shape kShapes[] = {
    {"OnePath", 1, 1, 30'000, 1'000, 1 << 30, 1},
    {"FewPaths", 100, 1, 150'000, 1'000'000, 1 << 30, 1},
    {"OneSecondBlocks", 100, 1, 150'000, 3'000'000, 1 << 30, 1},
    {"ManyEqualTimes", 100, 1, 30'000, 1, 1 << 30, 1},
    {"OneTime", 100, 1, 30'000, 0, 1 << 30, 1},
    {"ManyPaths", 5'000, 1, 200'000, 1'000, 1 << 30, 1'000'000},
    {"SmallBlocks", 3'000, 1, 200'000, 1'000, 500, UINT64_MAX >> 20},
    {"WideIds", 70'000, 1, 300'000, 1'000, 1 << 30, 70'000},
    {"SeveralMetrics", 500, 5, 150'000, 1'000, 7'000, 1'000},
    {"RareSamples", 50, 2, 5'000, 900'000'000, 1 << 30, 3},
};

class IntervalTest : public ::testing::TestWithParam<Shape> {
 protected:
  void SetUp() override {
    const Shape& shape = GetParam();
    GrowTo(std::max<std::size_t>(1, shape.paths / 2), random_, dictionary_);
    auto writer = Writer::Create(file_, dictionary_, {}).value();
    const auto metrics = AddMetrics(shape.metrics, writer);
    const StreamId stream = writer.AddStream({StreamKind::kSamples, "", metrics}).value();
    std::uint64_t time_ns = 1'000'000;
    for (std::size_t i = 0; i < shape.samples; ++i) {
      if (i == shape.samples / 3) GrowTo(shape.paths, random_, dictionary_);
      if (shape.mean_step_ns > 0) time_ns += random_() % (2 * shape.mean_step_ns);
      Sample sample{time_ns, SkewedPath(dictionary_.paths.size(), random_), {}};
      for (std::size_t m = 0; m < shape.metrics; ++m) {
        sample.values.push_back(m == 1 ? 997 : random_() % shape.greatest_value);
      }
      ASSERT_TRUE(writer.Append(stream, time_ns, tree::PathId(sample.path), sample.values));
      samples_.push_back(std::move(sample));
      if (i % shape.flush_every == shape.flush_every - 1) {
        ASSERT_TRUE(writer.Flush());
      }
    }
    ASSERT_TRUE(writer.Close());
    recording_.emplace(Recording::Open(file_).value());
  }

  // Interesting times: anywhere, at samples, at the ends of blocks, and close to these.
  std::uint64_t RandomTime() {
    const auto& blocks = recording_->contents().streams[0].blocks();
    const auto& block = blocks[random_() % blocks.size()];
    switch (random_() % 4) {
      case 0:
        return samples_.front().time_ns +
               random_() % (samples_.back().time_ns - samples_.front().time_ns + 2);
      case 1:
        return samples_[random_() % samples_.size()].time_ns + random_() % 3 - 1;
      case 2:
        return block.first_ns + random_() % 3 - 1;
      default:
        return block.last_ns + random_() % 3 - 1;
    }
  }

  TempDir dir_;
  const std::filesystem::path file_ = dir_.path() / "a.fct";
  std::mt19937_64 random_{42};
  tree::Dictionary dictionary_;
  std::vector<Sample> samples_;
  std::optional<Recording> recording_;
};

TEST_P(IntervalTest, AThousandIntervalsAreAsIfScanned) {
  for (int i = 0; i < 1'000; ++i) {
    Interval interval{.from_ns = RandomTime(), .to_ns = RandomTime()};
    if (i % 10 != 0 && interval.from_ns > interval.to_ns) {
      std::swap(interval.from_ns, interval.to_ns);
    }
    const std::size_t metric = random_() % GetParam().metrics;
    ASSERT_EQ(Self(*recording_, metric, interval),
              Scan(samples_, metric, interval, dictionary_.paths.size()))
        << interval.from_ns << " to " << interval.to_ns;
  }
}

TEST_P(IntervalTest, InclusiveValuesCoverAllLongerPaths) {
  const Interval interval{.from_ns = samples_.front().time_ns, .to_ns = samples_.back().time_ns};
  const auto self = Self(*recording_, 0, interval);
  std::vector<std::uint64_t> expected(self.size());
  for (std::uint32_t path = 0; path < self.size(); ++path) {
    for (tree::PathId at(path);; at = dictionary_.paths.parent(at)) {
      expected[at.value()] += self[path];
      if (at == tree::kRootPath) break;
    }
  }
  auto inclusive = self;
  AddUp(recording_->dictionary().paths, inclusive);
  EXPECT_EQ(inclusive, expected);
}

// Ensures that the other tests cover all variants.
TEST(IntervalShapesTest, HaveGroupsVectorsAndBlocksWithAndWithoutSums) {
  std::mt19937_64 random(1);
  const TempDir dir;
  tree::Dictionary dictionary;
  GrowTo(3'000, random, dictionary);
  auto writer = Writer::Create(dir.path() / "a.fct", dictionary, {}).value();
  const auto stream = writer.AddStream({StreamKind::kSamples, "", AddMetrics(1, writer)}).value();
  const std::uint64_t value = 1;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    // Always the same path at first, then a different one each time.
    const auto path = static_cast<std::uint32_t>(i < 100'000 ? 1 : i % 3'000);
    ASSERT_TRUE(writer.Append(stream, i, tree::PathId(path), std::span(&value, 1)));
  }
  ASSERT_TRUE(writer.Close());
  const auto recording = Recording::Open(dir.path() / "a.fct").value();
  const StreamIndex& index = recording.contents().streams[0];
  ASSERT_EQ(index.blocks().size(), 49U);
  EXPECT_EQ(index.blocks().front().sum_entries, 1U);
  EXPECT_EQ(index.blocks().back().sum_entries, 0U);
  ASSERT_EQ(index.groups().size(), 3U);
  EXPECT_EQ(index.groups()[0].sum_entries, 1U);
  ASSERT_EQ(index.vectors().size(), 3U);
  EXPECT_EQ(index.vectors()[0].blocks, kGroupBlocks);
}

TEST_P(IntervalTest, SeveralThreadsMayAsk) {
  const Interval interval{.from_ns = RandomTime(), .to_ns = samples_.back().time_ns};
  std::vector<std::vector<std::uint64_t>> answers(4);
  std::vector<std::thread> threads;
  for (auto& answer : answers) {
    threads.emplace_back([&] { answer = Self(*recording_, 0, interval); });
  }
  for (std::thread& thread : threads) thread.join();
  const auto expected = Scan(samples_, 0, interval, dictionary_.paths.size());
  for (const auto& answer : answers) EXPECT_EQ(answer, expected);
}

TEST_P(IntervalTest, PartsAddUpToTheWhole) {
  for (int i = 0; i < 100; ++i) {
    std::array<std::uint64_t, 3> at = {RandomTime(), RandomTime(), RandomTime()};
    std::sort(at.begin(), at.end());
    auto sum = Self(*recording_, 0, {at[0], at[1]});
    const auto second = Self(*recording_, 0, {at[1], at[2]});
    for (std::size_t path = 0; path < sum.size(); ++path) sum[path] += second[path];
    EXPECT_EQ(sum, Self(*recording_, 0, {at[0], at[2]}));
  }
}

TEST_P(IntervalTest, BinsAddUpToTheirInterval) {
  const Interval whole = recording_->Span().value();
  for (const std::size_t count : {1, 7, 1'024}) {
    std::vector<std::uint64_t> sum(dictionary_.paths.size());
    const auto bins = recording_->Bins(StreamId(0), 0, whole, count).value();
    ASSERT_EQ(bins.size(), count);
    std::uint64_t edge = whole.from_ns;
    for (const Bin& bin : bins) {
      EXPECT_EQ(bin.interval.from_ns, edge);
      edge = bin.interval.to_ns;
      for (const auto& [path, value] : bin.values) sum[path] += value;
    }
    EXPECT_EQ(edge, whole.to_ns);
    EXPECT_EQ(sum, Scan(samples_, 0, {}, sum.size()));
    const Bin& one = bins[random_() % bins.size()];
    std::vector<std::uint64_t> dense(dictionary_.paths.size());
    for (const auto& [path, value] : one.values) dense[path] = value;
    EXPECT_EQ(dense, Scan(samples_, 0, one.interval, dense.size()));
  }
}

TEST_P(IntervalTest, SamplesComeBackAsTheyWere) {
  const std::vector<Sample> read = SamplesIn(*recording_);
  ASSERT_EQ(read.size(), samples_.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    ASSERT_EQ(read[i].time_ns, samples_[i].time_ns) << i;
    ASSERT_EQ(read[i].path, samples_[i].path) << i;
    ASSERT_EQ(read[i].values, samples_[i].values) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, IntervalTest, ::testing::ValuesIn(kShapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

}  // namespace
}  // namespace fieldcost::recording
