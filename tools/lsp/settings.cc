#include "tools/lsp/settings.h"

#include <algorithm>

#include "tools/lsp/json_access.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/protocol.h"

namespace fieldcost::lsp {
namespace {

// A larger threshold means "never".
constexpr std::uint64_t kMaxThreshold = 1'000'000'000'000;

void Set(const boost::json::value* value, bool& setting) {
  if (value != nullptr && value->is_bool()) setting = value->get_bool();
}

void Set(const boost::json::value* value, std::uint64_t min, std::uint64_t max,
         std::uint64_t& setting) {
  // Editors may write 10 as 10.0.
  if (value != nullptr && value->is_double()) {
    const double number = value->get_double();
    if (number >= static_cast<double>(min) && number <= static_cast<double>(max)) {
      setting = static_cast<std::uint64_t>(number);
    }
    return;
  }
  const std::optional<std::uint64_t> number = Number(value);
  if (number && *number >= min && *number <= max) setting = *number;
}

}  // namespace

std::optional<Settings> ParseSettings(std::string_view untrusted_json) {
  const std::optional<boost::json::value> parsed = ParseJson(untrusted_json);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const boost::json::value* section = Member(&*parsed, "fieldcost");
  if (section == nullptr) section = &*parsed;
  if (!section->is_object()) return std::nullopt;
  Settings settings;
  Set(Member(section, "hover", "enabled"), settings.hover);
  Set(Member(section, "signatureHelp", "enabled"), settings.signatures);
  const boost::json::value* completion = Member(section, "completion");
  Set(Member(completion, "enabled"), settings.completion);
  Set(Member(completion, "besideOtherServers"), settings.completion_beside_others);
  Set(Member(completion, "maxItems"), 1, kMaxCompletionItems, settings.completion_max_items);
  Set(Member(completion, "minPrefix"), 1, kMaxNameBytes, settings.completion_min_prefix);
  const boost::json::value* hints = Member(section, "inlayHints");
  Set(Member(hints, "enabled"), settings.hints);
  Set(Member(hints, "currentLine", "enabled"), settings.hint_current_line);
  Set(Member(hints, "calls", "enabled"), settings.hint_calls);
  Set(Member(hints, "calls", "minMicroseconds"), 0, kMaxThreshold, settings.calls_min_us);
  Set(Member(hints, "slowTail", "enabled"), settings.hint_tail);
  Set(Member(hints, "slowTail", "minMicroseconds"), 0, kMaxThreshold, settings.tail_min_us);
  Set(Member(hints, "slowTail", "minRatio"), 1, kMaxThreshold, settings.tail_min_ratio);
  Set(Member(hints, "allocation", "enabled"), settings.hint_allocation);
  Set(Member(hints, "allocation", "minKib"), 0, kMaxThreshold, settings.allocation_min_kib);
  Set(Member(hints, "io", "enabled"), settings.hint_io);
  Set(Member(hints, "io", "minKib"), 0, kMaxThreshold, settings.io_min_kib);
  Set(Member(section, "diagnostics", "enabled"), settings.diagnostics);
  if (const auto url = Text(Member(section, "drillDown", "url"))) settings.drill_down_url = *url;
  return settings;
}

}  // namespace fieldcost::lsp
