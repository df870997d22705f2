#include "tools/cli/costs/catalogue_freshness.h"

#include "common/base/text.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::cli {

std::string FreshnessText(const catalog::Freshness& freshness, WallTime now) {
  std::string text =
      fmt::format("{}, {}, {} or more contributions each\n",
                  report::FreshnessText({.snapshot = freshness.snapshot_version,
                                         .published = freshness.snapshot_published,
                                         .fragments_current = freshness.fragments_current,
                                         .fragments_total = freshness.fragments_total,
                                         .incomplete = freshness.IsIncomplete()},
                                        now),
                  Counted(freshness.row_count, "row"), freshness.contribution_threshold);
  if (freshness.Expired(now)) text += report::OutOfDateText(freshness.snapshot_expires) + "\n";
  if (freshness.synthetic) text += fmt::format("SYNTHETIC: {}\n", report::kMadeUpData);
  return text;
}

std::string IncompleteText(const catalog::Freshness& freshness) {
  return fmt::format("the catalogue is incomplete, {} of {}: fieldcost sync",
                     freshness.fragments_present, Counted(freshness.fragments_total, "fragment"));
}

}  // namespace fieldcost::cli
