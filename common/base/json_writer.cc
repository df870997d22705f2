#include "common/base/json_writer.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/check.h"
#include "common/base/json_number.h"
#include "common/base/text.h"

namespace fieldcost {

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

JsonWriter& JsonWriter::Key(std::string_view literal) {
  Raw(QuoteJson(literal));
  json_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view untrusted_text) {
  if (place_ == Place::kAnywhere) return Raw(QuoteJson(untrusted_text));
  std::string quoted;
  for (const char c : QuoteJson(untrusted_text)) {
    if (c == '<' || c == '>' || c == '&') {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return Raw(quoted);
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

JsonWriter& JsonWriter::Microseconds(std::uint64_t ns) {
  return Raw(fmt::format("{}.{:03}", ns / 1000, ns % 1000));
}

JsonWriter& JsonWriter::Milliseconds(std::uint64_t ns) {
  return Raw(fmt::format("{}.{:06}", ns / 1'000'000, ns % 1'000'000));
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
