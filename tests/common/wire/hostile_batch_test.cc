#include <gtest/gtest.h>
#include <zstd.h>

#include <functional>

#include "common/wire/batch.h"
#include "common/wire/wire.pb.h"
#include "common/wire/zstd_frame.h"
#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

constexpr DecompressionLimits kNoLimits = {.max_compressed_bytes = kMiB, .max_decoded_bytes = kMiB};

// The sample batch as a message, to be manipulated.
proto::Batch SampleMessage() {
  Decompressor decompressor;
  proto::Batch batch;
  const std::string body = EncodeBatch(SampleBatch()).value();
  EXPECT_TRUE(batch.ParseFromString(std::string(decompressor.Decompress(body, kNoLimits).value())));
  return batch;
}

Status DecodeMessage(const proto::Batch& batch) {
  BatchDecoder decoder;
  return decoder.Decode(Compress(batch.SerializeAsString(), 3).value());
}

ErrorCode CodeOf(const Status& status) {
  return status.has_value() ? ErrorCode{} : status.error().code;
}

ErrorCode CodeAfter(const std::function<void(proto::Batch&)>& spoil) {
  proto::Batch batch = SampleMessage();
  spoil(batch);
  return CodeOf(DecodeMessage(batch));
}

bool DecodesTo(const std::string& body, const BatchContent& content) {
  BatchDecoder decoder;
  if (!decoder.Decode(body).has_value()) return false;
  if (decoder.row_count() != content.rows.size()) return false;
  UntrustedRow row;
  for (std::size_t i = 0; i < decoder.row_count(); ++i) {
    decoder.GetRow(i, row);
    if (row.api != content.rows[i].api || row.histogram != content.rows[i].histogram) return false;
  }
  return true;
}

TEST(HostileBatchTest, TruncationAtEveryByteIsRefused) {
  const std::string body = EncodeBatch(SampleBatch()).value();
  BatchDecoder decoder;
  for (std::size_t size = 0; size < body.size(); ++size) {
    ASSERT_EQ(CodeOf(decoder.Decode(body.substr(0, size))), ErrorCode::kCorrupt) << size;
  }
}

TEST(HostileBatchTest, BothHalvesOfDecodingNameWhatTheyDo) {
  BatchDecoder decoder;
  const Status not_zstd = decoder.Decompress("not a frame");
  ASSERT_EQ(CodeOf(not_zstd), ErrorCode::kCorrupt);
  EXPECT_EQ(not_zstd.error().message.rfind("decoding a batch: ", 0), 0U);
  ASSERT_TRUE(decoder.Decompress(Compress("not a message", 3).value()).has_value());
  const Status no_message = decoder.Parse();
  ASSERT_EQ(CodeOf(no_message), ErrorCode::kCorrupt);
  EXPECT_EQ(no_message.error().message.rfind("decoding a batch: ", 0), 0U);
  EXPECT_EQ(decoder.row_count(), 0U);
  ASSERT_TRUE(decoder.Decompress(EncodeBatch(SampleBatch()).value()).has_value());
  ASSERT_TRUE(decoder.Parse().has_value());
  EXPECT_EQ(decoder.row_count(), SampleBatch().rows.size());
}

