#include "tools/exchange/frame_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/names/rust_name.h"
#include "common/tree/identity.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::exchange {
namespace {

using tree::Frame;
using tree::FrameKind;

constexpr std::string_view kHexDigits = "0123456789abcdef";
// Characters that a module's name cannot contain: text before a '!' that contains one is part of a
// function's name, as in "a::operator!".
constexpr std::string_view kNotInModules = " :()<>,&*!";

constexpr std::string_view kOperator = "operator";  // as in "operator!=(A, B)"

bool IsModule(std::string_view text) {
  return !text.empty() && text != kOperator &&
         text.find_first_of(kNotInModules) == std::string_view::npos;
}

bool IsSpecial(std::string_view text) {
  return text.size() > 2 && text.front() == '[' && text.back() == ']';
}

std::optional<std::uint64_t> Address(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

void AppendEscaped(char c, std::string& text) {
  const auto byte = static_cast<unsigned char>(c);
  text += "\\x";
  text += kHexDigits[byte >> 4];
  text += kHexDigits[byte & 0xf];
}

// Whether the text begins with "\x3b" or the like.
bool IsEscape(std::string_view text) {
  return text.size() >= 4 && text.starts_with("\\x") &&
         kHexDigits.find(text[2]) != std::string_view::npos &&
         kHexDigits.find(text[3]) != std::string_view::npos;
}

// Escapes each character of `characters` as "\xNN".
std::string WithEscaped(std::string_view characters, std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) {
      AppendEscaped(c, escaped);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Escapes as described for FrameText(), except for characters that depend on their position.
std::string Escaped(std::string_view text) { return WithEscaped(";", NameText(text)); }

// Escapes the first character, so that the text is not mistaken for another kind.
std::string WithFirstEscaped(std::string_view text) {
  std::string escaped;
  AppendEscaped(text.front(), escaped);
  return escaped + Escaped(text.substr(1));
}

// Escapes each '!' if the text before the first would be mistaken for a module.
std::string WithoutModule(std::string_view escaped_text) {
  const std::size_t mark = escaped_text.find('!');
  if (mark == std::string_view::npos || !IsModule(escaped_text.substr(0, mark))) {
    return std::string(escaped_text);
  }
  return WithEscaped("!", escaped_text);
}

std::string FunctionText(const Frame& frame) {
  const std::string_view name = frame.function;
  // Surrounding blanks might be lost.
  const bool is_odd =
      name.front() == ' ' || Address(name) || (frame.module.empty() && IsSpecial(name));
  std::string text = is_odd ? WithFirstEscaped(name) : Escaped(name);
  if (text.ends_with(' ')) {
    text.pop_back();
    AppendEscaped(' ', text);
  }
  return frame.module.empty() ? WithoutModule(text) : text;
}

std::string ModuleText(std::string_view module) {
  if (module == kOperator) return WithFirstEscaped(module);
  return WithEscaped(kNotInModules, Escaped(module));
}

std::string Function(std::string_view untrusted_name) {
  // Names in other languages contain dots and '@' without a special meaning.
  if (!untrusted_name.starts_with("_Z") && !untrusted_name.starts_with("_R")) {
    return names::WithoutRustEncoding(untrusted_name);
  }
  return tree::FunctionName(untrusted_name);
}

}  // namespace

std::string NameText(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const CodePoint point = FirstCodePoint(name);
    const bool is_control = point.value < ' ' || point.value == '\x7f';  // or invalid
    if (is_control || IsEscape(name)) {
      AppendEscaped(name.front(), text);
      name.remove_prefix(1);
    } else {
      text += name.substr(0, point.bytes);
      name.remove_prefix(point.bytes);
    }
  }
  return text;
}

std::string NameOfText(std::string_view untrusted_text) {
  std::string name;
  for (std::size_t i = 0; i < untrusted_text.size(); ++i) {
    if (IsEscape(untrusted_text.substr(i))) {
      name += static_cast<char>(kHexDigits.find(untrusted_text[i + 2]) << 4 |
                                kHexDigits.find(untrusted_text[i + 3]));
      i += 3;
    } else {
      name += untrusted_text[i];
    }
  }
  return name;
}

std::string FrameText(const Frame& frame) {
  const std::string module = frame.module.empty() ? "" : ModuleText(frame.module) + "!";
  switch (frame.kind) {
    case FrameKind::kFunction:
      return module + FunctionText(frame);
    case FrameKind::kUnnamed:
      return fmt::format("{}0x{:x}", module, frame.offset);
    case FrameKind::kSpecial:
      break;
  }
  return WithoutModule(Escaped(frame.function));
}

Frame FrameOfText(std::string_view untrusted_text) {
  Frame frame = FrameOfOwnText(untrusted_text);
  frame.module = tree::ModuleName(frame.module);
  frame.function = Function(frame.function);
  return frame;
}

Frame FrameOfOwnText(std::string_view untrusted_text) {
  std::string_view module;
  const std::size_t mark = untrusted_text.find('!');
  if (mark != std::string_view::npos && IsModule(untrusted_text.substr(0, mark))) {
    module = untrusted_text.substr(0, mark);
    untrusted_text.remove_prefix(mark + 1);
  }
  if (const auto offset = Address(untrusted_text)) {
    return {.kind = FrameKind::kUnnamed, .module = NameOfText(module), .offset = *offset};
  }
  if (module.empty() && IsSpecial(untrusted_text)) {
    return tree::SpecialFrame(NameOfText(untrusted_text));
  }
  if (untrusted_text.empty() && module.empty()) return tree::SpecialFrame("[unknown]");
  return {.module = NameOfText(module),
          .function = untrusted_text.empty() ? "[unknown]" : NameOfText(untrusted_text)};
}

Frame FrameOfNames(std::string_view untrusted_module, std::string_view untrusted_function) {
  const std::string module = tree::ModuleName(untrusted_module);
  const std::string_view function = untrusted_function.empty() ? "[unknown]" : untrusted_function;
  if (module.empty() && IsSpecial(function)) return tree::SpecialFrame(std::string(function));
  return {.module = module, .function = Function(function)};
}

std::string MetricText(const tree::Metric& metric) {
  const std::string text = fmt::format("{} {}", metric.name, tree::Name(metric.unit));
  return metric.sampled() ? fmt::format("{} sampled {}", text, metric.per_sample) : text + " exact";
}

bool TakeMetricText(std::string_view untrusted_text, tree::Metric& metric) {
  if (untrusted_text.size() > 2 * tree::kMaxMetricNameBytes) return false;
  const std::size_t name_end = untrusted_text.find(' ');
  if (name_end == std::string_view::npos) return false;
  metric.name = untrusted_text.substr(0, name_end);
  untrusted_text.remove_prefix(name_end + 1);
  const std::size_t unit_end = untrusted_text.find(' ');
  const std::string_view unit = untrusted_text.substr(0, unit_end);
  metric.unit = tree::Unit{};
  for (const auto known : {tree::Unit::kNanoseconds, tree::Unit::kCount, tree::Unit::kBytes}) {
    if (unit == tree::Name(known)) metric.unit = known;
  }
  if (unit_end == std::string_view::npos || !tree::Validate(metric)) return false;
  untrusted_text.remove_prefix(unit_end + 1);
  metric.per_sample = 0;
  if (untrusted_text == "exact") return true;
  constexpr std::string_view kSampled = "sampled ";
  if (!untrusted_text.starts_with(kSampled)) return false;
  const auto per_sample = ParseUint64(untrusted_text.substr(kSampled.size()));
  metric.per_sample = per_sample.value_or(0);
  return metric.sampled();
}

std::string MetricName(std::string_view untrusted_text) {
  std::string name;
  for (const char c : untrusted_text.substr(0, tree::kMaxMetricNameBytes)) {
    const bool allowed = IsWordCharacter(c) || c == '-' || c == '.';
    name += allowed ? LowerCase(c) : '-';
  }
  while (name.ends_with('-')) name.pop_back();
  return name.empty() ? "value" : name;
}

UnitScale UnitOf(std::string_view untrusted_unit) {
  struct Known {
    std::string_view name;
    UnitScale scale;
  };
  constexpr auto kTime = tree::Unit::kNanoseconds;
  constexpr auto kSize = tree::Unit::kBytes;
  constexpr std::array<Known, 16> kKnown = {{{"nanoseconds", {kTime, 1}},
                                             {"ns", {kTime, 1}},
                                             {"microseconds", {kTime, 1'000}},
                                             {"us", {kTime, 1'000}},
                                             {"milliseconds", {kTime, 1'000'000}},
                                             {"ms", {kTime, 1'000'000}},
                                             {"seconds", {kTime, 1'000'000'000}},
                                             {"s", {kTime, 1'000'000'000}},
                                             {"bytes", {kSize, 1}},
                                             {"byte", {kSize, 1}},
                                             {"kilobytes", {kSize, 1 << 10}},
                                             {"kb", {kSize, 1 << 10}},
                                             {"megabytes", {kSize, 1 << 20}},
                                             {"mb", {kSize, 1 << 20}},
                                             {"gigabytes", {kSize, 1 << 30}},
                                             {"gb", {kSize, 1 << 30}}}};
  const auto* const found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& known) {
    return known.name == untrusted_unit;
  });
  if (found != kKnown.end()) return found->scale;
  return {tree::Unit::kCount, 1};
}

}  // namespace fieldcost::exchange
