#include "tools/cli/freshness_text.h"

#include "tools/report/numbers.h"

namespace fieldcost::cli {

std::string FreshnessText(const catalog::Freshness& freshness, WallTime now) {
  std::string text = fmt::format(
      "catalogue: snapshot {}, published {} ({}), {} of {} fragments current, {} rows, "
      "{} or more contributions each\n",
      freshness.snapshot_version, report::FormatTime(freshness.snapshot_published),
      report::FormatAge(freshness.snapshot_published, now), freshness.fragments_current,
      freshness.fragments_total, report::FormatCount(freshness.row_count),
      freshness.contribution_threshold);
  if (freshness.Expired(now)) {
    text += fmt::format("out of date since {}: fieldcost sync\n",
                        report::FormatTime(freshness.snapshot_expires));
  }
  if (freshness.synthetic) text += "SYNTHETIC: this catalogue holds made-up data\n";
  return text;
}

}  // namespace fieldcost::cli
