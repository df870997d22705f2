#include "common/wire/metadata.h"

#include <gtest/gtest.h>

#include <functional>

#include "common/wire/wire.pb.h"
#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

std::string SignedRoot() { return SignRoot(SampleRoot(), {SampleKey(1), SampleKey(2)}); }
std::string SignedTimestamp() { return SignTimestamp(SampleTimestamp(), SampleKey(3)); }
std::string SignedSnapshot() { return SignSnapshot(SampleSnapshot(), SampleKey(4)); }

template <typename T>
ErrorCode CodeOf(const Result<T>& result) {
  return result.has_value() ? ErrorCode{} : result.error().code;
}

TEST(MetadataTest, EveryRoleSurvivesSigningAndVerifying) {
  const RootMetadata root = SampleRoot();
  EXPECT_EQ(VerifyRoot(SignedRoot(), root.root_keys, 2).value(), root);
  EXPECT_EQ(VerifyPinnedRoot(SignedRoot()).value(), root);
  EXPECT_EQ(VerifyTimestamp(SignedTimestamp(), root).value(), SampleTimestamp());
  EXPECT_EQ(VerifySnapshot(SignedSnapshot(), root).value(), SampleSnapshot());
}

TEST(MetadataTest, ARootNeedsItsThresholdOfDifferentKeys) {
  const RootMetadata root = SampleRoot();
  for (const auto& signers : std::vector<std::vector<crypto::PrivateKey>>{
           {}, {SampleKey(1)}, {SampleKey(1), SampleKey(1)}, {SampleKey(1), SampleKey(3)}}) {
    const std::string bytes = SignRoot(root, signers);
    EXPECT_EQ(CodeOf(VerifyRoot(bytes, root.root_keys, 2)), ErrorCode::kUnauthenticated);
    EXPECT_EQ(CodeOf(VerifyPinnedRoot(bytes)), ErrorCode::kUnauthenticated);
  }
  EXPECT_EQ(CodeOf(VerifyRoot(SignedRoot(), root.root_keys, 0)), ErrorCode::kUnauthenticated);
  EXPECT_EQ(CodeOf(VerifyRoot(SignedRoot(), {}, 1)), ErrorCode::kUnauthenticated);
}

TEST(MetadataTest, KeysOfOneRoleDoNotSignForAnother) {
  const RootMetadata root = SampleRoot();
  EXPECT_EQ(CodeOf(VerifyTimestamp(SignTimestamp(SampleTimestamp(), SampleKey(4)), root)),
            ErrorCode::kUnauthenticated);
  EXPECT_EQ(CodeOf(VerifySnapshot(SignSnapshot(SampleSnapshot(), SampleKey(3)), root)),
            ErrorCode::kUnauthenticated);
}

TEST(MetadataTest, AFileOfOneRoleDoesNotPassForAnother) {
  RootMetadata root = SampleRoot();
  root.timestamp_keys = root.snapshot_keys = {SampleKey(5).public_key()};
  const std::string timestamp = SignTimestamp(SampleTimestamp(), SampleKey(5));
  const std::string snapshot = SignSnapshot(SampleSnapshot(), SampleKey(5));
  ASSERT_TRUE(VerifyTimestamp(timestamp, root).has_value());
  EXPECT_EQ(CodeOf(VerifyTimestamp(snapshot, root)), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOf(VerifySnapshot(timestamp, root)), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOf(VerifyRoot(snapshot, root.snapshot_keys, 1)), ErrorCode::kCorrupt);
}

TEST(MetadataTest, ASignatureOverTheBarePayloadDoesNotCount) {
  proto::SignedMetadata file;
  ASSERT_TRUE(file.ParseFromString(SignedTimestamp()));
  file.mutable_signatures(0)->set_signature(SampleKey(3).Sign(file.payload()));
  EXPECT_EQ(CodeOf(VerifyTimestamp(file.SerializeAsString(), SampleRoot())),
            ErrorCode::kUnauthenticated);
}

TEST(MetadataTest, TruncationAtEveryByteIsRefused) {
  const std::string bytes = SignedSnapshot();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(VerifySnapshot(bytes.substr(0, size), SampleRoot()).has_value()) << size;
  }
}

TEST(MetadataTest, NoFlippedBitChangesTheContentUnseen) {
  const std::string bytes = SignedTimestamp();
  int refused = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto timestamp = VerifyTimestamp(flipped, SampleRoot());
    if (timestamp.has_value()) {
      EXPECT_EQ(*timestamp, SampleTimestamp()) << "bit " << bit;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()));
}

// Verifies a snapshot payload that was manipulated before it was signed.
ErrorCode CodeOfSpoiledSnapshot(const std::function<void(proto::SnapshotPayload&)>& spoil) {
  proto::SignedMetadata file;
  proto::SnapshotPayload payload;
  EXPECT_TRUE(file.ParseFromString(SignedSnapshot()));
  EXPECT_TRUE(payload.ParseFromString(file.payload()));
  spoil(payload);
  file.set_payload(payload.SerializeAsString());
  std::string input = "fieldcost metadata v1";
  input += '\0';
  input += file.payload();
  file.mutable_signatures(0)->set_signature(SampleKey(4).Sign(input));
  return CodeOf(VerifySnapshot(file.SerializeAsString(), SampleRoot()));
}

