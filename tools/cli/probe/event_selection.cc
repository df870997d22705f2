#include "tools/cli/probe/event_selection.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/ascii.h"
#include "common/base/nearest.h"
#include "common/base/text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kMostPercentChars = 12;
constexpr double kMostPercent = 10'000;
constexpr std::array<std::string_view, 5> kKeys = {"build", "label", "program", "session", "tag"};
constexpr std::string_view kWhatThereIs =
    "select events by tag:TAG, build:BUILD, label:LABEL, program:NAME, session:ID "
    "(comma-separated), "
    "or by name, last or all";

bool IsKey(std::string_view text) { return std::ranges::find(kKeys, text) != kKeys.end(); }

// Splits at commas that are not preceded by a backslash.
std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\\,")) {
      parts.back() += text[++i];
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

std::optional<std::uint64_t> ParseHex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Error NotUnderstood(std::string_view untrusted_part) {
  const std::string_view key = untrusted_part.substr(0, untrusted_part.find(':'));
  const std::string meant =
      key.size() == untrusted_part.size()
          ? std::string()
          : MeantName(key, std::vector<std::string>(kKeys.begin(), kKeys.end()));
  return Fail(ErrorCode::kInvalidArgument, "'{}' is not a valid event selector{}; {}",
              EscapeControl(untrusted_part), meant.empty() ? "" : ": did you mean " + meant + ":?",
              kWhatThereIs);
}

Status AddCondition(std::string_view key, const std::string& value, EventSelection& selection) {
  if (value.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "nothing after {}:", key);
  }
  if (key == "label") selection.label = value;
  if (key == "build") selection.build = value;
  if (key == "program") selection.program = value;
  if (key == "tag") selection.tags.push_back(value);
  if (key == "session") {
    const auto session = value.size() <= kRunDigits ? ParseHex(value) : std::nullopt;
    if (!session || *session == 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  "'{}' is not a session ID of up to 16 hexadecimal digits", EscapeControl(value));
    }
    selection.session = *session;
  }
  return {};
}

Status AddPart(const std::string& part, EventSelection& selection) {
  const std::size_t colon = part.find(':');
  if (colon != std::string::npos && IsKey(std::string_view(part).substr(0, colon))) {
    return AddCondition(part.substr(0, colon), part.substr(colon + 1), selection);
  }
  if (part == "all") return {};
  if (part == "last") {
    selection.last = true;
    return {};
  }
  const auto name = ParseEventName(part);
  if (!name) return NotUnderstood(part);
  selection.names.push_back(*name);
  return {};
}

// The length of a leading file name including its colon; 0 if none.
std::size_t FileLength(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return 0;
  const std::string_view before = text.substr(0, colon);
  // A file name contains a dot or a slash; any other word before a colon is a mistyped key.
  if (IsKey(before) || before.find_first_of("./") == std::string_view::npos) return 0;
  return before.find(',') == std::string_view::npos ? colon + 1 : 0;
}

}  // namespace

bool EventName::Means(const probe::EventId& id) const {
  if (number && *number != id.number) return false;
  return id.Hex().starts_with(digits);
}

std::optional<EventName> ParseEventName(std::string_view untrusted_text) {
  EventName name;
  const std::size_t dot = untrusted_text.find('.');
  if (dot != std::string_view::npos) {
    name.number = ParseUint64(untrusted_text.substr(dot + 1));
    if (!name.number || dot > kRunDigits) return std::nullopt;
  }
  const std::string_view digits = untrusted_text.substr(0, dot);
  if (digits.empty() || digits.size() > kIdDigits) return std::nullopt;
  if (digits.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
    return std::nullopt;
  }
  name.digits = LowerCase(digits);
  return name;
}

bool EventSelection::Has(const probe::EventRow& row) const {
  const auto is = [](const std::string& wanted, const std::string& value) {
    return wanted.empty() || wanted == value;
  };
  if (!is(label, row.label) || !is(build, row.build) || !is(program, row.program)) return false;
  if (session != 0 && session != row.session) return false;
  if (row.begin_ns < from_ns || (to_ns != 0 && row.begin_ns >= to_ns)) return false;
  for (const std::string& tag : tags) {
    if (std::ranges::find(row.tags, tag) == row.tags.end()) return false;
  }
  return names.empty() ||
         std::ranges::any_of(names, [&](const EventName& name) { return name.Means(row.id); });
}

Result<EventSelection> ParseEventSelection(std::string_view untrusted_text) {
  EventSelection selection;
  const std::size_t file = FileLength(untrusted_text);
  if (file != 0) selection.file = untrusted_text.substr(0, file - 1);
  untrusted_text.remove_prefix(file);
  if (file != 0 && untrusted_text.empty()) return selection;  // all events of the file
  for (const std::string& part : SplitAtCommas(untrusted_text)) {
    FIELDCOST_TRY(AddPart(part, selection));
  }
  return selection;
}

std::optional<double> ParsePercent(std::string_view untrusted_text) {
  if (untrusted_text.ends_with('%')) untrusted_text.remove_suffix(1);
  if (untrusted_text.empty() || untrusted_text.size() > kMostPercentChars ||
      untrusted_text.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::nullopt;
  }
  double percent = 0;
  const auto [end, error] = std::from_chars(untrusted_text.data(),
                                            untrusted_text.data() + untrusted_text.size(), percent);
  if (error != std::errc() || end != untrusted_text.data() + untrusted_text.size()) {
    return std::nullopt;
  }
  if (percent > kMostPercent) return std::nullopt;
  return percent / 100;
}

}  // namespace fieldcost::cli
