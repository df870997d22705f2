#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::report {

// Where the page with everything about an API is: "https://costs.example/api/{soname}!{symbol}".
// {soname}, {symbol} and {version} (empty where it is not known) become those of the API, {api}
// "soname!symbol", percent-encoded but for letters, digits and "-._~" (RFC 3986 §2.3), of {api}
// also its "!"; everything else stays as it is. The same in all documents and in editors. Pure.

inline constexpr std::size_t kMaxTemplateBytes = 2'048;

// kInvalidArgument unless it is printable ASCII without spaces, quotes and angle brackets, every
// brace is of one of the four, and it begins with http://, https:// or is relative to where it
// stands: no link of ours may run a script.
Status CheckLinkTemplate(std::string_view untrusted_template);

// REQUIRES: CheckLinkTemplate() was content, or the template is empty: then so is the link.
std::string FillLink(std::string_view link_template, const stats::ApiKey& api);

// Fills a template from a setting, whose links other programs open: "" if it is not http:// or
// https://, has no placeholder or is too long. Characters that no URL holds are percent-encoded,
// and so are brackets and parentheses, which mean something in Markdown, and braces that hold
// nothing.
std::string FillUntrustedLink(std::string_view untrusted_template, const stats::ApiKey& api);

}  // namespace fieldcost::report