TEST(MetadataTest, SpoiledSnapshotsAreRefusedEvenIfSigned) {
  EXPECT_EQ(CodeOfSpoiledSnapshot([](auto&) {}), ErrorCode{});
  EXPECT_EQ(CodeOfSpoiledSnapshot([](auto& p) { p.set_format_version(2); }),
            ErrorCode::kUnsupported);
  EXPECT_EQ(CodeOfSpoiledSnapshot([](auto& p) { p.set_role("root"); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfSpoiledSnapshot([](auto& p) { p.set_fragment_bits(2); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfSpoiledSnapshot([](auto& p) { p.set_fragment_bits(64); }), ErrorCode::kTooLarge);
  EXPECT_EQ(CodeOfSpoiledSnapshot([](auto& p) { p.mutable_fragment_sha256()->pop_back(); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfSpoiledSnapshot([](auto& p) { p.add_fragment_bytes(1); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfSpoiledSnapshot([](auto& p) { p.mutable_fragment_rows()->RemoveLast(); }),
            ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfSpoiledSnapshot([](auto& p) { p.set_fragment_bytes(0, kMaxFragmentBytes + 1); }),
            ErrorCode::kTooLarge);
}

TEST(MetadataTest, UnusableRootsAreRefused) {
  const auto code = [](const std::function<void(RootMetadata&)>& spoil) {
    RootMetadata root = SampleRoot();
    spoil(root);
    return CodeOf(
        VerifyRoot(SignRoot(root, {SampleKey(1), SampleKey(2)}), SampleRoot().root_keys, 2));
  };
  EXPECT_EQ(code([](auto&) {}), ErrorCode{});
  EXPECT_EQ(code([](auto& root) { root.root_threshold = 0; }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](auto& root) { root.root_threshold = 3; }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](auto& root) { root.root_keys[1] = root.root_keys[0]; }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](auto& root) { root.timestamp_keys.clear(); }), ErrorCode::kCorrupt);
  EXPECT_EQ(code([](auto& root) { root.snapshot_keys.assign(17, {}); }), ErrorCode::kCorrupt);
}

TEST(MetadataTest, RefusesOperatorTextsThatATerminalCouldNotShowAsTheyAre) {
  const auto code = [](std::string OperatorStatement::*text, std::string value) {
    RootMetadata root = SampleRoot();
    root.operated_by.*text = std::move(value);
    EXPECT_EQ(CheckOperator(root.operated_by).has_value(),
              VerifyPinnedRoot(SignRoot(root, {SampleKey(1), SampleKey(2)})).has_value());
    return CodeOf(VerifyPinnedRoot(SignRoot(root, {SampleKey(1), SampleKey(2)})));
  };
  struct Text {
    std::string OperatorStatement::*text;
    std::size_t max_bytes;
  };
  for (const Text& text : {Text{&OperatorStatement::name, kMaxOperatorNameBytes},
                           Text{&OperatorStatement::contact, kMaxOperatorContactBytes},
                           Text{&OperatorStatement::privacy, kMaxOperatorPrivacyBytes}}) {
    EXPECT_EQ(code(text.text, ""), ErrorCode{});
    EXPECT_EQ(code(text.text, std::string(text.max_bytes, 'a')), ErrorCode{});
    for (const std::string& bad :
         {std::string(text.max_bytes + 1, 'a'), std::string("a\nb"), std::string("a\0b", 3),
          std::string("\x1b[2J"), std::string("\xc3"), std::string("\u202ename"),
          std::string("a\\x41")}) {
      EXPECT_EQ(code(text.text, bad), ErrorCode::kCorrupt) << bad;
    }
  }
}

TEST(MetadataTest, PolicyKeysAreOptionalAndAnOldRootHasNone) {
  const std::string with = SignRoot(SampleRootWithPolicy(), {SampleKey(1), SampleKey(2)});
  EXPECT_EQ(VerifyPinnedRoot(with).value(), SampleRootWithPolicy());
  EXPECT_TRUE(VerifyPinnedRoot(SignedRoot()).value().policy_keys.empty());
  RootMetadata twice = SampleRootWithPolicy();
  twice.policy_keys.push_back(twice.policy_keys[0]);
  EXPECT_EQ(CodeOf(VerifyPinnedRoot(SignRoot(twice, {SampleKey(1), SampleKey(2)}))),
            ErrorCode::kCorrupt);
}

TEST(MetadataTest, TooManySignaturesAreRefused) {
  const std::vector<crypto::PrivateKey> signers(kMaxSignatures + 1, SampleKey(1));
  EXPECT_EQ(CodeOf(VerifyPinnedRoot(SignRoot(SampleRoot(), signers))), ErrorCode::kTooLarge);
  EXPECT_EQ(CodeOf(VerifyPinnedRoot(std::string(kMaxMetadataBytes + 1, 'x'))),
            ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace fieldcost::wire
