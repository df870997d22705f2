#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/command/arguments.h"
#include "common/command/command.h"

namespace fieldcost::cli {

// HTML pages that commands write instead of text.

// --html FILE; `help` is a string literal, a sentence that describes the page.
command::Option HtmlOption(std::string_view help);
// kInvalidArgument if both a page (by `option`) and JSON or CSV are requested. For
// command::Command::check.
Status CheckPageOption(const command::Arguments& arguments, std::string_view option);

// The page's audience: pages with the user's own numbers are readable only by the user.
enum class PageOf { kPublished, kOwn };
// Writes the page to the path ("-" = stdout) and reports its location on stderr.
Status WritePage(const std::filesystem::path& file, const std::string& html, PageOf page_of);

}  // namespace fieldcost::cli
