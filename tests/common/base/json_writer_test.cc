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

TEST(JsonWriterTest, MillisecondsAreExact) {
  JsonWriter json;
  json.Array().Milliseconds(0).Milliseconds(12'000'345).Milliseconds(UINT64_MAX).EndArray();
  EXPECT_EQ(json.TakeValue(), "[0.000000,12.000345,18446744073709.551615]");
}

TEST(JsonWriterTest, MembersHaveTheTypeOfTheirValue) {
  JsonWriter json;
  json.Object().Member("a", nullptr).Member("b", true).Member("c", -7).Member("d", 0.5);
  json.Member("e", "true").EndObject();
  EXPECT_EQ(json.TakeValue(), R"({"a":null,"b":true,"c":-7,"d":0.5,"e":"true"})");
}

TEST(JsonWriterTest, LinesBeginAfterCommas) {
  JsonWriter json;
  json.Object().Key("a").Array().NewLine().Number(1).NewLine().Number(2).NewLine().EndArray();
  json.NewLine().Key("b").Array().EndArray().EndObject();
  EXPECT_EQ(json.size(), std::string("{\"a\":[\n1,\n2\n],\n\"b\":[]}").size());
  EXPECT_EQ(json.TakeValue(), "{\"a\":[\n1,\n2\n],\n\"b\":[]}");
}

TEST(JsonWriterTest, TextsInScriptsHaveNoBytesThatHtmlInterprets) {
  JsonWriter json(JsonWriter::Place::kHtmlScript);
  json.Text("</script>&\"<!--");
  EXPECT_EQ(json.TakeValue(), R"("\u003c/script\u003e\u0026\"\u003c!--")");
}

TEST(JsonWriterDeathTest, EveryOpenedContainerMustBeClosed) {
  JsonWriter json;
  json.Object();
  EXPECT_DEATH((void)json.Take(), "check failed: open_ == 0");
}

}  // namespace
}  // namespace fieldcost
