#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
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

// The report on a library's use for its vendor: in the field, from published rows, or in a lab,
// from a lab table. Pure. Rendered by vendor_text.h and vendor_page.h.

// kPrefix groups C functions by GroupByPrefix() and others by namespace.
enum class GroupBy { kModule, kNamespace, kBoth, kPrefix, kHeader };
// "module", "namespace", "both", "prefix", "header", in the order of GroupBy.
inline constexpr std::array<std::string_view, 5> kGroupByNames = {"module", "namespace", "both",
                                                                  "prefix", "header"};

// The header that declares a C function, by the function's name.
using HeaderOf = std::map<std::string, std::string, std::less<>>;
inline constexpr std::string_view kUnknownHeader = "(header not known)";

struct VendorLibrary {
  std::string soname;
  std::vector<std::string> versions;  // the oldest first
  std::string before;                 // the baseline of changes; empty = none
  std::string after;                  // the newest
};

struct VendorApi {
  std::size_t library = 0;  // in VendorReport::libraries
  std::string symbol;
  std::string symbol_version;
  std::string name;        // as in source code (DemangledName)
  std::string name_space;  // NamespaceOf
  std::size_t group = 0;   // in VendorReport::groups
  // Sums over all versions for which they are known (stats::Figures).
  std::optional<std::uint64_t> calls;  // in the measured runs, timed or not
  std::optional<stats::FieldCost> total;
  double share = 0;  // of the report's total; 0 if only the total of measured runs is known, but
                     // for others that of all runs
  std::uint64_t contributions = 0;
  std::vector<TrendPoint> versions;
  std::vector<TrendPoint> weeks;  // empty if no single weeks are published
  // Data of the newest version with a known wall time.
  std::string version;
  stats::ApiSums sums;  // of wall time, as are:
  stats::Figures time;
  draw::Bars bars;
  std::optional<double> alloc_mean;             // bytes allocated per call, including callees
  std::vector<MetricChange> changes;            // from `before` to `after`; empty if one is missing
  std::optional<stats::FieldCost> total_after;  // of the version `after`

  // The change of wall time; nullptr if not compared.
  const MetricChange* Time() const;
  // The additional cost of the calls of version `after`, compared with the previous cost per call;
  // nullopt unless wall time is shown to be slower and the cost is known.
  std::optional<stats::FieldCost> Regression() const;
};

// The APIs of one library, namespace (of one library, or of all), prefix or header. Each API
// belongs to one group.
struct VendorGroup {
  std::string soname;  // empty = all libraries
  std::string group;   // empty = the whole library
  std::size_t apis = 0;
  // Wall time: exactly the sum of the APIs' sums, so in the field each contribution to each API
  // counts the same. The figures are unknown if no API's time is known.
  std::size_t timed_apis = 0;
  bool all_calls_known = true;  // for each of these
  stats::ApiSums sums;
  stats::Figures time;
  draw::Bars bars;
  std::optional<std::uint64_t> calls;  // if known
  std::optional<stats::FieldCost> total;
  double share = 0;
  std::uint64_t contributions = 0;  // of its most contributed API: a lower bound for the group
  std::size_t slower = 0;           // by wall time
  std::size_t faster = 0;
  std::size_t unchanged = 0;
  std::size_t too_little = 0;
  // The geometric mean of the APIs' ratios, weighted by their previous costs. Its 95 % confidence
  // interval and two-sided p are bounds that hold however much the APIs' machines overlap (the
  // standard errors are added, with the fewest degrees of freedom). 1 and infinite if nothing is
  // comparable.
  double ratio = 1;
  double ratio_low = 0;
  double ratio_high = 0;
  double p = 1;
  double q = 1;  // over the report's groups
  inference::Verdict change = inference::Verdict::kTooLittleData;
};

struct VendorReport {
  std::string title;  // the requested library or namespace
  GroupBy by = GroupBy::kModule;
  // kOwn: from a lab table, whose contributions are runs.
  stats::Whose whose = stats::Whose::kField;
  std::vector<VendorLibrary> libraries;
  std::vector<VendorGroup> groups;  // the most expensive first
  std::vector<VendorApi> apis;      // the most expensive first
  // Listed separately and excluded from all sums: functions that wait (waiting.h), by name.
  std::vector<VendorApi> waiting;
  std::optional<stats::FieldCost> total;
  std::optional<std::uint64_t> calls;
  std::uint64_t compared = 0;  // number of metrics covered by the q values

  bool IsOfLab() const { return whose == stats::Whose::kOwn; }
  // Whether any API has published numbers for single weeks.
  bool HasWeeks() const;
};

// Receives libraries one after the other and their APIs one by one, so that only one API's rows are
// in memory.
class VendorReportBuilder {
 public:
  VendorReportBuilder(std::string title, GroupBy by, stats::Whose whose = stats::Whose::kField);

  // Starts a library, to which all APIs added from now on belong.
  void Begin(VendorLibrary library);
  // Adds all rows of one symbol of the current library.
  void Add(std::span<const stats::StatRow> rows);
  // Decides over everything added, sums and sorts. `headers` serves kHeader. Call this once.
  VendorReport Finish(const HeaderOf& headers = {});

 private:
  VendorReport report_;
};

// The APIs with a change of this kind; for kMore, the most costly regression first.
using ChangedApi = std::pair<const VendorApi*, const MetricChange*>;
std::vector<ChangedApi> WithChange(const VendorReport& report, inference::Verdict change);

// "libz.so.1", "libz.so.1, rocksdb::DB" ...; not escaped.
std::string NameOf(const VendorGroup& group);

}  // namespace fieldcost::analysis
