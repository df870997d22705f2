#include "common/base/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/check.h"
#include "common/base/json_number.h"
#include "common/base/text.h"

namespace fieldcost {
namespace {

// The bytes that a text may contain if it is written as it is.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned byte = ' '; byte <= '~'; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

bool IsPlain(char byte) { return kPlain[static_cast<unsigned char>(byte)]; }

}  // namespace

void JsonWriter::Separate() {
  if (needs_comma_) json_ += ',';
  if (needs_line_) json_ += '\n';
  needs_comma_ = true;
  needs_line_ = false;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  json_ += bracket;
  ++open_;
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  FIELDCOST_CHECK(open_ > 0);
  --open_;
  needs_comma_ = false;
  Separate();
  json_ += bracket;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view name) {
  Separate();
  Quote(name);
  json_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view untrusted_text) {
  Separate();
  Quote(untrusted_text);
  return *this;
}

// Most texts need no escapes.
void JsonWriter::Quote(std::string_view untrusted_text) {
  if (place_ == Place::kHtmlScript) {
    for (const char c : QuoteJson(untrusted_text)) {
      if (c == '<' || c == '>' || c == '&') {
        json_ += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      } else {
        json_ += c;
      }
    }
  } else if (std::all_of(untrusted_text.begin(), untrusted_text.end(), IsPlain)) {
    json_ += '"';
    json_ += untrusted_text;
    json_ += '"';
  } else {
    json_ += QuoteJson(untrusted_text);
  }
}

JsonWriter& JsonWriter::Number(double value) { return Raw(JsonNumber(value)); }

JsonWriter& JsonWriter::NumberText(std::uint64_t value) { return Text(std::to_string(value)); }

JsonWriter& JsonWriter::Bool(bool truth) { return Raw(truth ? "true" : "false"); }

JsonWriter& JsonWriter::Null() { return Raw("null"); }

JsonWriter& JsonWriter::Raw(std::string_view value) {
  Separate();
  json_ += value;
  return *this;
}

JsonWriter& JsonWriter::Microseconds(std::uint64_t ns) { return Fixed(ns, 1'000); }

JsonWriter& JsonWriter::Milliseconds(std::uint64_t ns) { return Fixed(ns, 1'000'000); }

JsonWriter& JsonWriter::Fixed(std::uint64_t value, std::uint64_t one) {
  Raw(std::to_string(value / one));
  std::string decimals = std::to_string(one + value % one);
  decimals[0] = '.';  // for the digit of `one`
  json_ += decimals;
  return *this;
}

JsonWriter& JsonWriter::NewLine() {
  needs_line_ = true;
  return *this;
}

std::string JsonWriter::Take() { return TakeValue() + '\n'; }

std::string JsonWriter::TakeValue() {
  FIELDCOST_CHECK(open_ == 0);
  return std::move(json_);
}

}  // namespace fieldcost
