#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/command/arguments.h"
#include "common/command/command.h"

namespace fieldcost::cli {

// Pages that reading commands write instead of their text.

// --html FILE; `help` is a literal, a sentence that says what the page is.
command::Option HtmlOption(std::string_view help);
// What is wrong with a command's options if it writes a page by `option`, but is to print JSON or
// CSV, too; "" = nothing. For command::Command::check.
std::string CheckPageOption(const command::Arguments& arguments, std::string_view option);

// Whom a page is for: one's own numbers are for the user only.
enum class PageOf { kPublished, kOwn };
// Writes it there ("-" = stdout), and says on stderr where it is.
Status WritePage(const std::filesystem::path& file, const std::string& html, PageOf page_of);

}  // namespace fieldcost::cli
