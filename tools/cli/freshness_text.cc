#include "tools/cli/freshness_text.h"

#include "common/draw/numbers.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::cli {

std::string FreshnessText(const catalog::Freshness& freshness, WallTime now) {
  std::string text =
      fmt::format("{}, {} rows, {} or more contributions each\n",
                  report::FreshnessText({.snapshot = freshness.snapshot_version,
                                         .published = freshness.snapshot_published,
                                         .fragments_current = freshness.fragments_current,
                                         .fragments_total = freshness.fragments_total},
                                        now),
                  draw::FormatCount(freshness.row_count), freshness.contribution_threshold);
  if (freshness.Expired(now)) text += report::OutOfDateText(freshness.snapshot_expires) + "\n";
  if (freshness.synthetic) text += fmt::format("SYNTHETIC: {}\n", report::kMadeUpData);
  return text;
}

}  // namespace fieldcost::cli
