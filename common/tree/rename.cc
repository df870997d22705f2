#include "common/tree/rename.h"

#include <algorithm>
#include <optional>

#include "common/base/text.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

constexpr std::string_view kOperatorSigns = "=<>!+-*/%^&|";
constexpr std::string_view kOperator = "operator";

bool IsSign(std::string_view text, std::size_t at) {
  return at < text.size() && kOperatorSigns.find(text[at]) != std::string_view::npos;
}

// Whether the '=' or '!' at `at` is part of an operator's name.
bool IsOfOperator(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && IsSign(text, begin - 1)) --begin;
  return text.substr(0, begin).ends_with(kOperator);
}

// The position of the '=' between the names; nullopt if none, or if it is ambiguous.
std::optional<std::size_t> Separator(std::string_view text) {
  std::optional<std::size_t> found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '=' || IsOfOperator(text, at)) continue;
    if (found.has_value()) return std::nullopt;
    found = at;
  }
  return found;
}

bool HasModule(std::string_view name) {
  const std::size_t at = name.find('!');
  return at != std::string_view::npos && !IsOfOperator(name, at);
}

// The texts that the '*'s of the pattern match, earlier ones as short as possible; nullopt if the
// pattern does not match.
std::optional<std::vector<std::string_view>> Match(std::string_view pattern,
                                                   std::string_view text) {
  const std::vector<std::string_view> parts = Split(pattern, "*");
  if (parts.size() == 1) {
    if (text != pattern) return std::nullopt;
    return std::vector<std::string_view>();
  }
  if (!text.starts_with(parts.front())) return std::nullopt;
  text.remove_prefix(parts.front().size());
  if (!text.ends_with(parts.back())) return std::nullopt;
  text.remove_suffix(parts.back().size());
  std::vector<std::string_view> found;
  for (std::size_t i = 1; i + 1 < parts.size(); ++i) {
    const std::size_t at = text.find(parts[i]);
    if (at == std::string_view::npos) return std::nullopt;
    found.push_back(text.substr(0, at));
    text.remove_prefix(at + parts[i].size());
  }
  found.push_back(text);
  return found;
}

std::string Fill(std::string_view pattern, const std::vector<std::string_view>& texts) {
  std::string filled;
  std::size_t next = 0;
  for (const char c : pattern) {
    if (c == '*') {
      filled += texts[next++];
    } else {
      filled += c;
    }
  }
  return filled;
}

}  // namespace

Result<RenameRules> RenameRules::Parse(std::span<const std::string> untrusted_rules) {
  RenameRules rules;
  for (const std::string& text : untrusted_rules) {
    const auto at = Separator(text);
    Rule rule = {.text = text};
    if (at) rule.old_name = text.substr(0, *at);
    if (at) rule.new_name = text.substr(*at + 1);
    rule.has_module = HasModule(rule.old_name);
    const auto stars = std::count(rule.new_name.begin(), rule.new_name.end(), '*');
    if (rule.old_name.empty() || rule.new_name.empty() || text.size() > kMaxNameBytes ||
        (HasModule(rule.new_name) && !rule.has_module) ||
        (stars != 0 && stars != std::count(rule.old_name.begin(), rule.old_name.end(), '*'))) {
      return Fail(ErrorCode::kInvalidArgument,
                  "\"{}\" is not OLD=NEW with one '=' and the same number of '*' on both sides",
                  EscapeControl(text.substr(0, kMaxMetricNameBytes)));
    }
    rules.rules_.push_back(std::move(rule));
  }
  return rules;
}

Frame RenameRules::Apply(const Frame& frame) {
  if (frame.kind != FrameKind::kFunction) return frame;
  for (Rule& rule : rules_) {
    const std::string name = rule.has_module ? frame.module + '!' + frame.function : frame.function;
    const auto texts = Match(rule.old_name, name);
    if (!texts) continue;
    ++rule.matches;
    const std::string renamed = Fill(rule.new_name, *texts);
    Frame result = frame;
    result.function = renamed;
    if (HasModule(renamed) && rule.has_module) {
      const std::size_t end = renamed.find('!');
      result.module = renamed.substr(0, end);
      result.function = renamed.substr(end + 1);
    }
    return result;
  }
  return frame;
}

std::vector<std::string> RenameRules::Unmatched() const {
  std::vector<std::string> unmatched;
  for (const Rule& rule : rules_) {
    if (rule.matches == 0) unmatched.push_back(rule.text);
  }
  return unmatched;
}

}  // namespace fieldcost::tree
