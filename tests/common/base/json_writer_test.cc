#include "common/base/json_writer.h"

#include <gtest/gtest.h>

namespace fieldcost {
namespace {

TEST(JsonWriterTest, CommasStandBetweenValuesOnly) {
  JsonWriter json;
  json.Object().Key("a").Number(1).Key("b").Array().Text("x").Text("y").EndArray();
  json.Key("c").Object().EndObject().Key("d").Array().EndArray().Key("e").Bool(true).EndObject();
  EXPECT_EQ(json.Take(), "{\"a\":1,\"b\":[\"x\",\"y\"],\"c\":{},\"d\":[],\"e\":true}\n");
}

TEST(JsonWriterTest, NumbersAreExact) {
  JsonWriter json;
  json.Array().Number(UINT64_MAX).NumberText(UINT64_MAX).Microseconds(1'234'005).EndArray();
  EXPECT_EQ(json.Take(), "[18446744073709551615,\"18446744073709551615\",1234.005]\n");
}

TEST(JsonWriterTest, TextsAreEscaped) {
  JsonWriter json;
  json.Text("a\"b\n\xff");
  EXPECT_EQ(json.Take(), "\"a\\\"b\\u000a\\ufffd\"\n");
}

TEST(JsonWriterDeathTest, EveryOpenedContainerMustBeClosed) {
  JsonWriter json;
  json.Object();
  EXPECT_DEATH((void)json.Take(), "check failed: open_ == 0");
}

}  // namespace
}  // namespace fieldcost
