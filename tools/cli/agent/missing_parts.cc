#include "tools/cli/agent/missing_parts.h"

#include <fmt/format.h>

#include <chrono>

#include "common/base/text.h"

namespace fieldcost::cli {
namespace {

// The daily shares go through the whole catalogue within a week.
constexpr std::chrono::days kOldCatalogue{8};
constexpr char kSessionCommand[] = "fieldcost agent session on";
constexpr char kSyncCommand[] = "fieldcost sync --full";

std::optional<MissingPart> MissingOfCatalogue(const PartFacts& facts) {
  if (!facts.catalogue || facts.catalogue->fragments_present == 0) {
    return MissingPart{"catalogue", "not fetched yet", kSyncCommand};
  }
  if (facts.catalogue->fragments_present < facts.catalogue->fragments_total) {
    return MissingPart{
        "catalogue",
        fmt::format("incomplete: {} of {} fragments", facts.catalogue->fragments_present,
                    facts.catalogue->fragments_total),
        kSyncCommand};
  }
  if (facts.now - facts.catalogue->last_sync > kOldCatalogue) {
    const auto age = std::chrono::floor<std::chrono::days>(facts.now - facts.catalogue->last_sync);
    return MissingPart{"catalogue", fmt::format("old: fetched {} days ago", age.count()),
                       kSyncCommand};
  }
  return std::nullopt;
}

}  // namespace

std::vector<MissingPart> MissingParts(const PartFacts& facts) {
  std::vector<MissingPart> missing;
  if (facts.mode == settings::Mode::kOff) return missing;
  const bool sends = facts.mode == settings::Mode::kOn;
  if (sends && facts.url.empty()) {
    missing.push_back(
        facts.is_suggested
            ? MissingPart{"service", "the suggested one is not joined yet", "fieldcost agent on"}
            : MissingPart{"service", "none is configured", "fieldcost agent join URL"});
  } else if (sends && !facts.root_is_pinned) {
    missing.push_back({"root", "not pinned, so nothing can be sent or fetched",
                       "fieldcost agent join " + facts.url});
  }
  if (!facts.session_is_active) {
    missing.push_back(
        {"session", "off: only programs under `fieldcost run` are measured", kSessionCommand});
  } else if (!facts.session_is_complete) {
    missing.push_back({"session", "some of its files are missing", kSessionCommand});
  }
  if (!facts.daemon_is_running && !(facts.units_are_enabled && facts.units_can_start)) {
    missing.push_back({"daemon",
                       sends ? "not running: nothing is collected and sent by itself"
                             : "not running: nothing is collected by itself",
                       facts.daemon_fix});
  }
  if (sends && !facts.url.empty()) {
    if (auto part = MissingOfCatalogue(facts)) missing.push_back(std::move(*part));
  }
  return missing;
}

}  // namespace fieldcost::cli
