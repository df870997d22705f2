#include "common/wire/policy.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/wire/wire.pb.h"
#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

std::string Signed() { return SignPolicy(SamplePolicy(), SampleKey(5)); }

ErrorCode CodeOf(const std::string& bytes, const RootMetadata& root = SampleRootWithPolicy()) {
  const auto policy = VerifyPolicy(bytes, root);
  return policy.has_value() ? ErrorCode{} : policy.error().code;
}

TEST(PolicyTest, EveryFieldSurvivesSigningAndVerifying) {
  EXPECT_EQ(VerifyPolicy(Signed(), SampleRootWithPolicy()).value(), SamplePolicy());
  PolicyMetadata full = SamplePolicy();
  for (const PolicyNumber& number : PolicyNumbers()) full.*number.member = number.max;
  EXPECT_EQ(VerifyPolicy(SignPolicy(full, SampleKey(5)), SampleRootWithPolicy()).value(), full);
  for (const PolicyNumber& number : PolicyNumbers()) full.*number.member = number.min;
  EXPECT_EQ(VerifyPolicy(SignPolicy(full, SampleKey(5)), SampleRootWithPolicy()).value(), full);
  EXPECT_EQ(PolicyNumbers().size(), 16U);
}

TEST(PolicyTest, OnlyThePolicyKeysOfTheRootSign) {
  EXPECT_EQ(CodeOf(SignPolicy(SamplePolicy(), SampleKey(3))), ErrorCode::kUnauthenticated);
  EXPECT_EQ(CodeOf(SignPolicy(SamplePolicy(), SampleKey(1))), ErrorCode::kUnauthenticated);
  EXPECT_EQ(CodeOf(Signed(), SampleRoot()), ErrorCode::kUnauthenticated);
}

TEST(PolicyTest, RefusesFilesOfAnotherRoleEvenUnderThePolicyKey) {
  EXPECT_EQ(CodeOf(SignTimestamp(SampleTimestamp(), SampleKey(5))), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOf(SignRoot(SampleRootWithPolicy(), {SampleKey(5)})), ErrorCode::kCorrupt);
  RootMetadata root = SampleRootWithPolicy();
  root.timestamp_keys = root.policy_keys;
  EXPECT_FALSE(VerifyTimestamp(Signed(), root).has_value());
}

TEST(PolicyTest, TruncationAndTooManyBytesAreRefused) {
  const std::string bytes = Signed();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_NE(CodeOf(bytes.substr(0, size)), ErrorCode{}) << size;
  }
  EXPECT_EQ(CodeOf(std::string(kMaxPolicyBytes + 1, 'x')), ErrorCode::kCorrupt);
}

TEST(PolicyTest, NoFlippedBitChangesTheContentUnseen) {
  const std::string bytes = Signed();
  int refused = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto policy = VerifyPolicy(flipped, SampleRootWithPolicy());
    if (policy.has_value()) {
      EXPECT_EQ(*policy, SamplePolicy()) << "bit " << bit;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size()));
}

TEST(PolicyTest, NumbersTextsAndListsOutOfBoundsAreRefusedEvenIfSigned) {
  const auto code = [](const std::function<void(PolicyMetadata&)>& spoil) {
    PolicyMetadata policy = SamplePolicy();
    spoil(policy);
    return CodeOf(SignPolicy(policy, SampleKey(5)));
  };
  EXPECT_EQ(code([](auto&) {}), ErrorCode{});
  for (const PolicyNumber& number : PolicyNumbers()) {
    EXPECT_EQ(code([&](auto& policy) { policy.*number.member = number.max + 1; }),
              ErrorCode::kCorrupt)
        << number.name;
    if (number.min == 0) continue;
    EXPECT_EQ(code([&](auto& policy) { policy.*number.member = number.min - 1; }),
              ErrorCode::kCorrupt)
        << number.name;
  }
  const std::vector<std::function<void(PolicyMetadata&)>> spoilers = {
      [](auto& p) { p.modules[0].soname = ""; },
      [](auto& p) { p.modules[0].soname = "lib/a.so"; },
      [](auto& p) { p.modules[0].soname = std::string(kMaxSonameBytes + 1, 'a'); },
      [](auto& p) { p.modules[0].package = "With Space"; },
      [](auto& p) { p.modules[0].package = std::string(kMaxVersionBytes + 1, 'a'); },
      [](auto& p) { std::swap(p.modules[0], p.modules[1]); },
      [](auto& p) { p.modules[1] = p.modules[0]; },
      [](auto& p) { p.weights[0].weight_per_65536 = 65537; },
      [](auto& p) { p.weights[0].symbol = ""; },
      [](auto& p) { p.weights[0].symbol = "a b"; },
      [](auto& p) { p.weights.push_back(p.weights[0]); },
      [](auto& p) {
        p.weights.push_back({"liba.so.1", "a", 1});
      },
      [](auto& p) {
        p.modules.clear();
        for (std::size_t i = 0; i <= kMaxPolicyModules; ++i) {
          p.modules.push_back({.soname = fmt::format("lib{:06}.so", i)});
        }
      },
      [](auto& p) {
        p.weights.clear();
        for (std::size_t i = 0; i <= kMaxPolicyWeights; ++i) {
          p.weights.push_back({"libz.so.1", fmt::format("s{:06}", i), 1});
        }
      },
  };
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    EXPECT_EQ(code(spoilers[i]), ErrorCode::kCorrupt) << "spoiler " << i;
  }
}

TEST(PolicyTest, TheLongestListsFitTheirLimit) {
  PolicyMetadata policy = SamplePolicy();
  policy.modules.clear();
  policy.weights.clear();
  for (std::size_t i = 0; i < kMaxPolicyModules; ++i) {
    policy.modules.push_back({.soname = fmt::format("lib{:06}.so", i), .package = "libsample0"});
  }
  for (std::size_t i = 0; i < kMaxPolicyWeights; ++i) {
    policy.weights.push_back({"libsample.so.1", fmt::format("sample_symbol_{:06}", i), 1});
  }
  EXPECT_EQ(VerifyPolicy(SignPolicy(policy, SampleKey(5)), SampleRootWithPolicy()).value(), policy);
}

// Verifies a payload that was manipulated before it was signed.
ErrorCode CodeOfSpoiled(const std::function<void(proto::PolicyPayload&)>& spoil) {
  proto::SignedMetadata file;
  proto::PolicyPayload payload;
  EXPECT_TRUE(file.ParseFromString(Signed()));
  EXPECT_TRUE(payload.ParseFromString(file.payload()));
  spoil(payload);
  file.set_payload(payload.SerializeAsString());
  const std::string input = std::string("fieldcost metadata v1\0", 22) + file.payload();
  file.mutable_signatures(0)->set_signature(SampleKey(5).Sign(input));
  return CodeOf(file.SerializeAsString());
}

TEST(PolicyTest, ColumnsOfDifferentLengthsAndOtherVersionsAreRefused) {
  EXPECT_EQ(CodeOfSpoiled([](auto&) {}), ErrorCode{});
  EXPECT_EQ(CodeOfSpoiled([](auto& p) { p.set_format_version(2); }), ErrorCode::kUnsupported);
  EXPECT_EQ(CodeOfSpoiled([](auto& p) { p.set_role("root"); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfSpoiled([](auto& p) { p.add_module_package("x"); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfSpoiled([](auto& p) { p.add_module_soname("x"); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfSpoiled([](auto& p) { p.add_weight_symbol("x"); }), ErrorCode::kCorrupt);
  EXPECT_EQ(CodeOfSpoiled([](auto& p) { p.add_weight_per_65536(1); }), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace fieldcost::wire
