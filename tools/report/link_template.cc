#include "tools/report/link_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "common/base/ascii.h"
#include "common/base/percent_encode.h"
#include "common/base/text.h"
#include "tools/report/file_names.h"

namespace fieldcost::report {
namespace {

constexpr std::array<std::string_view, 5> kPlaceholders = {"{soname}", "{symbol}", "{version}",
                                                           "{api}", "{page}"};

// The characters that stay unescaped in an untrusted template: these and, of the reserved ones, all
// but brackets and parentheses, which have a meaning in Markdown.
constexpr std::string_view kUrl = "-._~:/?#@!$&'*+,;=%";

std::string_view PlaceholderAt(std::string_view text) {
  for (const std::string_view placeholder : kPlaceholders) {
    if (text.starts_with(placeholder)) return placeholder;
  }
  return "";
}

// `literal` converts the text between the placeholders. Adds the number of placeholders to
// `places`.
template <typename Literal>
std::string Fill(std::string_view link_template, const stats::ApiKey& api, Literal literal,
                 std::size_t& places) {
  const auto encoded = [](std::string_view name) { return PercentEncode(name, kUnreserved); };
  const std::array<std::string, 5> values = {
      encoded(api.soname), encoded(api.symbol), encoded(api.package_version),
      encoded(api.soname) + "!" + encoded(api.symbol), PagePath(api)};
  std::string link;
  for (std::size_t i = 0; i < link_template.size();) {
    const std::string_view placeholder = PlaceholderAt(link_template.substr(i));
    if (placeholder.empty()) {
      link += literal(link_template.substr(i++, 1));
      continue;
    }
    const auto index = static_cast<std::size_t>(
        std::find(kPlaceholders.begin(), kPlaceholders.end(), placeholder) - kPlaceholders.begin());
    link += values[index];
    i += placeholder.size();
    ++places;
  }
  return link;
}

bool IsOfTheWeb(std::string_view untrusted_template) {
  const std::string scheme = LowerCase(untrusted_template.substr(0, 8));
  return scheme.starts_with("https://") || scheme.starts_with("http://");
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
    return refuse("it contains characters that no URL may contain");
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
      return refuse(
          "only these may stand in braces: {soname}, {symbol}, {version}, {api} and {page}");
    i += placeholder.size() - 1;
  }
  return {};
}

std::string FillLink(std::string_view link_template, const stats::ApiKey& api) {
  std::size_t places = 0;
  return Fill(
      link_template, api, [](std::string_view text) { return text; }, places);
}

bool IsRelativeLink(std::string_view link) {
  return !link.empty() && !IsOfTheWeb(link) && link.front() != '/' && link.front() != '?' &&
         link.front() != '#';
}

std::string FillUntrustedLink(std::string_view untrusted_template, const stats::ApiKey& api) {
  if (untrusted_template.size() > kMaxTemplateBytes || !IsOfTheWeb(untrusted_template)) return "";
  std::size_t places = 0;
  std::string link = Fill(
      untrusted_template, api, [](std::string_view text) { return PercentEncode(text, kUrl); },
      places);
  return places == 0 ? "" : link;
}

}  // namespace fieldcost::report
