#include "tools/exchange/json_reader.h"

#include <gtest/gtest.h>

#include "tools/exchange/exchange_limits.h"

namespace fieldcost::exchange {
namespace {

class Noted : public JsonEvents {
 public:
  Status BeginObject() override { return Note("{"); }
  Status EndObject() override { return Note("}"); }
  Status BeginArray() override { return Note("["); }
  Status EndArray() override { return Note("]"); }
  Status Key(std::string_view name) override { return Note("k:" + std::string(name)); }
  Status String(std::string_view text) override { return Note("s:" + std::string(text)); }
  Status Number(std::string_view digits) override { return Note("n:" + std::string(digits)); }
  Status Other() override { return Note("o"); }

  std::string notes;

 private:
  Status Note(const std::string& text) {
    if (text == "s:stop") return Fail(ErrorCode::kInvalidArgument, "asked to");
    notes += text + " ";
    return {};
  }
};

TEST(JsonReaderTest, ReportsValuesInOrderAndNumbersAsWritten) {
  Noted noted;
  const Status status = ReadJson(
      R"( {"a\u00e9": [1, -2.50, 1e3, 40157422000.675, 18446744073709551616], "": {"b": "x\n"}, "c": [true, null]} )",
      noted);
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_EQ(noted.notes,
            "{ k:a\xc3\xa9 [ n:1 n:-2.50 n:1e3 n:40157422000.675 n:18446744073709551616 ] k: { k:b "
            "s:x\n } k:c [ o o ] } ");
}

TEST(JsonReaderTest, ErrorsTellThePlace) {
  const auto error = [](const std::string& json) {
    Noted noted;
    const Status status = ReadJson(json, noted);
    return status ? Error{ErrorCode{}, ""} : status.error();
  };
  EXPECT_EQ(error("[1, 2").code, ErrorCode::kCorrupt);
  EXPECT_EQ(error("").code, ErrorCode::kCorrupt);
  EXPECT_EQ(error("[1] x").code, ErrorCode::kCorrupt);
  EXPECT_NE(error("[1, }").message.find("at byte 4"), std::string::npos) << error("[1, }").message;
  EXPECT_EQ(error("[\"stop\"]").code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(error(std::string(kMaxJsonDepth + 1, '[')).code, ErrorCode::kTooLarge);
  EXPECT_EQ(error("[\"" + std::string(kMaxJsonTextBytes + 1, 'a') + "\"]").code,
            ErrorCode::kTooLarge);
  EXPECT_EQ(error("[" + std::string(kMaxJsonTextBytes + 1, '1') + "]").code, ErrorCode::kTooLarge);
  EXPECT_EQ(error("[\"\xff\"]").code, ErrorCode{});
}

TEST(JsonReaderTest, ReadsTheBeginningOfATextThatEndsEarly) {
  const auto beginning = [](const std::string& json, std::string& notes) {
    Noted noted;
    const Result<bool> is_whole = ReadJsonBeginning(json, noted);
    notes = noted.notes;
    return is_whole ? std::optional(*is_whole) : std::nullopt;
  };
  std::string notes;
  EXPECT_EQ(beginning(R"([{"a": 1}, {"b": "tex)", notes), false);
  EXPECT_EQ(notes, "[ { k:a n:1 } { k:b ");
  EXPECT_EQ(beginning(R"([{"a": 1},)", notes), false);
  EXPECT_EQ(beginning(R"([{"a": 1,},])", notes), true);
  EXPECT_EQ(notes, "[ { k:a n:1 } ] ");
  for (const char* json : {"[1] x", "[1, }", "[1}", "[\"stop\"", "x"}) {
    EXPECT_EQ(beginning(json, notes), std::nullopt) << json;
  }
}

}  // namespace
}  // namespace fieldcost::exchange
