#include "aggregator/probe_server/web/guard.h"

#include <gtest/gtest.h>

#include "aggregator/probe_server/pages/links.h"
#include "common/http/request_target.h"

namespace fieldcost::probe_server {
namespace {

TEST(LinkTest, ReadsBackEncodedLinkParts) {
  std::string text;
  for (char c = 0x20; c < 0x7f; ++c) text += c;
  text += "äß€😀";
  EXPECT_EQ(http::Parameters::Parse("a=" + EncodeLinkPart(text))->Find("a"), text);
}

TEST(GuardTest, OnlyTheBearerSchemeIsAToken) {
  EXPECT_EQ(TokenOf({.headers = {{"authorization", "Bearer abc"}}}), "abc");
  EXPECT_EQ(TokenOf({.headers = {{"Authorization", "Basic abc"}}}), std::nullopt);
  EXPECT_EQ(TokenOf({}), std::nullopt);
}

}  // namespace
}  // namespace fieldcost::probe_server
