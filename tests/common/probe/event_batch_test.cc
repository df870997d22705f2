#include "common/probe/event_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/base/file.h"
#include "common/probe/probe_limits.h"
#include "common/wire/zstd_frame.h"
#include "tests/common/probe/sample_batch.h"

namespace fieldcost::probe {
namespace {

TEST(ProbeBatchTest, DecodingGivesBackWhatWasEncoded) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    const Batch batch = RandomBatch(random);
    const auto body = EncodeBatch(batch);
    ASSERT_TRUE(body.has_value()) << body.error().message;
    const auto decoded = DecodeBatch(*body);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    ASSERT_EQ(*decoded, batch);
  }
}

TEST(ProbeBatchTest, ItsBytesAreThoseOfTheFormat) {
  const std::filesystem::path path = std::filesystem::path(FIELDCOST_GOLDEN_DIR) / "batch.pb";
  const auto golden = ReadFile(path, kMaxBatchDecodedBytes);
  ASSERT_TRUE(golden.has_value()) << golden.error().message;
  wire::Decompressor decompressor;
  const auto body = EncodeBatch(SampleBatch());
  ASSERT_TRUE(body.has_value());
  const auto bytes = decompressor.Decompress(*body, {.max_compressed_bytes = kMaxBatchBodyBytes,
                                                     .max_decoded_bytes = kMaxBatchDecodedBytes});
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(*bytes, *golden);
  const auto decoded = DecodeBatch(*wire::Compress(*golden, 1));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, SampleBatch());
}

struct Spoiled {
  const char* what;
  std::function<void(Batch&)> change;
};

TEST(ProbeBatchTest, RefusesInvalidBatchesWhenEncodingAndDecoding) {
  const std::vector<Spoiled> cases = {
      {"no number", [](Batch& b) { b.sequence = 0; }},
      {"run 0", [](Batch& b) { b.runs[0].id = 0; }},
      {"session 0", [](Batch& b) { b.runs[0].session = 0; }},
      {"run twice", [](Batch& b) { b.runs.push_back(b.runs[0]); }},
      {"no program", [](Batch& b) { b.runs[0].program.clear(); }},
      {"build too long", [](Batch& b) { b.runs[0].build.assign(kMaxBuildBytes + 1, 'b'); }},
      {"start before 2020", [](Batch& b) { b.runs[0].start_ns = kLeastNs - 1; }},
      {"waited for longer than it ran", [](Batch& b) { b.runs[0].waited_ns = 1001; }},
      {"tag with a line feed", [](Batch& b) { b.runs[0].tags = {"a\nb"}; }},
      {"empty tag", [](Batch& b) { b.runs[0].tags = {""}; }},
      {"tags not sorted",
       [](Batch& b) {
         b.runs[0].tags = {"b", "a"};
       }},
      {"tag twice",
       [](Batch& b) {
         b.runs[0].tags = {"a", "a"};
       }},
      {"too many tags",
       [](Batch& b) { b.runs[0].tags = {"1", "2", "3", "4", "5", "6", "7", "8", "9"}; }},
      {"no label", [](Batch& b) { b.sites[0].label.clear(); }},
      {"label too long", [](Batch& b) { b.sites[0].label.assign(65, 'l'); }},
      {"label that is no UTF-8", [](Batch& b) { b.sites[0].label = "\xff"; }},
      {"label that turns text",
       [](Batch& b) {
         b.sites[0].label =
             "a\xe2\x80\xae"
             "b";
       }},
      {"label with an escape", [](Batch& b) { b.sites[0].label = "\x1b[31m"; }},
      {"kind of a site", [](Batch& b) { b.sites[0].kind = static_cast<SiteKind>(3); }},
      {"file with a control character", [](Batch& b) { b.frames[0].file = "a\x7f"; }},
      {"frame that is not there", [](Batch& b) { b.stacks[0].frames = {2}; }},
      {"stack too deep", [](Batch& b) { b.stacks[0].frames.assign(kMaxStackFrames + 1, 0); }},
      {"event of run 0", [](Batch& b) { b.events[1].id.run = 0; }},
      {"event twice", [](Batch& b) { b.events[1].id = b.events[0].id; }},
      {"event of an unknown run", [](Batch& b) { b.events[0].run = 1; }},
      {"event that ends before", [](Batch& b) { b.events[0].end_ns = b.events[0].begin_ns - 1; }},
      {"event without a label", [](Batch& b) { b.events[0].label.clear(); }},
      {"hit of no event", [](Batch& b) { b.hits[0].event.number = 9; }},
      {"hit of no run", [](Batch& b) { b.hits[0].run = 1; }},
      {"hit of no site", [](Batch& b) { b.hits[0].site = 3; }},
      {"hit of no stack", [](Batch& b) { b.hits[0].stack = 2; }},
      {"kind of a hit", [](Batch& b) { b.hits[0].kind = static_cast<HitKind>(5); }},
      {"time after 2100", [](Batch& b) { b.hits[0].ns = kMostNs; }},
  };
  for (const Spoiled& spoiled : cases) {
    SCOPED_TRACE(spoiled.what);
    Batch batch = SampleBatch();
    ASSERT_TRUE(CheckBatch(batch).has_value());
    spoiled.change(batch);
    const Status status = CheckBatch(batch);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
    EXPECT_FALSE(EncodeBatch(batch).has_value());
  }
}

TEST(ProbeBatchTest, MoreThanItMayHaveIsTooLarge) {
  Batch batch = SampleBatch();
  batch.hits.resize(kMaxHits + 1, batch.hits[0]);
  EXPECT_EQ(EncodeBatch(batch).error().code, ErrorCode::kTooLarge);
}

TEST(ProbeBatchTest, DamagedBodiesAreRefused) {
  const std::string body = *EncodeBatch(SampleBatch());
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::string damaged = body;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    const auto decoded = DecodeBatch(damaged);  // the frame has a checksum, and a meaningless bit
    EXPECT_TRUE(!decoded || *decoded == SampleBatch()) << i;
    EXPECT_FALSE(DecodeBatch(body.substr(0, i)).has_value()) << i;
  }
  EXPECT_FALSE(DecodeBatch("").has_value());
}

TEST(ProbeBatchTest, SpoiledMessagesAreRefusedOrValid) {
  wire::Decompressor decompressor;
  const std::string body = *EncodeBatch(SampleBatch());
  const std::string bytes(*decompressor.Decompress(
      body,
      {.max_compressed_bytes = kMaxBatchBodyBytes, .max_decoded_bytes = kMaxBatchDecodedBytes}));
  std::mt19937_64 random(2);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string spoiled = bytes;
    for (std::uint64_t k = 0; k <= random() % 3; ++k)
      spoiled[random() % spoiled.size()] = static_cast<char>(random());
    const auto batch = DecodeBatch(*wire::Compress(spoiled, 1));
    if (batch) {
      EXPECT_TRUE(CheckBatch(*batch).has_value());
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(EventIdTest, ItIsATraceId) {
  const EventId id = {0xabcdef0123456789, 0x1f};
  EXPECT_EQ(id.Hex(), "abcdef0123456789000000000000001f");
  EXPECT_EQ(EventId::Parse(id.Hex()), id);
  for (const char* text :
       {"", "abc", "abcdef0123456789000000000000001g", " bcdef0123456789000000000000001f",
        "abcdef01234567890000000000000 1f", "+bcdef0123456789000000000000001f"}) {
    EXPECT_EQ(EventId::Parse(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fieldcost::probe
