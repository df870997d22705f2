#include "aggregator/store/invitation.h"

#include <gtest/gtest.h>

#include "aggregator/store/store_limits.h"

namespace fieldcost::store {
namespace {

Invitation Example() {
  return {.uses = 300,
          .made_at = std::chrono::sys_days(std::chrono::year(2026) / 11 / 27),
          .expires_at = std::chrono::sys_days(std::chrono::year(2026) / 12 / 11),
          .label = "lab",
          .used = {{228, 2}, {229, 1}}};
}

// The worked example of LAYOUT.md.
TEST(InvitationTest, ARecordIsReadBack) {
  const std::string bytes(
      "\x01\xac\x02\x80\x90\xa3\xd8\x06\x80\xfa\xec\xd8\x06\x03lab\xe4\x01\x02\xe5\x01\x01");
  EXPECT_EQ(Example().Encode(), bytes);
  EXPECT_EQ(Invitation::Decode(bytes).value(), Example());
}

TEST(InvitationTest, RefusesRecordsThatAreMalformed) {
  const std::string bytes = Example().Encode();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const bool is_whole = size == 17 || size == 20;  // the last epochs may be missing
    EXPECT_EQ(Invitation::Decode(bytes.substr(0, size)).has_value(), is_whole) << size;
  }
  std::string other = bytes;
  other[0] = 2;
  EXPECT_EQ(Invitation::Decode(other).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(Invitation::Decode(bytes + bytes.substr(17)).has_value()) << "epochs do not ascend";
  Invitation none = Example();
  none.uses = 0;
  EXPECT_FALSE(Invitation::Decode(none.Encode()).has_value());
}

TEST(InvitationTest, ForgetsTheOldestEpochs) {
  Invitation invitation;
  EXPECT_FALSE(invitation.WasUsed());
  for (std::uint64_t epoch = 1; epoch <= 9; ++epoch) invitation.Use(epoch);
  invitation.Use(9);
  EXPECT_EQ(invitation.used.size(), kMaxInvitationEpochs);
  EXPECT_EQ(invitation.UsedIn(5), 0U);
  EXPECT_EQ(invitation.UsedIn(9), 2U);
  EXPECT_TRUE(invitation.WasUsed());
}

}  // namespace
}  // namespace fieldcost::store
