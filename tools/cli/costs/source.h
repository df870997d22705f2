#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/volunteer/agent.h"
#include "common/base/result.h"
#include "common/catalog/catalog.h"
#include "common/command/arguments.h"
#include "common/stats/stat_row.h"
#include "common/wire/lab_table.h"
#include "tools/analysis/api_cost.h"

namespace fieldcost::cli {

// Adds to an error about a damaged catalogue how to fetch it again.
Error WithWayOut(Error error);
template <typename T>
Result<T> OrWayOut(Result<T> result) {
  if (result) return result;
  return WithWayOut(std::move(result).error());
}

// The source of a command's rows; the catalogue by default.
struct SourceChoice {
  bool local = false;           // this machine's own measurements
  std::filesystem::path table;  // a lab table; empty = none
};
// Reads --local and --table.
SourceChoice SourceOf(const command::Arguments& arguments);

// Selects the most expensive APIs.
struct TopOptions {
  std::string library;  // glob over sonames; empty = all
  analysis::SortKey key = analysis::SortKey::kTotal;
  std::uint64_t limit = 0;    // 0 = all
  bool with_waiting = false;  // also functions whose work is to wait (tools/analysis/waiting.h)
  analysis::Versions versions = analysis::Versions::kJoined;
};

// The most expensive APIs, and the number of all APIs (nullopt: not counted).
struct TopApis {
  std::vector<analysis::ApiCost> costs;
  stats::FieldCost whole;  // the cost of all APIs, shown or not
  std::optional<std::size_t> found;
  std::set<std::string> waiting;  // symbols omitted because their work is to wait
};

// The runs that this machine's own measurements are based on.
struct LocalRuns {
  volunteer::RunCounts counts;
  double selection_probability = 0;  // as configured now, for runs not explicitly requested
};

// The source of reading commands: the catalogue, this machine's own measurements (harvested first),
// or a lab table. Never uses the network.
class Source {
 public:
  // Uses an expired catalogue, with a remark on stderr. kCorrupt if it is damaged, with a remedy;
  // kNotFound if there is none, which suggests --local if this machine has measurements.
  static Result<Source> Open(bool local);
  static Result<Source> Open(const SourceChoice& choice);
  // Errors as ReadLabTable().
  static Result<Source> OpenTable(const std::filesystem::path& file);
  // This machine's own measurements in that time span. Prints a remark on stderr if the times of
  // measurements are known only since a point after `span.from`.
  static Result<Source> OpenLocal(const volunteer::TimeSpan& span);

  // Set for the catalogue.
  const std::optional<catalog::Freshness>& freshness() const { return freshness_; }
  // Set for a lab table.
  const std::optional<wire::LabTable>& table() const { return table_; }
  // nullptr for this machine's own measurements, and for a lab table.
  const catalog::Catalog* catalog() const { return catalog_ ? &*catalog_ : nullptr; }

  // This machine's own measurements, or the lab table's; empty for the catalogue.
  const std::vector<stats::StatRow>& local_rows() const { return local_rows_; }
  // Set for this machine's own measurements, for any time span.
  const std::optional<LocalRuns>& runs() const { return runs_; }

  // analysis::Summarise() of rows of this source, plus what is known about this source alone.
  std::vector<analysis::CostSummary> Summarise(std::span<const stats::StatRow> rows) const;

  stats::Whose whose() const { return catalog_ ? stats::Whose::kField : stats::Whose::kOwn; }

  // Returns the sonames' glob for a library's name as users write it (MatchLibraries); the glob for
  // all libraries if `name` is empty.
  Result<std::string> LibraryGlob(const std::string& name) const;

  // Summaries of all APIs whose soname matches the glob (empty = all), in no particular order.
  Result<std::vector<analysis::CostSummary>> Summaries(std::string_view library_glob) const;

  // kUnavailable if some parts of the catalogue have never been fetched. Call it before showing an
  // order by total or a share of several APIs: both would be those of the parts that happen to be
  // here.
  Status CheckComplete() const;

  // By total, decodes no more rows than it returns (all with `limit` 0); by any other key, all
  // rows.
  // kUnavailable as CheckComplete().
  Result<TopApis> Top(const TopOptions& options) const;

  // Finds matching names; see Catalog::Search().
  Result<std::vector<catalog::FoundApi>> Search(const catalog::SearchOptions& options) const;

  // All rows of that symbol, in all libraries or one.
  Result<std::vector<stats::StatRow>> Find(std::string_view symbol, std::string_view soname) const;

  // The same for all C++ symbols that match a source name, including overloads
  // (names::CxxNameQuery).
  Result<std::vector<stats::StatRow>> FindCxx(std::string_view name, std::string_view soname) const;

  // Visits the name of every API until `visit` returns false. Names may repeat unless they are from
  // a catalogue.
  Status ForEachName(
      const std::function<bool(std::string_view soname, std::string_view symbol)>& visit) const;
  // The same for some of the names, among them all that have these parts.
  Status ForEachCandidate(
      const catalog::NameParts& parts,
      const std::function<bool(std::string_view soname, std::string_view symbol)>& visit) const;
  // Visits each soname once.
  Status ForEachLibrary(const std::function<void(std::string_view soname)>& visit) const;

  // Suggestions for a name that was not found, as names::ShownName().
  Result<std::vector<std::string>> Suggest(std::string_view name) const;

 private:
  Source() = default;
  Result<TopApis> TopByTotal(const TopOptions& options) const;

  std::optional<catalog::Catalog> catalog_;
  std::optional<catalog::Freshness> freshness_;
  std::optional<LocalRuns> runs_;
  std::optional<wire::LabTable> table_;
  std::vector<stats::StatRow> local_rows_;
  std::set<stats::ApiKey> local_only_;
};

}  // namespace fieldcost::cli
