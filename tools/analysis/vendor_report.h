#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/draw/spectrum.h"
#include "common/stats/field_total.h"
#include "common/stats/stat_row.h"
#include "tools/analysis/trend.h"
#include "tools/analysis/version_change.h"

namespace fieldcost::analysis {

// What whoever makes a library wants to know of its use: in the field, of published rows, or in
// what was measured on purpose, of a lab table. Pure. Drawn by vendor_text.h and vendor_page.h.

enum class GroupBy { kModule, kNamespace, kBoth };

struct VendorLibrary {
  std::string soname;
  std::vector<std::string> versions;  // the oldest first
  std::string before;                 // what changes are measured from; empty = nothing
  std::string after;                  // the newest
};

struct VendorApi {
  std::size_t library = 0;  // in VendorReport::libraries
  std::string symbol;
  std::string symbol_version;
  std::string name;   // as its programmers know it (DemangledName)
  std::string group;  // NamespaceOf
  // Sums of all versions together, of those where it is known (stats::Figures).
  std::optional<std::uint64_t> calls;  // in the measured runs, timed or not
  std::optional<stats::FieldCost> total;
  double share = 0;  // of the report's total; 0 if only that of measured runs is known, but of all
                     // runs of others
  std::uint64_t contributions = 0;
  std::vector<TrendPoint> versions;
  std::vector<TrendPoint> weeks;  // empty if no single weeks are published
  // Facts of the newest version that has wall time.
  std::string version;
  stats::Figures time;
  draw::Bars bars;                              // of wall time
  std::optional<double> alloc_mean;             // bytes allocated a call, callees included
  std::vector<MetricChange> changes;            // from `before` to `after`; empty if one is missing
  std::optional<stats::FieldCost> total_after;  // of the version `after`

  // The change of wall time; nullptr if it is not compared.
  const MetricChange* Time() const;
  // What calls of the version `after` have cost more than they would have at the cost of before;
  // nullopt unless wall time is shown to be slower, and where that is not known.
  std::optional<stats::FieldCost> Regression() const;
};

// APIs of one library, one namespace, or one of both.
struct VendorGroup {
  std::string soname;  // empty = of all libraries
  std::string group;   // empty = all of the library
  std::size_t apis = 0;
  std::optional<std::uint64_t> calls;  // where it is known
  std::optional<stats::FieldCost> total;
  double share = 0;
  std::uint64_t contributions = 0;  // to its most contributed API: at least so many in the group
  std::size_t slower = 0;           // by wall time
  std::size_t faster = 0;
  std::size_t unchanged = 0;
  std::size_t too_little = 0;
  // Geometric mean of the APIs' ratios, each weighing what it cost before; its 95 % confidence and
  // two-sided p are bounds that hold however much the APIs' machines are the same (the standard
  // errors are added, with the least degrees of freedom). 1 and infinite if nothing is comparable.
  double ratio = 1;
  double ratio_low = 0;
  double ratio_high = 0;
  double p = 1;
  double q = 1;  // over the report's groups
  Change change = Change::kTooLittleData;
};

struct VendorReport {
  std::string title;  // what was asked for
  GroupBy by = GroupBy::kModule;
  // kOwn: of a lab table, whose contributions are runs.
  stats::Whose whose = stats::Whose::kField;
  std::vector<VendorLibrary> libraries;
  std::vector<VendorGroup> groups;  // the most expensive first
  std::vector<VendorApi> apis;      // the most expensive first
  // Set apart, and in no sum: functions whose work is to wait (waiting.h), by name.
  std::vector<VendorApi> waiting;
  std::optional<stats::FieldCost> total;
  std::optional<std::uint64_t> calls;
  std::uint64_t compared = 0;  // metrics that the q values are over

  bool IsOfLab() const { return whose == stats::Whose::kOwn; }
  // Whether numbers of single weeks are published of any API.
  bool HasWeeks() const;
};

// Takes in libraries one after the other, and each one's APIs one by one, so that only one API's
// rows are in memory.
class VendorReportBuilder {
 public:
  VendorReportBuilder(std::string title, GroupBy by, stats::Whose whose = stats::Whose::kField);

  // What is added from now on is of that library.
  void Begin(VendorLibrary library);
  // All rows of one symbol of it.
  void Add(std::span<const stats::StatRow> rows);
  // Decides over everything added, sums, sorts. To be called once.
  VendorReport Finish();

 private:
  VendorReport report_;
};

// APIs that have something to say about a change of that kind, as pairs of index and metric: of
// kMore the costliest regression first.
using ChangedApi = std::pair<const VendorApi*, const MetricChange*>;
std::vector<ChangedApi> WithChange(const VendorReport& report, Change change);

// "libz.so.1", "libz.so.1, rocksdb::DB" ...; not escaped.
std::string NameOf(const VendorGroup& group);

}  // namespace fieldcost::analysis
