#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <tuple>

#include "common/base/file.h"
#include "common/recording/recording_limits.h"
#include "common/recording/verify_recording.h"
#include "tests/common/recording/samples.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::recording {
namespace {

using testing::TempDir;

// The worked example in common/recording/FORMAT.md.
std::string SmallRecording() {
  const TempDir dir;
  tree::Dictionary dictionary;
  const auto path = dir.path() / "small.fct";
  auto writer =
      Writer::Create(path, dictionary,
                     {.created_ns = 1'700'000'000'000'000'000, .monotonic_ns = 5'000'000'000})
          .value();
  const auto cpu = writer.AddMetric({.name = "cpu", .per_sample = 1'000'000}).value();
  const auto stream = writer.AddStream({StreamKind::kSamples, "", {cpu}}).value();
  const auto run = writer.BeginRun(0, "./app", "").value();
  tree::Frame main{.module = "app"};
  main.function = "main";
  tree::Frame work{.module = "libwork.so"};
  work.function = "work(int)";
  const auto in_main =
      dictionary.paths.Intern(tree::kRootPath, dictionary.frames.Intern(main).value()).value();
  const auto in_work =
      dictionary.paths.Intern(in_main, dictionary.frames.Intern(work).value()).value();
  const std::uint64_t value = 1'000'000;
  const auto first = writer.AddThread({77, 77, "app", "app"}).value();
  const auto second = writer.AddThread({77, 80, "app", "worker"}).value();
  for (const auto& [time_ns, where, thread] :
       {std::tuple(1'000'000U, in_main, first), std::tuple(2'000'000U, in_work, first),
        std::tuple(3'500'000U, in_work, second), std::tuple(4'000'000U, in_work, second)}) {
    EXPECT_TRUE(writer.Append(stream, time_ns, where, std::span(&value, 1), thread));
  }
  EXPECT_TRUE(writer.SetCount("lost records", 2));
  EXPECT_TRUE(writer.EndRun(run, 5'000'000, 0));
  EXPECT_TRUE(writer.Close());
  return ReadFile(path, kMiB).value();
}

// After an intended change of the format: run once with FIELDCOST_WRITE_GOLDEN=1, review the diff.
TEST(FormatTest, TheSmallRecordingIsAsItWas) {
  const std::filesystem::path golden = std::filesystem::path(FIELDCOST_GOLDEN_DIR) / "small.fct";
  if (std::getenv("FIELDCOST_WRITE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(golden, SmallRecording(), 0644));
  }
  EXPECT_EQ(ReadFile(golden, kMiB).value(), SmallRecording());
  const auto recording = Recording::Open(golden).value();
  EXPECT_EQ(recording.contents().anchors.created_ns, 1'700'000'000'000'000'000U);
  EXPECT_EQ(Self(recording, 0, {}), (std::vector<std::uint64_t>{0, 1'000'000, 3'000'000}));
  EXPECT_EQ(Self(recording, 0, {2'000'000, 4'000'000}),
            (std::vector<std::uint64_t>{0, 0, 2'000'000}));
  EXPECT_EQ(recording.contents().descriptions.runs[0].command, "./app");
  EXPECT_EQ(recording.contents().descriptions.counts[0], (Count{"lost records", 2}));
  EXPECT_EQ(recording.contents().descriptions.threads,
            (std::vector<Thread>{{}, {77, 77, "app", "app"}, {77, 80, "app", "worker"}}));
  EXPECT_TRUE(VerifyFile(golden).value().is_good());
}

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

TEST(FormatTest, SumsAreAsInTheReadme) {
  SumsOfPaths sums{.ids = {3, 10, 400}, .values = {{2'000, 1'000, 1'000ULL << 40}}};
  EXPECT_EQ(Hex(EncodeGroup(1, 16, sums)),
            "0100"
            "0100"
            "03000000"
            "1000000000000000"  // stream, metrics, entries, first block
            "03000000"
            "01000000"  // entries, wide gaps
            "0307ff"
            "0000000000"  // gaps
            "86010000"
            "00000000"  // 390
            "e803000000000000"
            "01000000"
            "01000000"  // scale 1,000, width, wide values
            "0201ff"
            "0000000000"          // 2, 1, and
            "0000000000010000");  // 2^40
  const auto read = ReadGroup(EncodeGroup(1, 16, sums), 0).value();
  EXPECT_EQ(read.entries, 3U);
}

TEST(FormatTest, VectorsAreAsInTheReadme) {
  const std::vector<std::uint64_t> values = {5, 5'000'005, 5, 2'000'005};
  EXPECT_EQ(Hex(EncodeVector({.stream = 1, .metric = 2, .paths = 4, .blocks = 32}, values)),
            "0100"
            "0200"
            "04000000"
            "2000000000000000"  // stream, metric, paths, blocks
            "0500000000000000"
            "40420f0000000000"  // base, scale 1,000,000
            "01000000"
            "00000000"
            "00050002"
            "00000000");
}

TEST(FormatTest, ColumnsOfAnyContentAreReadBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    std::vector<std::uint64_t> values(random() % 50);
    const unsigned bits = static_cast<unsigned>(random() % 65);
    const std::uint64_t base = random() % 3 == 0 ? random() : 0;
    const std::uint64_t scale = random() % 3 == 0 ? random() % 1'000 + 1 : 1;
    for (std::uint64_t& value : values) {
      value = base + (bits == 0 ? 0 : random() >> (64 - bits)) * scale;
    }
    std::string bytes;
    AppendColumn(values, bytes);
    EXPECT_EQ(bytes.size() % kAlignment, 0U);
    ByteReader reader(bytes);
    const Column column = ReadColumn(reader, static_cast<std::uint32_t>(values.size()));
    ASSERT_TRUE(reader.at_end());
    std::vector<std::uint64_t> twice(values.size() + 1);
    SetAll(column, twice);
    EXPECT_EQ(twice.back(), 0U);
    for (std::uint32_t at = 0; at < values.size(); ++at) {
      ASSERT_EQ(column[at], values[at]);
      ASSERT_EQ(twice[at], values[at]);
    }
    AddAll(column, 2, twice);
    for (std::uint32_t at = 0; at < values.size(); ++at) ASSERT_EQ(twice[at], 3 * values[at]);
  }
}

TEST(FormatTest, SumsOfAnyContentAreReadBack) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 2'000; ++i) {
    SumsOfPaths sums{.ids = {}, .values = std::vector<std::vector<std::uint64_t>>(3)};
    std::uint64_t id = random() % 300;
    for (std::size_t left = random() % 40; left > 0; --left) {
      sums.ids.push_back(static_cast<std::uint32_t>(id));
      id += 1 + random() % (random() % 4 == 0 ? 1'000 : 20);
      const auto shift = static_cast<unsigned>(random() % 64);
      for (auto& values : sums.values) values.push_back(random() >> shift);
    }
    std::string bytes;
    AppendSums(sums.ids, sums.values, bytes);
    for (std::uint32_t metric = 0; metric < 3; ++metric) {
      ByteReader reader(bytes);
      const Sums read = ReadSums(reader, metric);
      ASSERT_TRUE(reader.ok());
      EXPECT_EQ(reader.at_end(), metric == 2);
      std::vector<std::uint64_t> out(id + 1);
      ASSERT_TRUE(AddSums(read, 1, out));
      for (std::size_t at = 0; at < sums.ids.size(); ++at) {
        EXPECT_EQ(out[sums.ids[at]], sums.values[metric][at]);
        out[sums.ids[at]] = 0;
      }
      EXPECT_EQ(out, std::vector<std::uint64_t>(id + 1));
      if (!sums.ids.empty()) {
        out.resize(sums.ids.back());  // one path too few
        EXPECT_FALSE(AddSums(read, 1, out));
      }
    }
  }
}

// Reading a file needs little memory if writing it did.
TEST(FormatTest, ChecksLengthsBeforeAllocating) {
  std::string file = EncodeHeader({});
  ByteWriter bytes(file);
  bytes.Fixed(static_cast<std::uint32_t>(FrameType::kDictionary));
  bytes.Fixed(std::uint32_t{0xffffffff});
  bytes.Fixed(std::uint64_t{0});
  const auto recording = Recording::Over(file).value();
  EXPECT_EQ(recording.contents().stop.reason, "a frame claims 4294967295 bytes");
  // Counts in an increment that lacks the bytes for them.
  for (const std::string_view increment :
       {std::string_view("\x00\x01\xff\xff\xff\xff\x0f", 7),
        std::string_view("\x00\x01\x00\xff\xff\xff\xff\x0f", 8),
        std::string_view("\x00\x01\x00\x00\xff\xff\xff\xff\x0f", 9)}) {
    tree::Dictionary dictionary;
    EXPECT_EQ(DecodeIncrement(increment, dictionary.frames, dictionary.paths).error().code,
              ErrorCode::kCorrupt);
  }
}

TEST(FormatTest, APathIsNeverItsOwnCaller) {
  for (const char distance : {'\0', '\2'}) {
    tree::Dictionary one;
    std::string increment("\x00\x01\x01\x00", 4);  // a single, empty text
    increment += std::string(
        "\x01\x01\x00\x00\x00\x01"
        "f\x00",
        8);                               // one frame
    increment += {'\1', distance, '\0'};  // one path
    const Status status = DecodeIncrement(increment, one.frames, one.paths);
    EXPECT_EQ(status.error().message, "dictionary: a path's parent is not before it");
  }
}

}  // namespace
}  // namespace fieldcost::recording
