// Lists everything planted in a demo as JSON, for tests and people.
//
//   {"synthetic": true, "seed", "agents", "first_week", "last_week", "batches", "rows",
//    "published_rows": numbers, "libraries": [{"soname", "versions": [], "symbols": []}],
//    "planted": [{"api", "soname", "symbol", "kind": "regression" | "improvement", "from_version",
//    "to_version", "factor"}], "profile": [{"api", "soname", "symbol", "factor"}]}
#include <algorithm>

#include "aggregator/demo/demo.h"
#include "common/base/json_writer.h"

namespace fieldcost::demo {
namespace {

const LibraryModel& LibraryOf(const PlantedChange& change) {
  const auto libraries = Libraries();
  return *std::find_if(libraries.begin(), libraries.end(), [&](const LibraryModel& library) {
    return library.soname == change.soname;
  });
}

void WriteLibrary(const LibraryModel& library, JsonWriter& writer) {
  writer.Object().Member("soname", library.soname).Key("versions").Array();
  for (const std::string_view version : library.versions) writer.Text(version);
  writer.EndArray().Key("symbols").Array();
  for (const ApiModel& api : library.apis) writer.Text(api.symbol);
  writer.EndArray().EndObject();
}

// Opens an object and begins it with the API.
void WriteApi(std::string_view soname, std::string_view symbol, JsonWriter& writer) {
  writer.Object().Member("api", fmt::format("{}!{}", soname, symbol));
  writer.Member("soname", soname).Member("symbol", symbol);
}

void WriteChange(const PlantedChange& change, JsonWriter& writer) {
  const LibraryModel& library = LibraryOf(change);
  WriteApi(change.soname, change.symbol, writer);
  writer.Member("kind", change.percent > 100 ? "regression" : "improvement");
  writer.Member("from_version", library.versions[change.version - 1]);
  writer.Member("to_version", library.versions[change.version]);
  writer.Member("factor", change.percent / 100.0).EndObject();
}

}  // namespace

std::string PlantedJson(const FleetOptions& options, const DemoReport& report) {
  JsonWriter writer;
  writer.Object().Member("synthetic", true).Member("seed", options.seed);
  writer.Member("agents", options.agents).Member("first_week", options.first_week());
  writer.Member("last_week", options.last_week).Member("batches", report.filled.batches);
  writer.Member("rows", report.filled.rows).Member("published_rows", report.published.rows);
  writer.NewLine().Key("libraries").Array();
  for (const LibraryModel& library : Libraries()) WriteLibrary(library, writer.NewLine());
  writer.EndArray().NewLine().Key("planted").Array();
  for (const PlantedChange& change : PlantedChanges()) WriteChange(change, writer.NewLine());
  writer.EndArray().NewLine().Key("profile").Array();
  for (const Ailment& ailment : PlantedAilments()) {
    writer.NewLine();
    WriteApi(ailment.soname, ailment.symbol, writer);
    writer.Member("factor", ailment.percent / 100.0).EndObject();
  }
  return writer.EndArray().EndObject().Take();
}

}  // namespace fieldcost::demo
