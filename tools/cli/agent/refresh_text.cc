#include "tools/cli/agent/refresh_text.h"

#include <fmt/format.h>

#include "common/base/text.h"
#include "common/draw/numbers.h"

namespace fieldcost::cli {
namespace {

constexpr char kOffText[] = "automatic refreshing is off (fieldcost sync --auto on)";

std::string CatalogueText(const refresh::RefreshStatus& status, WallTime now) {
  const auto& catalogue = status.catalogue;
  if (!catalogue || catalogue->fragments_total == 0) return "not fetched yet";
  if (!catalogue->is_complete) {
    return fmt::format("incomplete: {} of {}", catalogue->fragments_present,
                       Counted(catalogue->fragments_total, "fragment"));
  }
  if (catalogue->Expired(now)) {
    return "out of date since " + draw::FormatTime(catalogue->snapshot_expires);
  }
  if (catalogue->fragments_current < catalogue->fragments_total) {
    return fmt::format("complete, {} of {} current", catalogue->fragments_current,
                       Counted(catalogue->fragments_total, "fragment"));
  }
  return "up to date";
}

std::string WaitText(WallTime time, WallTime now) {
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(time - now).count();
  if (minutes <= 0) return "now";
  const std::string wait = minutes < 60        ? fmt::format("{} min", minutes)
                           : minutes < 48 * 60 ? fmt::format("{} h", minutes / 60)
                                               : fmt::format("{} days", minutes / (24 * 60));
  return fmt::format("in {} at {}", wait, draw::FormatTime(time));
}

}  // namespace

std::string RefreshText(const refresh::RefreshStatus& status, WallTime now) {
  std::string text = CatalogueText(status, now);
  if (!status.problem.empty())
    text += fmt::format("; last attempt failed ({})", EscapeControl(status.problem));
  if (!status.is_on) return fmt::format("{}; {}", text, kOffText);
  if (!status.next) return text + "; no service is configured";
  text += fmt::format("; next {} {}", status.problem.empty() ? "check" : "try",
                      WaitText(*status.next, now));
  if (!status.waiting_for.empty()) text += ", waiting for " + status.waiting_for;
  return text;
}

}  // namespace fieldcost::cli
