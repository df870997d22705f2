#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::cli {

// The command that opens an address in the user's browser: the first entry of $BROWSER (a list
// separated by colons, in which "%s" is replaced by the address), otherwise xdg-open if there is a
// display. Empty if there is neither. The command is not run by a shell. Pure.
struct BrowserFacts {
  std::string untrusted_browser;  // $BROWSER
  bool has_display = false;       // $DISPLAY or $WAYLAND_DISPLAY
};
std::vector<std::string> BrowserCommand(const BrowserFacts& facts, const std::string& url);

// Opens a file in the user's browser without waiting for it, because a browser may run for a long
// time. Without a browser, prints a remark on stderr that names the file. kNotFound if the
// command does not exist.
Status OpenInBrowser(const std::filesystem::path& file);

}  // namespace fieldcost::cli
