#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/stats/api_key.h"

namespace fieldcost::report {

// The address of an API's page: "https://costs.example/api/{soname}!{symbol}". {soname}, {symbol}
// and {version} (empty if unknown) are replaced by the API's, {api} by "soname!symbol". They are
// percent-encoded except for letters, digits and "-._~" (RFC 3986 §2.3), in {api} also the "!".
// {page} is the API's page in a static site ("soname/symbol.html", PagePath()). The rest stays as
// it is. The same rules apply to all documents and to editors. Pure.

inline constexpr std::size_t kMaxTemplateBytes = 2'048;

// kInvalidArgument unless the template is printable ASCII without spaces, quotes and angle
// brackets, every brace belongs to one of the five placeholders, and it begins with http:// or
// https:// or is relative: none of our links may run a script.
Status CheckLinkTemplate(std::string_view untrusted_template);

// REQUIRES: CheckLinkTemplate() accepts the template, or it is empty; the link is then empty, too.
std::string FillLink(std::string_view link_template, const stats::ApiKey& api);

// Whether a link of FillLink() depends on the folder of the page that contains it.
bool IsRelativeLink(std::string_view link);

// Fills an untrusted template from a setting, whose links other programs open. Returns "" if it
// does not begin with http:// or https://, has no placeholder, or is too long. Percent-encodes
// characters that are invalid in URLs, brackets and parentheses (which have a meaning in Markdown),
// and braces outside placeholders.
std::string FillUntrustedLink(std::string_view untrusted_template, const stats::ApiKey& api);

}  // namespace fieldcost::report
