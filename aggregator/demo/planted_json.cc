// Lists everything planted in a demo as JSON, for tests and people.
//
//   {"synthetic": true, "seed", "agents", "first_week", "last_week", "batches", "rows",
//    "published_rows": numbers, "libraries": [{"soname", "versions": [], "symbols": []}],
//    "planted": [{"api", "soname", "symbol", "kind": "regression" | "improvement", "from_version",
//    "to_version", "factor"}], "profile": [{"api", "soname", "symbol", "factor"}]}
#include <algorithm>

#include "aggregator/demo/demo.h"
#include "common/base/text.h"

namespace fieldcost::demo {
namespace {

const LibraryModel& LibraryOf(const PlantedChange& change) {
  const auto libraries = Libraries();
  return *std::find_if(libraries.begin(), libraries.end(), [&](const LibraryModel& library) {
    return library.soname == change.soname;
  });
}

std::string LibraryJson(const LibraryModel& library) {
  std::string versions;
  for (const std::string_view version : library.versions) {
    versions += fmt::format("{}{}", versions.empty() ? "" : ", ", QuoteJson(version));
  }
  std::string symbols;
  for (const ApiModel& api : library.apis) {
    symbols += fmt::format("{}{}", symbols.empty() ? "" : ", ", QuoteJson(api.symbol));
  }
  return fmt::format(R"({{"soname": {}, "versions": [{}], "symbols": [{}]}})",
                     QuoteJson(library.soname), versions, symbols);
}

std::string ChangeJson(const PlantedChange& change) {
  const LibraryModel& library = LibraryOf(change);
  return fmt::format(
      R"({{"api": {}, "soname": {}, "symbol": {}, "kind": "{}", "from_version": {}, )"
      R"("to_version": {}, "factor": {:.2f}}})",
      QuoteJson(fmt::format("{}!{}", change.soname, change.symbol)), QuoteJson(change.soname),
      QuoteJson(change.symbol), change.percent > 100 ? "regression" : "improvement",
      QuoteJson(library.versions[change.version - 1]), QuoteJson(library.versions[change.version]),
      change.percent / 100.0);
}

std::string AilmentJson(const Ailment& ailment) {
  return fmt::format(R"({{"api": {}, "soname": {}, "symbol": {}, "factor": {:.2f}}})",
                     QuoteJson(fmt::format("{}!{}", ailment.soname, ailment.symbol)),
                     QuoteJson(ailment.soname), QuoteJson(ailment.symbol), ailment.percent / 100.0);
}

}  // namespace

std::string PlantedJson(const FleetOptions& options, const DemoReport& report) {
  std::string libraries;
  for (const LibraryModel& library : Libraries()) {
    libraries += fmt::format("{}\n    {}", libraries.empty() ? "" : ",", LibraryJson(library));
  }
  std::string planted;
  for (const PlantedChange& change : PlantedChanges()) {
    planted += fmt::format("{}\n    {}", planted.empty() ? "" : ",", ChangeJson(change));
  }
  std::string ailments;
  for (const Ailment& ailment : PlantedAilments()) {
    ailments += fmt::format("{}\n    {}", ailments.empty() ? "" : ",", AilmentJson(ailment));
  }
  return fmt::format(
      "{{\n  \"synthetic\": true,\n  \"seed\": {},\n  \"agents\": {},\n  \"first_week\": {},\n"
      "  \"last_week\": {},\n  \"batches\": {},\n  \"rows\": {},\n  \"published_rows\": {},\n"
      "  \"libraries\": [{}\n  ],\n  \"planted\": [{}\n  ],\n  \"profile\": [{}\n  ]\n}}\n",
      options.seed, options.agents, options.first_week(), options.last_week, report.filled.batches,
      report.filled.rows, report.published.rows, libraries, planted, ailments);
}

}  // namespace fieldcost::demo
