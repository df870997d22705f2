#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "tests/tools/analysis/version_fleet.h"
#include "tools/analysis/vendor_report.h"

namespace fieldcost::analysis {

// One API in two versions, with four weeks each and the published sums over all weeks.
inline std::vector<stats::StatRow> VendorRows(VersionFleet& fleet, const std::string& symbol,
                                              double before, double after) {
  std::vector<stats::StatRow> rows;
  for (const auto& [version, octaves, first] :
       {std::tuple{"1.0", before, 2900U}, {"2.0", after, 2904U}}) {
    stats::StatRow all;
    stats::ApiSums sums;
    for (std::uint32_t week = first; week < first + 4; ++week) {
      rows.push_back(fleet.Row({.symbol = symbol,
                                .version = version,
                                .octaves = octaves,
                                .machines = 40,
                                .week = week}));
      all.key = rows.back().key;
      sums.Merge(rows.back());
    }
    all.key.week = 0;
    all.histogram = sums.histogram;
    all.scalars = sums.scalars;
    all.weights = sums.weights;
    all.bounded = sums.bounded;
    all.fullest_quarter = sums.fullest_quarter;
    rows.push_back(all);
  }
  return rows;
}

inline const VendorLibrary kLibrary{
    .soname = "libz.so.1", .versions = {"1.0", "2.0"}, .before = "1.0", .after = "2.0"};

inline VendorReport ZlibReport(GroupBy by) {
  VersionFleet fleet(80);
  VendorReportBuilder builder("libz.so.1", by);
  builder.Begin(kLibrary);
  builder.Add(VendorRows(fleet, "z_flate", 14, 15));
  builder.Add(VendorRows(fleet, "z_check", 10, 9));
  builder.Add(VendorRows(fleet, "_ZN1z6Stream4readEv", 12, 12));
  builder.Add(VendorRows(fleet, "_ZN1z6Stream5writeEv", 12, 12));
  return builder.Finish();
}

// poll() waits, read() works.
inline VendorReport ReportWithAWaitingFunction() {
  VersionFleet fleet(84);
  VendorReportBuilder builder("libc.so.6", GroupBy::kModule);
  builder.Begin({.soname = "libc.so.6", .versions = {"1.0"}});
  for (const char* symbol : {"poll", "read"}) {
    stats::StatRow row = fleet.Row({.symbol = symbol, .octaves = symbol[0] == 'p' ? 30.0 : 10.0});
    row.key.api.soname = "libc.so.6";
    builder.Add(std::vector{row});
  }
  return builder.Finish();
}

}  // namespace fieldcost::analysis
