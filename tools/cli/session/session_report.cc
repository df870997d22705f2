#include "tools/cli/session/session_report.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <filesystem>
#include <vector>

#include "common/base/text.h"
#include "tools/cli/agent/status_text.h"
#include "tools/cli/json_parts.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

std::string FileList(std::string_view label, const std::vector<std::filesystem::path>& files) {
  std::string text;
  for (const auto& file : files) {
    text += fmt::format("  {:<8} {}\n", label, EscapeControl(file.string()));
  }
  return text;
}

json::array PathsJson(const std::vector<std::filesystem::path>& paths) {
  json::array array;
  for (const auto& path : paths) array.push_back(Text(path.string()));
  return array;
}

}  // namespace

std::string SessionText(const SessionReport& report, const Session& session) {
  std::string text =
      FileList("wrote", report.written) + FileList("one line added to", report.lines_added) +
      FileList("removed", report.removed) + FileList("restored", report.lines_removed);
  if (report.active) {
    text = "session activation is on\n" + text;
    if (report.written.empty() && report.lines_added.empty())
      text += FileList("there", report.files);
    text += FileList("missing", report.missing);
    if (!report.missing.empty()) text += "  to repair: fieldcost agent session on\n";
    if (report.library_is_older) {
      text += "  the library is not the installed one; to refresh: fieldcost agent session on\n";
    }
    text += "  takes effect at the next login; undo: fieldcost agent session off\n";
    return text;
  }
  text = "session activation is off\n" + text;
  if (report.holders.empty()) return text;
  text += fmt::format(
      "  left     {}\n"
      "  It is inactive, but programs of running sessions name it, and without it each would "
      "print\n"
      "  a dynamic linker error: {}.\n"
      "  To remove it after they have ended: fieldcost agent session status\n",
      EscapeControl(session.library().string()), NamesText(report.holders));
  return text;
}

std::string SessionJson(const SessionReport& report, const Session& session) {
  json::array holders;
  for (const reach::ProcessReach& process : report.holders) {
    holders.push_back(json::object{{"pid", process.pid}, {"name", Text(process.untrusted_name)}});
  }
  return Print({{"session_active", report.active},
                {"library", Text(session.library().string())},
                {"library_present", report.library_present},
                {"library_is_older", report.library_is_older},
                {"files", PathsJson(report.files)},
                {"missing", PathsJson(report.missing)},
                {"written", PathsJson(report.written)},
                {"removed", PathsJson(report.removed)},
                {"lines_added", PathsJson(report.lines_added)},
                {"lines_removed", PathsJson(report.lines_removed)},
                {"holders", std::move(holders)}});
}

}  // namespace fieldcost::cli
