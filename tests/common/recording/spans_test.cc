// Tests that spans are attributed to the intervals in which they pass.
#include "common/recording/spans.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/common/recording/samples.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::recording {
namespace {

using testing::TempDir;

constexpr std::size_t kThreads = 7;
constexpr std::uint64_t kMs = 1'000'000;

// Waits of threads, each with its own path, which do not overlap: [begin, end).
struct Wait {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t path = 0;
};

std::vector<Wait> RandomWaits(std::mt19937_64& random, std::size_t count) {
  std::vector<Wait> waits;
  for (std::uint32_t path = 0; path < kThreads; ++path) {
    std::uint64_t time_ns = 5 * kMs;
    for (std::size_t i = 0; i < count; ++i) {
      // Some follow immediately, most are short, and a few have the maximum length.
      const std::uint64_t begin_ns = time_ns + (random() % 3 == 0 ? 0 : random() % (4 * kMs));
      const std::uint64_t longest_ns = i % 50 == 0 ? kMaxSpanNs : (i % 5 == 0 ? 90 * kMs : kMs);
      time_ns = begin_ns + (i % 200 == 0 ? kMaxSpanNs : random() % longest_ns);
      waits.push_back({.begin_ns = begin_ns, .end_ns = time_ns, .path = path});
    }
  }
  std::ranges::stable_sort(waits, {}, &Wait::end_ns);
  return waits;
}

// Streams of waits and of idle periods; a few idle periods are longer than the longest wait.
class SpansTest : public ::testing::TestWithParam<StreamKind> {
 protected:
  void SetUp() override {
    GrowTo(kThreads, random_, dictionary_);
    waits_ = RandomWaits(random_, 3'000);
    if (GetParam() == StreamKind::kIdle) MakeLong();
    auto writer = Writer::Create(file_, dictionary_, {}).value();
    const auto ns = writer.AddMetric({.name = "off-cpu"}).value();
    const auto calls = writer.AddMetric({.name = "calls", .unit = tree::Unit::kCount}).value();
    const StreamId stream = writer.AddStream({GetParam(), "spans", {ns, calls}}).value();
    for (std::size_t i = 0; i < waits_.size(); ++i) {
      const Wait& wait = waits_[i];
      const std::uint64_t values[] = {wait.end_ns - wait.begin_ns, 1};
      ASSERT_TRUE(writer.Append(stream, wait.end_ns, tree::PathId(wait.path), values));
      if (i % 2'500 == 2'499) {
        ASSERT_TRUE(writer.Flush());
      }
    }
    ASSERT_TRUE(writer.Close());
    recording_.emplace(Recording::Open(file_).value());
  }

  void MakeLong() {
    for (std::size_t i = 100; i < waits_.size(); i += 4'001) {
      waits_[i].begin_ns -= std::min(waits_[i].begin_ns, i / 1'000 * kMaxSpanNs);
    }
  }

  std::vector<std::uint64_t> Overlaps(Interval interval) const {
    std::vector<std::uint64_t> sums(dictionary_.paths.size());
    for (const Wait& wait : waits_) {
      const std::uint64_t from_ns = std::max(interval.from_ns, wait.begin_ns);
      const std::uint64_t to_ns = std::min(interval.to_ns, wait.end_ns);
      if (from_ns < to_ns) sums[wait.path] += to_ns - from_ns;
    }
    return sums;
  }

  // Anywhere, or close to the beginnings and ends of waits and blocks.
  std::uint64_t RandomTime() {
    const Wait& wait = waits_[random_() % waits_.size()];
    const auto& blocks = recording_->contents().streams[0].blocks();
    const auto& block = blocks[random_() % blocks.size()];
    switch (random_() % 5) {
      case 0:
        return random_() % (waits_.back().end_ns + 2 * kMaxSpanNs);
      case 1:
        return wait.begin_ns + random_() % 3 - 1;
      case 2:
        return wait.end_ns + random_() % 3 - 1;
      case 3:
        return block.first_ns + random_() % 3 - 1;
      default:
        return block.last_ns + random_() % 3 - 1;
    }
  }

  TempDir dir_;
  const std::filesystem::path file_ = dir_.path() / "a.fct";
  std::mt19937_64 random_{7};
  tree::Dictionary dictionary_;
  std::vector<Wait> waits_;
  std::optional<Recording> recording_;
};

TEST_P(SpansTest, AnIntervalHasWhatPassesInItBitForBit) {
  for (int i = 0; i < 1'000; ++i) {
    Interval interval{.from_ns = RandomTime(), .to_ns = RandomTime()};
    if (interval.from_ns > interval.to_ns) std::swap(interval.from_ns, interval.to_ns);
    const auto self = Self(*recording_, 0, interval);
    ASSERT_EQ(self, Overlaps(interval)) << interval.from_ns << " to " << interval.to_ns;
    if (GetParam() == StreamKind::kIdle) continue;  // they overlap
    for (const std::uint64_t value : self) ASSERT_LE(value, interval.to_ns - interval.from_ns);
  }
}

TEST_P(SpansTest, AnyPartitionAddsUpToTheWholeBitForBit) {
  const auto whole = Self(*recording_, 0, {});
  EXPECT_EQ(whole, Overlaps({}));
  for (const std::size_t parts : {2U, 3U, 17U, 200U}) {
    std::vector<std::uint64_t> edges = {0, UINT64_MAX};
    for (std::size_t i = 1; i < parts; ++i) edges.push_back(RandomTime());
    std::ranges::sort(edges);
    std::vector<std::uint64_t> sum(whole.size());
    for (std::size_t i = 1; i < edges.size(); ++i) {
      const auto part = Self(*recording_, 0, {edges[i - 1], edges[i]});
      for (std::size_t path = 0; path < sum.size(); ++path) sum[path] += part[path];
    }
    EXPECT_EQ(sum, whole) << parts;
  }
}

TEST_P(SpansTest, BinsHaveWhatPassesInThem) {
  const auto bins = recording_->Bins(StreamId(0), 0, recording_->Span().value(), 300).value();
  for (const Bin& bin : bins) {
    std::vector<std::uint64_t> dense(dictionary_.paths.size());
    for (const auto& [path, value] : bin.values) dense[path] = value;
    ASSERT_EQ(dense, Overlaps(bin.interval));
  }
}

TEST_P(SpansTest, CountsBelongToTheEnd) {
  for (int i = 0; i < 100; ++i) {
    Interval interval{.from_ns = RandomTime(), .to_ns = RandomTime()};
    if (interval.from_ns > interval.to_ns) std::swap(interval.from_ns, interval.to_ns);
    std::vector<std::uint64_t> counts(dictionary_.paths.size());
    for (const Wait& wait : waits_) {
      if (wait.end_ns >= interval.from_ns && wait.end_ns < interval.to_ns) ++counts[wait.path];
    }
    ASSERT_EQ(Self(*recording_, 1, interval), counts);
  }
}

TEST_P(SpansTest, TheSpanBeginsWithTheFirstWait) {
  std::uint64_t begin_ns = UINT64_MAX;
  for (const Wait& wait : waits_) begin_ns = std::min(begin_ns, wait.begin_ns);
  EXPECT_EQ(recording_->Span(), (Interval{begin_ns, waits_.back().end_ns + 1}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, SpansTest, ::testing::Values(StreamKind::kWaits, StreamKind::kIdle),
                         [](const auto& kind) {
                           return kind.param == StreamKind::kWaits ? "Waits" : "Idle";
                         });

TEST(PassedBeforeTest, IsNeverMoreThanTheSpanAndNeverGoesBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1'000; ++i) {
    // Also longer than writers produce, and as if begun before time 0.
    const std::uint64_t end_ns = random() % (3 * kMaxSpanNs);
    const std::uint64_t length_ns = random() % (3 * kMaxSpanNs);
    std::vector<std::uint64_t> times = {0, end_ns, UINT64_MAX};
    for (int t = 0; t < 20; ++t) times.push_back(random() % (4 * kMaxSpanNs));
    std::ranges::sort(times);
    std::uint64_t last = 0;
    for (const std::uint64_t time_ns : times) {
      const std::uint64_t passed = PassedBefore(time_ns, end_ns, length_ns);
      EXPECT_GE(passed, last);
      last = passed;
    }
    EXPECT_EQ(PassedBefore(0, end_ns, length_ns), 0U);
    EXPECT_EQ(last, length_ns);
  }
}

}  // namespace
}  // namespace fieldcost::recording
