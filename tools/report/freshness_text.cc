#include "tools/report/freshness_text.h"

#include <fmt/format.h>

#include "common/draw/numbers.h"

namespace fieldcost::report {

std::string SnapshotWords(const Provenance& provenance) {
  if (provenance.snapshot == 0) return "measured on this machine";
  return fmt::format("snapshot {}, published {}{}", provenance.snapshot, provenance.published,
                     provenance.expired ? " (expired)" : "");
}

std::string FreshnessText(const CatalogueFacts& facts, WallTime now) {
  return fmt::format("catalogue: snapshot {}, published {} ({}), {} of {} fragments current{}",
                     facts.snapshot, draw::FormatTime(facts.published),
                     draw::FormatAge(facts.published, now), facts.fragments_current,
                     facts.fragments_total,
                     facts.incomplete ? " (incomplete: fieldcost sync)" : "");
}

std::string OutOfDateText(WallTime expired) {
  return fmt::format("out of date since {}: fieldcost sync", draw::FormatTime(expired));
}

}  // namespace fieldcost::report
