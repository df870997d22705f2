#include "common/json/json_text.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>

namespace fieldcost {
namespace {

namespace json = boost::json;

TEST(JsonTextTest, WritesEveryKindOfValue) {
  const json::value value = {{"null", nullptr},
                             {"yes", true},
                             {"least", std::numeric_limits<std::int64_t>::min()},
                             {"most", std::numeric_limits<std::uint64_t>::max()},
                             {"text", "a\"b"},
                             {"list", json::array{1, json::array{}, json::object{}}}};
  EXPECT_EQ(JsonText(value),
            R"({"null":null,"yes":true,"least":-9223372036854775808,"most":18446744073709551615,)"
            R"("text":"a\"b","list":[1,[],{}]})");
}

TEST(JsonTextTest, DoublesHaveNoNeedlessExponentAndAreNullIfNotFinite) {
  EXPECT_EQ(JsonText(json::array{7.0, 0.0625, -15.0, 1e-9, std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()}),
            "[7,0.0625,-15,1e-09,null,null]");
}

TEST(JsonTextTest, InvalidBytesInTextsAndKeysAreReplaced) {
  EXPECT_EQ(JsonText(json::object{{"k\xff", "a\xc3"}, {"\x1b", "\u202e"}}),
            R"({"k\ufffd":"a\ufffd","\u001b":"\u202e"})");
}

}  // namespace
}  // namespace fieldcost