TEST(HostileBatchTest, NoFlippedBitChangesTheContentUnseen) {
  const std::string body = EncodeBatch(SampleBatch()).value();
  BatchDecoder decoder;
  int refused = 0;
  for (std::size_t bit = 0; bit < body.size() * 8; ++bit) {
    std::string flipped = body;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    if (decoder.Decode(flipped).has_value()) {
      ASSERT_TRUE(DecodesTo(flipped, SampleBatch())) << "bit " << bit;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(HostileBatchTest, TruncatedAndFlippedMessagesInAGoodFrameDoNotCrash) {
  const std::string bytes = SampleMessage().SerializeAsString();
  BatchDecoder decoder;
  UntrustedRow row;
  const auto decode = [&](const std::string& spoiled) {
    if (!decoder.Decode(Compress(spoiled, 1).value()).has_value()) return false;
    for (std::size_t i = 0; i < decoder.row_count(); ++i) decoder.GetRow(i, row);
    return true;
  };
  ASSERT_TRUE(decode(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // A batch truncated between its header fields is one without rows; no other prefix is a batch.
    if (decode(bytes.substr(0, size))) {
      ASSERT_EQ(decoder.row_count(), 0U) << size;
    }
  }
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    decode(flipped);
  }
}

TEST(HostileBatchTest, BombsAreRefusedBeforeTheyGoOff) {
  BatchDecoder decoder;
  // Within the size limit, but 1 MiB from a few dozen bytes.
  EXPECT_EQ(CodeOf(decoder.Decode(Compress(std::string(kMaxBatchDecodedBytes, '\0'), 3).value())),
            ErrorCode::kTooLarge);
  EXPECT_EQ(
      CodeOf(decoder.Decode(Compress(std::string(kMaxBatchDecodedBytes + 1, '\0'), 3).value())),
      ErrorCode::kTooLarge);
  // A header that announces 2^62 bytes: nothing may be allocated for it.
  const std::string huge("\x28\xb5\x2f\xfd\xe0\0\0\0\0\0\0\0\x40\x01\0\0", 16);
  EXPECT_EQ(CodeOf(decoder.Decode(huge)), ErrorCode::kTooLarge);
  EXPECT_EQ(CodeOf(decoder.Decode(std::string(kMaxBatchBodyBytes + 1, 'x'))), ErrorCode::kTooLarge);
}

TEST(HostileBatchTest, OnlyOneWholeFrameOfKnownSizeIsAccepted) {
  const std::string body = EncodeBatch(SampleBatch()).value();
  BatchDecoder decoder;
  ASSERT_TRUE(decoder.Decode(body).has_value());
  EXPECT_EQ(CodeOf(decoder.Decode(body + body)), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOf(decoder.Decode(body + "x")), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOf(decoder.Decode(std::string("\x50\x2a\x4d\x18\0\0\0\0", 8))),
            ErrorCode::kCorrupt);  // a skippable frame
  const std::string bytes = SampleMessage().SerializeAsString();
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), bytes.data(), bytes.size()));
  ZSTD_freeCCtx(context);
  EXPECT_EQ(CodeOf(decoder.Decode(frame)), ErrorCode::kCorrupt);
}

TEST(HostileBatchTest, OtherVersionsAreUnsupported) {
  for (const std::uint32_t version : {0U, wire::kBatchFormatVersion + 1, ~0U}) {
    EXPECT_EQ(CodeAfter([version](auto& batch) { batch.set_format_version(version); }),
              ErrorCode::kUnsupported);
  }
}

TEST(HostileBatchTest, ColumnsOfDifferentLengthAreRefused) {
  using Spoil = std::function<void(proto::Batch&)>;
  const std::vector<Spoil> spoils = {
      [](auto& b) { b.add_row_first_contribution(true); },
      [](auto& b) { b.mutable_row_first_contribution()->Clear(); },
      [](auto& b) { b.mutable_table()->add_module_soname(0); },
      [](auto& b) { b.mutable_table()->add_module_package_version(0); },
      [](auto& b) { b.mutable_table()->add_module_build_id(0); },
      [](auto& b) { b.mutable_table()->add_api_module(0); },
      [](auto& b) { b.mutable_table()->add_api_symbol(0); },
      [](auto& b) { b.mutable_table()->add_api_symbol_version(0); },
      [](auto& b) { b.mutable_table()->add_row_api(0); },
      [](auto& b) { b.mutable_table()->add_row_metric(1); },
      [](auto& b) { b.mutable_table()->add_row_week(1); },
      [](auto& b) { b.mutable_table()->add_row_bucket_count(0); },
      [](auto& b) { b.mutable_table()->add_bucket_slot(1); },
      [](auto& b) { b.mutable_table()->add_bucket_count(1); },
      [](auto& b) { b.mutable_table()->add_bucket_sum_low(1); },
      [](auto& b) { b.mutable_table()->add_bucket_sum_high(1); },
      [](auto& b) { b.mutable_table()->add_bucket_squares_low(1); },
      [](auto& b) { b.mutable_table()->add_bucket_squares_high(1); },
      [](auto& b) { b.mutable_table()->set_row_bucket_count(0, 0xffffffff); },
      [](auto& b) { b.mutable_table()->set_row_bucket_count(0, 0); },
  };
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    EXPECT_EQ(CodeAfter(spoils[i]), ErrorCode::kCorrupt) << "spoil " << i;
  }
}

