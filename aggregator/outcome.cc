#include "aggregator/outcome.h"

#include <fmt/format.h>

#include "common/base/text.h"

namespace fieldcost::aggregator {

Outcome& Outcome::Add(std::string_view name, Value value) {
  facts_.push_back({std::string(name), std::move(value)});
  return *this;
}

std::string Outcome::Text() const {
  std::string text;
  for (const Fact& fact : facts_) {
    if (!text.empty()) text += ' ';
    text += fact.name + '=';
    if (const auto* number = std::get_if<std::uint64_t>(&fact.value)) {
      text += std::to_string(*number);
    } else if (const auto* truth = std::get_if<bool>(&fact.value)) {
      text += *truth ? "yes" : "no";
    } else {
      text += EscapeControl(std::get<std::string>(fact.value));
    }
  }
  return text + '\n';
}

std::string Outcome::Json() const {
  std::string text = "{";
  for (const Fact& fact : facts_) {
    if (text.size() > 1) text += ',';
    text += QuoteJson(fact.name) + ':';
    if (const auto* number = std::get_if<std::uint64_t>(&fact.value)) {
      text += std::to_string(*number);
    } else if (const auto* truth = std::get_if<bool>(&fact.value)) {
      text += *truth ? "true" : "false";
    } else {
      text += QuoteJson(std::get<std::string>(fact.value));
    }
  }
  return text + "}\n";
}

void Print(const Outcome& outcome, std::string_view done, bool json) {
  if (json) {
    fmt::print("{}", outcome.Json());
  } else if (outcome.empty()) {
    fmt::print("{}\n", done);
  } else {
    fmt::print("{}: {}", done, outcome.Text());
  }
}

}  // namespace fieldcost::aggregator
