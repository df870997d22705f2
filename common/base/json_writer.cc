#include "common/base/json_writer.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/check.h"
#include "common/base/text.h"

namespace fieldcost {

void JsonWriter::Separate() {
  if (needs_comma_) json_ += ',';
  needs_comma_ = true;
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
  json_ += bracket;
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view literal) {
  Separate();
  json_ += QuoteJson(literal);
  json_ += ':';
  needs_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::Text(std::string_view untrusted_text) {
  Separate();
  json_ += QuoteJson(untrusted_text);
  return *this;
}

JsonWriter& JsonWriter::Number(std::uint64_t value) { return Raw(std::to_string(value)); }

JsonWriter& JsonWriter::NumberText(std::uint64_t value) { return Text(std::to_string(value)); }

JsonWriter& JsonWriter::Bool(bool truth) { return Raw(truth ? "true" : "false"); }

JsonWriter& JsonWriter::Raw(std::string_view value) {
  Separate();
  json_ += value;
  return *this;
}

JsonWriter& JsonWriter::Microseconds(std::uint64_t ns) {
  return Raw(fmt::format("{}.{:03}", ns / 1000, ns % 1000));
}

std::string JsonWriter::Take() {
  FIELDCOST_CHECK(open_ == 0);
  json_ += '\n';
  return std::move(json_);
}

}  // namespace fieldcost
