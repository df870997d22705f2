#include "tools/cli/terminal/browser.h"

#include <fmt/format.h>

#include "common/base/child_process.h"
#include "common/base/percent_encode.h"
#include "common/base/text.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr char kOpener[] = "xdg-open";
constexpr std::string_view kPlace = "%s";

}  // namespace

std::vector<std::string> BrowserCommand(const BrowserFacts& facts, const std::string& url) {
  const std::string_view list = facts.untrusted_browser;
  std::vector<std::string> command;
  bool has_place = false;
  for (const std::string_view word : Split(list.substr(0, list.find(':')), " ")) {
    if (word.empty()) continue;
    std::string& argument = command.emplace_back(word);
    const std::size_t place = argument.find(kPlace);
    if (place == std::string::npos) continue;
    argument.replace(place, kPlace.size(), url);
    has_place = true;
  }
  if (command.empty() && facts.has_display) command.emplace_back(kOpener);
  if (!command.empty() && !has_place) command.push_back(url);
  return command;
}

Status OpenInBrowser(const std::filesystem::path& file) {
  const BrowserFacts facts{
      .untrusted_browser = std::string(Variable("BROWSER")),
      .has_display = !Variable("DISPLAY").empty() || !Variable("WAYLAND_DISPLAY").empty()};
  const std::vector<std::string> command = BrowserCommand(facts, FileUrl(file.string()));
  if (command.empty()) {
    Remark(
        fmt::format("there is no display (and BROWSER is not set); open this file in a browser: {}",
                    EscapeControl(file.string())));
    return {};
  }
  FIELDCOST_TRY(StartChild(
      {.arguments = command, .input = kNowhere, .output = kNowhere, .errors = kNowhere}));
  return {};
}

}  // namespace fieldcost::cli
