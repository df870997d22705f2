#include "tools/cli/freshness_text.h"

#include "common/draw/numbers.h"

namespace fieldcost::cli {

std::string FreshnessText(const catalog::Freshness& freshness, WallTime now) {
  std::string text = fmt::format(
      "catalogue: snapshot {}, published {} ({}), {} of {} fragments current, {} rows, "
      "{} or more contributions each\n",
      freshness.snapshot_version, draw::FormatTime(freshness.snapshot_published),
      draw::FormatAge(freshness.snapshot_published, now), freshness.fragments_current,
      freshness.fragments_total, draw::FormatCount(freshness.row_count),
      freshness.contribution_threshold);
  if (freshness.Expired(now)) {
    text += fmt::format("out of date since {}: fieldcost sync\n",
                        draw::FormatTime(freshness.snapshot_expires));
  }
  if (freshness.synthetic) text += "SYNTHETIC: this catalogue holds made-up data\n";
  return text;
}

}  // namespace fieldcost::cli
