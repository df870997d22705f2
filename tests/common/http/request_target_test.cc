#include "common/http/request_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fieldcost::http {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(ParametersTest, ValuesAreDecodedOnce) {
  const auto parsed = Parameters::Parse("a=1&b=x+y%2B%252B&a=2&c&=d&&e=%C3%A4");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->Find("a"), "1");
  EXPECT_THAT(parsed->All("a"), ElementsAre("1", "2"));
  EXPECT_EQ(parsed->Find("b"), "x y+%2B");
  EXPECT_EQ(parsed->Find("c"), "");
  EXPECT_EQ(parsed->Find("e"), "ä");
  EXPECT_EQ(parsed->Find("none"), "");
}

TEST(ParametersTest, RefusesValuesThatAreNotText) {
  for (const char* text : {"a=%", "a=%1", "a=%zz", "a=%00", "a=%0d%0aSet-Cookie:x", "a=%ff",
                           "a=%c3%28", "a=%e2%80%ae", "%07=a"}) {
    EXPECT_FALSE(Parameters::Parse(text).has_value()) << text;
  }
}

TEST(ParametersTest, TheirNumberIsBounded) {
  std::string text;
  for (std::size_t i = 0; i < kMaxParameters; ++i) text += "a=1&";
  EXPECT_TRUE(Parameters::Parse(text).has_value());
  EXPECT_FALSE(Parameters::Parse(text + "a=1").has_value());
}

TEST(RequestTargetTest, AnAddressIsSplitBeforeItIsDecoded) {
  const auto target = ParseTarget("/events/a%2Fb+c?x=1");
  ASSERT_TRUE(target.has_value());
  EXPECT_THAT(target->path, ElementsAre("events", "a/b+c"));
  EXPECT_EQ(target->query.Find("x"), "1");
  EXPECT_TRUE(ParseTarget("/")->path.empty());
  EXPECT_FALSE(ParseTarget("events").has_value());
  EXPECT_FALSE(ParseTarget("/a/b/c/d/e/f/g/h/i").has_value());
}

TEST(PlainPathTest, SplitsAddressesWithASingleSpelling) {
  EXPECT_THAT(PlainPath::Parse("/v1/batches")->parts(), ElementsAre("v1", "batches"));
  EXPECT_THAT(PlainPath::Parse("/a/b/c/d/e/f/g/h")->parts(), SizeIs(kMaxPathParts));
  for (const char* target : {"/", "/v1/", "/v1//batches", "v1", "*", "/v1/batches?", "/v1?x=1",
                             "/v1/b%61tches", "/a/b/c/d/e/f/g/h/i"}) {
    EXPECT_FALSE(PlainPath::Parse(target).has_value()) << target;
  }
}

TEST(ParametersTest, TheCookieOfThatNameIsFoundAndNoOther) {
  EXPECT_EQ(FindCookie("a=1; b=2;c=3", "b"), "2");
  EXPECT_EQ(FindCookie("a=1; b=2;c=3", "c"), "3");
  EXPECT_EQ(FindCookie("ab=1", "b"), std::nullopt);
  EXPECT_EQ(FindCookie("", "b"), std::nullopt);
  EXPECT_EQ(FindCookie(";;=;b", "b"), "");
}

}  // namespace
}  // namespace fieldcost::http
