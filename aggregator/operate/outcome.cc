#include "aggregator/operate/outcome.h"

#include <fmt/format.h>

#include "common/base/json_writer.h"
#include "common/base/terminal_text.h"
#include "common/base/text.h"
#include "common/draw/terminal.h"

namespace fieldcost::aggregator {

Outcome& Outcome::Add(std::string_view name, Value value) {
  facts_.push_back({std::string(name), std::move(value)});
  return *this;
}

std::string Outcome::Text() const {
  std::string text;
  const auto add = [&text](const std::string& name, const std::string& value) {
    text += (text.empty() ? "" : " ") + name + '=' + value;
  };
  for (const Fact& fact : facts_) {
    if (const auto* number = std::get_if<std::uint64_t>(&fact.value)) {
      add(fact.name, std::to_string(*number));
    } else if (const auto* truth = std::get_if<bool>(&fact.value)) {
      add(fact.name, *truth ? "yes" : "no");
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&fact.value)) {
      for (const std::string& one : *list) add(fact.name, EscapeControl(one));
    } else if (const auto& said = std::get<std::string>(fact.value); !said.empty()) {
      add(fact.name, EscapeControl(said));
    }
  }
  return text + '\n';
}

std::vector<std::string> Outcome::Texts(std::string_view name) const {
  for (const Fact& fact : facts_) {
    const auto* list = std::get_if<std::vector<std::string>>(&fact.value);
    if (list != nullptr && fact.name == name) return *list;
  }
  return {};
}

bool Outcome::IsTrue(std::string_view name) const {
  for (const Fact& fact : facts_) {
    if (fact.name == name) return fact.value == Value(true);
  }
  return false;
}

std::string Outcome::Json() const {
  JsonWriter json;
  json.Object();
  for (const Fact& fact : facts_) {
    json.Key(fact.name);
    if (const auto* number = std::get_if<std::uint64_t>(&fact.value)) {
      json.Number(*number);
    } else if (const auto* truth = std::get_if<bool>(&fact.value)) {
      json.Bool(*truth);
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&fact.value)) {
      json.Array();
      for (const std::string& one : *list) json.Text(one);
      json.EndArray();
    } else {
      json.Text(std::get<std::string>(fact.value));
    }
  }
  json.EndObject();
  return json.Take();
}

void Print(const Outcome& outcome, std::string_view done, bool json) {
  if (json) {
    fmt::print("{}", outcome.Json());
  } else if (outcome.empty()) {
    PrintLines(fmt::format("{}\n", done));
  } else {
    PrintLines(fmt::format("{}: {}", done, outcome.Text()));
  }
}

void PrintLines(std::string_view text, std::FILE* file) {
  fmt::print(
      file, "{}",
      draw::WrapLines(EscapeForTerminal(text), {.columns = TerminalColumns(::fileno(file))}));
}

}  // namespace fieldcost::aggregator
