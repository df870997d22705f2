#include "tools/exchange/json_reader.h"

#include <gtest/gtest.h>

#include "tools/exchange/limits.h"

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

TEST(JsonReaderTest, AllThatIsThereComesInItsOrderNumbersAsTheyAreWritten) {
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

TEST(ScaledNumberTest, DigitsAreExact) {
  EXPECT_EQ(ScaledNumber("40157422000.675", 3), 40'157'422'000'675U);
  EXPECT_EQ(ScaledNumber("1.5", 3), 1500U);
  EXPECT_EQ(ScaledNumber("1.9999", 3), 1999U);
  EXPECT_EQ(ScaledNumber("0.1", 0), 0U);
  EXPECT_EQ(ScaledNumber("-0.0", 3), 0U);
  EXPECT_EQ(ScaledNumber("1e3", 0), 1000U);
  EXPECT_EQ(ScaledNumber("1.25E+2", 3), 125'000U);
  EXPECT_EQ(ScaledNumber("125e-2", 3), 1250U);
  EXPECT_EQ(ScaledNumber("18446744073709551615", 0), ~std::uint64_t{0});
  EXPECT_EQ(ScaledNumber("18446744073709551616", 0), std::nullopt);
  EXPECT_EQ(ScaledNumber("1e999999999999", 0), std::nullopt);
  EXPECT_EQ(ScaledNumber("0e999999999999", 0), 0U);
  EXPECT_EQ(ScaledNumber("1e-999999999999", 0), 0U);
  for (const char* text : {"", "-1", "1e", "x", "1.x", "-1e-99", "1e5x", "."}) {
    EXPECT_EQ(ScaledNumber(text, 3), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace fieldcost::exchange
