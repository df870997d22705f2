#include "tools/report/vendor_csv.h"

#include <fmt/format.h>

#include "common/draw/numbers.h"

namespace fieldcost::report {
namespace {

struct VendorRecord {
  const analysis::VendorApi* api = nullptr;
  const analysis::VendorLibrary* library = nullptr;
};

std::optional<double> NsOf(const std::optional<stats::FieldCost>& cost) {
  return cost ? std::optional(cost->ns) : std::nullopt;
}

// Returns the newest version's times, or null.
const stats::Figures* TimeOf(const VendorRecord& record) {
  return record.api->version.empty() ? nullptr : &record.api->time;
}

// Null if times were not compared.
const analysis::MetricChange* ComparedTime(const VendorRecord& record) {
  const analysis::MetricChange* time = record.api->Time();
  return time == nullptr || time->test.strata == 0 ? nullptr : time;
}

std::string OtherChanges(const analysis::VendorApi& api) {
  std::string others;
  for (const analysis::MetricChange& one : api.changes) {
    if (&one == api.Time() || !IsChange(one.change)) continue;
    others += fmt::format("{}{} {} {:.2f}", others.empty() ? "" : "|", stats::Name(one.metric),
                          analysis::Words(one.change, one.metric), one.ratio);
  }
  return others;
}

void AddUseColumns(CsvColumns<VendorRecord>& columns) {
  using Record = VendorRecord;
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const Record&)) {
    columns.push_back({name, put});
  };
  add("library", [](CsvWriter& csv, const Record& r) { csv.Text(r.library->soname); });
  add("symbol", [](CsvWriter& csv, const Record& r) { csv.Text(r.api->symbol); });
  add("symbol_version", [](CsvWriter& csv, const Record& r) { csv.Text(r.api->symbol_version); });
  add("name", [](CsvWriter& csv, const Record& r) { csv.Text(r.api->name); });
  add("namespace", [](CsvWriter& csv, const Record& r) { csv.Text(r.api->group); });
  add("calls", [](CsvWriter& csv, const Record& r) { csv.Known(r.api->calls); });
  add("total_ns", [](CsvWriter& csv, const Record& r) { csv.Known(NsOf(r.api->total)); });
  add("total_standard_error_ns", [](CsvWriter& csv, const Record& r) {
    const auto& total = r.api->total;
    total && total->of_all_runs ? csv.Number(total->standard_error_ns) : csv.Empty();
  });
  add("total_of", [](CsvWriter& csv, const Record& r) {
    csv.Text(r.api->total ? draw::RunsText(*r.api->total) : "");
  });
  add("share", [](CsvWriter& csv, const Record& r) { csv.Number(r.api->share); });
  add("contributions", [](CsvWriter& csv, const Record& r) { csv.Count(r.api->contributions); });
  add("version", [](CsvWriter& csv, const Record& r) { csv.Text(r.api->version); });
  add("version_contributions", [](CsvWriter& csv, const Record& r) {
    const stats::Figures* time = TimeOf(r);
    time == nullptr ? csv.Empty() : csv.Count(time->contributions);
  });
}

void AddChangeColumns(CsvColumns<VendorRecord>& columns) {
  using Record = VendorRecord;
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const Record&)) {
    columns.push_back({name, put});
  };
  const auto add_compared = [&](const char* name, double (*value)(const analysis::MetricChange&)) {
    columns.push_back({name, [value](CsvWriter& csv, const Record& r) {
                         const analysis::MetricChange* time = ComparedTime(r);
                         time == nullptr ? csv.Empty() : csv.Number(value(*time));
                       }});
  };
  add("before", [](CsvWriter& csv, const Record& r) { csv.Text(r.library->before); });
  add("after", [](CsvWriter& csv, const Record& r) { csv.Text(r.library->after); });
  add("change", [](CsvWriter& csv, const Record& r) {
    const analysis::MetricChange* time = r.api->Time();
    csv.Text(time == nullptr ? "" : analysis::Words(time->change, time->metric));
  });
  add_compared("ratio", [](const analysis::MetricChange& time) { return time.ratio; });
  add_compared("ratio_low", [](const analysis::MetricChange& time) { return time.ratio_low; });
  add_compared("ratio_high", [](const analysis::MetricChange& time) { return time.ratio_high; });
  add_compared("delta", [](const analysis::MetricChange& time) { return time.delta; });
  add_compared("p", [](const analysis::MetricChange& time) { return time.test.p; });
  add_compared("q", [](const analysis::MetricChange& time) { return time.q; });
  add("regression_ns",
      [](CsvWriter& csv, const Record& r) { csv.Known(NsOf(r.api->Regression())); });
  add("other_changes", [](CsvWriter& csv, const Record& r) { csv.Text(OtherChanges(*r.api)); });
}

}  // namespace

std::string VendorCsv(const analysis::VendorReport& report, const Provenance& provenance) {
  CsvColumns<VendorRecord> columns;
  AddUseColumns(columns);
  AddFigureColumns<VendorRecord>(columns, TimeOf);
  columns.push_back(
      {"alloc_mean", [](CsvWriter& csv, const VendorRecord& r) { csv.Known(r.api->alloc_mean); }});
  AddChangeColumns(columns);
  AddProvenanceColumns(columns, provenance);
  std::vector<VendorRecord> records;
  for (const analysis::VendorApi& api : report.apis) {
    records.push_back({&api, &report.libraries[api.library]});
  }
  return CsvOf(columns, records);
}

}  // namespace fieldcost::report
