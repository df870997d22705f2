#include "tools/report/link_template.h"

#include <algorithm>
#include <array>

#include "common/base/text.h"

namespace fieldcost::report {
namespace {

constexpr std::array<std::string_view, 4> kPlaceholders = {"{soname}", "{symbol}", "{version}",
                                                           "{api}"};

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string PercentEncode(std::string_view untrusted_text) {
  std::string encoded;
  for (const char c : untrusted_text) {
    if (IsUnreserved(c)) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string_view PlaceholderAt(std::string_view text) {
  for (const std::string_view placeholder : kPlaceholders) {
    if (text.starts_with(placeholder)) return placeholder;
  }
  return "";
}

}  // namespace

Status CheckLinkTemplate(std::string_view untrusted_template) {
  const auto refuse = [&](std::string_view why) -> Status {
    return Fail(ErrorCode::kInvalidArgument, "link template '{}': {}",
                EscapeControl(untrusted_template.substr(0, kMaxTemplateBytes)), why);
  };
  if (untrusted_template.empty()) return refuse("it is empty");
  if (untrusted_template.size() > kMaxTemplateBytes) return refuse("it is too long");
  const auto forbidden = [](char c) {
    return c <= ' ' || c >= '\x7f' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '\\' ||
           c == '`';
  };
  if (std::any_of(untrusted_template.begin(), untrusted_template.end(), forbidden)) {
    return refuse("it holds what no URL does");
  }
  const std::size_t colon = untrusted_template.find(':');
  const std::size_t path = untrusted_template.find_first_of("/?#");
  if (colon < path && !untrusted_template.starts_with("https://") &&
      !untrusted_template.starts_with("http://")) {
    return refuse("it must begin with https:// or http://, or be relative");
  }
  for (std::size_t i = 0; i < untrusted_template.size(); ++i) {
    if (untrusted_template[i] != '{' && untrusted_template[i] != '}') continue;
    const std::string_view placeholder = PlaceholderAt(untrusted_template.substr(i));
    if (placeholder.empty())
      return refuse("braces are for {soname}, {symbol}, {version} and {api}");
    i += placeholder.size() - 1;
  }
  return {};
}

std::string FillLink(std::string_view link_template, const stats::ApiKey& api) {
  const std::array<std::string, 4> values = {
      PercentEncode(api.soname), PercentEncode(api.symbol), PercentEncode(api.package_version),
      PercentEncode(api.soname) + "!" + PercentEncode(api.symbol)};
  std::string link;
  for (std::size_t i = 0; i < link_template.size();) {
    const std::string_view placeholder = PlaceholderAt(link_template.substr(i));
    if (placeholder.empty()) {
      link += link_template[i++];
      continue;
    }
    const auto index = static_cast<std::size_t>(
        std::find(kPlaceholders.begin(), kPlaceholders.end(), placeholder) - kPlaceholders.begin());
    link += values[index];
    i += placeholder.size();
  }
  return link;
}

}  // namespace fieldcost::report