TEST(HostileBatchTest, IndicesOutOfRangeAreRefused) {
  using Spoil = std::function<void(proto::RowTable&)>;
  const std::vector<Spoil> spoils = {
      [](auto& t) { t.set_module_soname(0, static_cast<std::uint32_t>(t.strings_size())); },
      [](auto& t) { t.set_module_package_version(0, 0xffffffff); },
      [](auto& t) { t.set_module_build_id(0, 0x80000000); },
      [](auto& t) { t.set_api_module(0, 1); },
      [](auto& t) { t.set_api_symbol(0, 99); },
      [](auto& t) { t.set_api_symbol_version(0, 99); },
      [](auto& t) { t.set_row_api(0, 2); },
      [](auto& t) { t.clear_strings(); },
  };
  for (std::size_t i = 0; i < spoils.size(); ++i) {
    EXPECT_EQ(CodeAfter([&](auto& batch) { spoils[i](*batch.mutable_table()); }),
              ErrorCode::kCorrupt)
        << "spoil " << i;
  }
}

TEST(HostileBatchTest, LimitsAreEnforced) {
  EXPECT_EQ(CodeAfter([](auto& b) { b.mutable_table()->add_strings(std::string(256, 'x')); }),
            ErrorCode::kTooLarge);
  EXPECT_EQ(CodeAfter([](auto& b) { b.mutable_hardware()->set_os_release(std::string(64, 'x')); }),
            ErrorCode::kTooLarge);
  EXPECT_EQ(CodeAfter([](auto& b) {
              for (std::size_t i = 0; i <= kMaxStrings; ++i) b.mutable_table()->add_strings("");
            }),
            ErrorCode::kTooLarge);
  const auto add_rows = [](proto::Batch& b, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
      b.mutable_table()->add_row_api(0);
      b.mutable_table()->add_row_metric(1);
      b.mutable_table()->add_row_week(1);
      b.mutable_table()->add_row_bucket_count(0);
      b.add_row_first_contribution(false);
    }
  };
  EXPECT_EQ(CodeAfter([&](auto& b) { add_rows(b, kMaxBatchRows - 3); }), ErrorCode{});
  EXPECT_EQ(CodeAfter([&](auto& b) { add_rows(b, kMaxBatchRows - 2); }), ErrorCode::kTooLarge);
}

TEST(HostileBatchTest, AMalformedRowDoesNotCostTheOthers) {
  for (const std::uint32_t slot : {65U, 0xffffffffU, SampleMessage().table().bucket_slot(0)}) {
    proto::Batch batch = SampleMessage();
    batch.mutable_table()->set_bucket_slot(1, slot);  // out of range, or as in the first bucket
    BatchDecoder decoder;
    ASSERT_TRUE(decoder.Decode(Compress(batch.SerializeAsString(), 3).value()).has_value());
    ASSERT_EQ(decoder.row_count(), 3U);
    UntrustedRow row;
    decoder.GetRow(0, row);
    EXPECT_TRUE(row.malformed);
    decoder.GetRow(1, row);
    EXPECT_FALSE(row.malformed);
    EXPECT_EQ(row.histogram, SampleBatch().rows[1].histogram);
  }
}

TEST(HostileBatchTest, UnknownMetricsAndFieldsAreTheReadersToIgnore) {
  proto::Batch batch = SampleMessage();
  batch.mutable_table()->set_row_metric(0, 4711);
  // Field 1000, varint 5: from a future version.
  const std::string bytes = batch.SerializeAsString() + std::string("\xc0\x3e\x05", 3);
  BatchDecoder decoder;
  const Status status = decoder.Decode(Compress(bytes, 3).value());
  ASSERT_TRUE(status.has_value()) << status.error().message;
  UntrustedRow row;
  decoder.GetRow(0, row);
  EXPECT_EQ(row.metric_number, 4711U);
}

TEST(HostileBatchTest, DeepNestingIsRefused) {
  // Nested unknown groups: start-group tags of field 1000, then as many ends.
  const auto nested = [](int depth) {
    std::string bytes = SampleMessage().SerializeAsString();
    for (int i = 0; i < depth; ++i) bytes += "\xc3\x3e";
    for (int i = 0; i < depth; ++i) bytes += "\xc4\x3e";
    BatchDecoder decoder;
    return CodeOf(decoder.Decode(Compress(bytes, 3).value()));
  };
  EXPECT_EQ(nested(kMaxNesting - 2), ErrorCode{});
  EXPECT_EQ(nested(kMaxNesting + 1), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace fieldcost::wire
