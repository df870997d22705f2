#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "common/base/file.h"
#include "common/recording/recording_limits.h"
#include "common/recording/recover_recording.h"
#include "common/recording/verify_recording.h"
#include "tests/common/recording/samples.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::recording {
namespace {

using testing::TempDir;

// Two streams, a growing dictionary, a run, counts; blocks, groups and vectors of both kinds.
class DamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(3);
    tree::Dictionary dictionary;
    GrowTo(100, random, dictionary);
    auto writer = Writer::Create(path_, dictionary, {.created_ns = 5}).value();
    const auto metrics = AddMetrics(2, writer);
    const auto first = writer.AddStream({StreamKind::kSamples, "", {0}}).value();
    const auto second = writer.AddStream({StreamKind::kWaits, "", {1, 0}}).value();
    const auto run = writer.BeginRun(0, "./app", "abc").value();
    for (std::uint64_t i = 0; i < kSamples; ++i) {
      if (i % 20'000 == 0) GrowTo(100 + i / 100, random, dictionary);
      const std::uint32_t path = SkewedPath(dictionary.paths.size(), random);
      Add(writer, first, {i * 1'000, path, {1'000}});
      if (i % 10 == 0) Add(writer, second, {i * 1'000, path, {random() % 500, 3}});
      if (i % 3'000 == 0) {
        ASSERT_TRUE(writer.Flush());
      }
    }
    ASSERT_TRUE(writer.SetCount("lost records", 7));
    ASSERT_TRUE(writer.EndRun(run, kSamples * 1'000, 0));
    ASSERT_TRUE(writer.Close());
    file_ = ReadFile(path_, 64 * kMiB).value();
  }

  void Add(Writer& writer, StreamId stream, Sample sample) {
    ASSERT_TRUE(writer.Append(stream, sample.time_ns, tree::PathId(sample.path), sample.values));
    samples_[stream.value()].push_back(std::move(sample));
  }

  std::vector<std::uint64_t> Borders() const {
    const auto recording = Recording::Over(file_).value();
    std::vector<std::uint64_t> offsets;
    for (const IndexEntry& entry : recording.contents().frames) offsets.push_back(entry.offset);
    offsets.push_back(FindIndex(file_)->offset);
    return offsets;
  }

  // Checks that the readable content of a part of the file is a prefix of the whole content.
  void ExpectPrefix(std::string_view part) const {
    const auto recording = Recording::Over(part);
    if (!recording) {
      EXPECT_LT(part.size(), kHeaderBytes);
      return;
    }
    EXPECT_LE(recording->contents().stop.offset, part.size());
    for (std::uint16_t stream = 0; stream < recording->contents().streams.size(); ++stream) {
      const std::uint64_t count = recording->contents().streams[stream].samples();
      ASSERT_LE(count, samples_[stream].size());
      const std::vector<Sample> prefix(
          samples_[stream].begin(), samples_[stream].begin() + static_cast<std::ptrdiff_t>(count));
      const std::size_t paths = recording->dictionary().paths.size();
      EXPECT_EQ(Self(*recording, 0, {}, StreamId(stream)), Scan(prefix, 0, {}, paths));
      const Interval middle{.from_ns = 20'000'000, .to_ns = 90'000'000};
      EXPECT_EQ(Self(*recording, 0, middle, StreamId(stream)), Scan(prefix, 0, middle, paths));
    }
  }

  static constexpr std::uint64_t kSamples = 100'000;
  TempDir dir_;
  const std::filesystem::path path_ = dir_.path() / "a.fct";
  std::string file_;
  std::vector<Sample> samples_[2];
};

TEST_F(DamageTest, TheWholeFileIsGood) {
  const VerifyReport report = VerifyFile(path_).value();
  EXPECT_TRUE(report.is_good());
  EXPECT_TRUE(report.has_index);
  EXPECT_EQ(report.samples, kSamples + kSamples / 10);
  EXPECT_EQ(report.stop.offset, file_.size());
  // All types to be damaged are present.
  for (const char* type : {"dictionary", "metrics", "run", "count", "block", "group", "vector"}) {
    EXPECT_GT(report.frames.count(type), 0U) << type;
  }
  ExpectPrefix(file_);
}

TEST_F(DamageTest, ReadsEverythingBeforeACutAtAnyFrame) {
  for (const std::uint64_t border : Borders()) {
    const std::string_view part = std::string_view(file_).substr(0, border);
    ExpectPrefix(part);
    const auto recording = Recording::Over(part).value();
    EXPECT_FALSE(recording.contents().has_index);
    EXPECT_EQ(recording.contents().stop.offset, border);
    EXPECT_EQ(recording.contents().stop.reason, "");
  }
}

TEST_F(DamageTest, CutAnywhereTheFramesBeforeAreRead) {
  const std::vector<std::uint64_t> borders = Borders();
  const std::set<std::uint64_t> known(borders.begin(), borders.end());
  std::mt19937_64 random(4);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t at = i < 70 ? static_cast<std::uint64_t>(i) : random() % file_.size();
    const std::string_view part = std::string_view(file_).substr(0, at);
    ExpectPrefix(part);
    if (at < kHeaderBytes) continue;
    const auto recording = Recording::Over(part).value();
    const std::uint64_t before = at == kHeaderBytes ? at : *std::prev(known.upper_bound(at));
    EXPECT_EQ(recording.contents().stop.offset, before);
    EXPECT_EQ(recording.contents().stop.reason.empty(), at == before) << at;
  }
}

// With an index, a query that needs the frame is refused; without, the file seems to end there.
TEST_F(DamageTest, AFlippedBitIsNeverAWrongAnswer) {
  std::mt19937_64 random(5);
  std::vector<std::uint64_t> borders = Borders();
  int refused = 0;
  int passed = 0;
  for (int i = 0; i < 400; ++i) {
    std::string bad = file_;
    // Half of them are near the beginning of a frame, where the heads are.
    const std::uint64_t at =
        i % 2 == 0 ? random() % file_.size()
                   : std::min<std::uint64_t>(borders[random() % borders.size()] + random() % 64,
                                             file_.size() - 1);
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    const auto recording = Recording::Over(bad);
    EXPECT_EQ(recording.has_value(), at >= kHeaderBytes);
    EXPECT_EQ(Verify(bad).has_value(), at >= kHeaderBytes);
    if (!recording) continue;
    const auto report = Verify(bad).value();
    EXPECT_FALSE(report.is_good()) << at;
    EXPECT_LE(report.stop.offset, at) << at;
    if (!recording->contents().has_index) {
      ExpectPrefix(bad);
      continue;
    }
    for (const Interval interval : {Interval{}, Interval{10'000'000, 70'000'000}}) {
      std::vector<std::uint64_t> out;
      const Status status = recording->SelfValues(StreamId(0), 0, interval, out);
      if (status) {
        ++passed;
        EXPECT_EQ(out, Scan(samples_[0], 0, interval, out.size())) << at;
      } else {
        ++refused;
        EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
      }
    }
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(passed, 0);
}

TEST_F(DamageTest, RecoveredRecordingsAreValid) {
  const auto to = dir_.path() / "recovered.fct";
  std::mt19937_64 random(6);
  for (int i = 0; i < 30; ++i) {
    std::string bad = file_;
    if (i % 2 == 0) {
      bad.resize(kHeaderBytes + random() % (file_.size() - kHeaderBytes));
    } else {
      bad[kHeaderBytes + random() % (file_.size() - kHeaderBytes)] ^= 0x10;
    }
    ASSERT_TRUE(WriteFileAtomically(path_, bad, 0600));
    const RecoverReport report = Recover(path_, to).value();
    const VerifyReport again = VerifyFile(to).value();
    EXPECT_TRUE(again.is_good());
    EXPECT_TRUE(again.has_index);
    EXPECT_EQ(again.samples, report.kept_samples);
    EXPECT_EQ(report.kept_samples, report.found.samples);
    EXPECT_EQ(report.kept_bytes, report.found.stop.offset);
    EXPECT_EQ(report.lost_bytes, bad.size() - report.kept_bytes);
    EXPECT_EQ(report.reason.empty(), report.lost_bytes == 0);
    ExpectPrefix(ReadFile(to, 64 * kMiB).value());
    EXPECT_EQ(std::filesystem::status(to).permissions(), std::filesystem::perms(0600));
  }
}

TEST_F(DamageTest, RecoveringAWholeFileGivesTheSameBytes) {
  const auto to = dir_.path() / "recovered.fct";
  const RecoverReport report = Recover(path_, to).value();
  EXPECT_EQ(report.lost_bytes, 0U);
  EXPECT_EQ(ReadFile(to, 64 * kMiB).value(), file_);
  EXPECT_EQ(Recover(path_, path_).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ReadFile(path_, 64 * kMiB).value(), file_);
}

// If checksums are valid, the measured values are trusted, but nothing else.
class ForgedTest : public DamageTest {
 protected:
  // The file with a different payload in the first frame of this type, and valid checksums.
  std::string Forge(FrameType type, const std::function<void(std::string&)>& change) const {
    std::string out = file_.substr(0, kHeaderBytes);
    bool done = false;
    std::uint32_t number = 0;
    for (const std::uint64_t offset : Borders()) {
      const FileFrame frame = FrameAt(file_, offset).value();
      if (frame.type == FrameType::kIndex) break;
      std::string payload(frame.payload);
      if (!done && frame.type == type) {
        change(payload);
        done = true;
      }
      AppendFrame(frame.type, number++, payload, out);
    }
    EXPECT_TRUE(done);
    return out;
  }

  void ExpectProblem(const std::string& file) {
    const auto report = Verify(file).value();
    EXPECT_FALSE(report.is_good());
    ASSERT_TRUE(WriteFileAtomically(path_, file, 0600));
    const auto to = dir_.path() / "recovered.fct";
    const RecoverReport recovered = Recover(path_, to).value();
    EXPECT_FALSE(recovered.reason.empty());
    EXPECT_TRUE(VerifyFile(to).value().is_good()) << recovered.reason;
    // Readers never read beyond the bytes.
    const auto recording = Recording::Over(file).value();
    std::vector<std::uint64_t> out;
    for (std::uint16_t stream = 0; stream < recording.contents().streams.size(); ++stream) {
      (void)recording.SelfValues(StreamId(stream), 0, {}, out);
      (void)recording.SelfValues(StreamId(stream), 0, {10'000'000, 70'000'000}, out);
    }
  }
};

TEST_F(ForgedTest, SumsThatAreNotThoseOfTheSamples) {
  for (const FrameType type : {FrameType::kBlock, FrameType::kGroup, FrameType::kVector}) {
    ExpectProblem(Forge(type, [](std::string& payload) { payload.back() ^= 1; }));
  }
}

TEST_F(ForgedTest, ABlockThatClaimsMoreThanItHas) {
  for (std::size_t byte = 0; byte < sizeof(BlockHead) + 24; ++byte) {
    for (const int change : {0x01, 0x80, 0xff}) {
      SCOPED_TRACE(::testing::Message() << byte << " " << change);
      ExpectProblem(Forge(FrameType::kBlock, [&](std::string& payload) {
        payload[byte] = static_cast<char>(payload[byte] ^ change);
      }));
    }
  }
}

// Users of samples rely on these being in the interval and in order.
TEST_F(ForgedTest, TimesThatDoNotAscendAreRefused) {
  tree::Dictionary dictionary;
  auto writer = Writer::Create(path_, dictionary, {}).value();
  const auto metrics = AddMetrics(1, writer);
  const auto stream = writer.AddStream({StreamKind::kSamples, "", {0}}).value();
  for (const std::uint64_t time_ns : {10U, 100'000U, 200'000U}) {
    Add(writer, stream, {time_ns, 0, {1}});
  }
  ASSERT_TRUE(writer.Close());
  file_ = ReadFile(path_, kMiB).value();
  // Sets the third sample's time to the first one's.
  const std::string file = Forge(FrameType::kBlock, [](std::string& payload) {
    payload.replace(sizeof(BlockHead) + 2 * sizeof(std::uint32_t), sizeof(std::uint32_t),
                    sizeof(std::uint32_t), '\0');
  });
  ExpectProblem(file);
  const auto recording = Recording::Over(file).value();
  for (const std::uint64_t from_ns : {std::uint64_t{0}, std::uint64_t{50}}) {
    const Interval interval{.from_ns = from_ns, .to_ns = UINT64_MAX};
    std::uint64_t last_ns = from_ns;
    const Status status =
        recording.ForEachSample(stream, interval, [&](std::uint64_t time_ns, auto, auto) {
          EXPECT_GE(time_ns, last_ns);
          last_ns = time_ns;
        });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
  }
}

TEST_F(ForgedTest, PathsThatAreNotInTheDictionary) {
  // Samples begin after the head and the times.
  ExpectProblem(Forge(FrameType::kBlock, [](std::string& payload) {
    const auto head = ReadBlockHead(payload).value();
    payload[sizeof(BlockHead) + Padded(head.samples * std::size_t{head.time_width}) + 1] = '\x7f';
  }));
}

TEST_F(ForgedTest, AFrameThatIsMissingInTheMiddle) {
  const std::vector<std::uint64_t> borders = Borders();
  std::string file = file_.substr(0, borders[5]) + file_.substr(borders[6]);
  const auto recording = Recording::Over(file).value();
  EXPECT_EQ(recording.contents().stop.offset, borders[5]);
  EXPECT_EQ(recording.contents().stop.reason, "a frame is missing");
}

TEST_F(ForgedTest, RefusesFramesThatDifferFromTheIndex) {
  const FileFrame index = *FindIndex(file_);
  auto entries = DecodeIndex(index);
  const auto last = std::find_if(entries.rbegin(), entries.rend(), [](const IndexEntry& entry) {
    return entry.type == FrameType::kBlock && entry.stream == 0;
  });
  --last->samples;
  std::string file = file_.substr(0, index.offset);
  AppendFrame(FrameType::kIndex, index.number, EncodeIndex(entries, index.offset), file);
  const auto recording = Recording::Over(file).value();
  ASSERT_TRUE(recording.contents().has_index);
  std::vector<std::uint64_t> out;
  EXPECT_EQ(recording.SelfValues(StreamId(0), 0, {}, out).error().code, ErrorCode::kCorrupt);
}

TEST_F(ForgedTest, AnIndexThatLiesIsNotBelieved) {
  const FileFrame index = *FindIndex(file_);
  std::mt19937_64 random(8);
  for (int i = 0; i < 300; ++i) {
    auto entries = DecodeIndex(index);
    auto* const bytes = reinterpret_cast<char*>(entries.data());
    const std::size_t at = random() % (entries.size() * sizeof(IndexEntry));
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    std::string file = file_.substr(0, index.offset);
    AppendFrame(FrameType::kIndex, index.number, EncodeIndex(entries, index.offset), file);
    EXPECT_FALSE(Verify(file).value().is_good());
    const auto recording = Recording::Over(file).value();
    if (!recording.contents().has_index) ExpectPrefix(file);
    std::vector<std::uint64_t> out;
    for (const Interval interval : {Interval{}, Interval{10'000'000, 70'000'000}}) {
      const Status status = recording.SelfValues(StreamId(0), 0, interval, out);
      if (status && recording.contents().streams[0].samples() == kSamples) {
        EXPECT_EQ(out, Scan(samples_[0], 0, interval, out.size())) << at;
      }
    }
  }
}

}  // namespace
}  // namespace fieldcost::recording
