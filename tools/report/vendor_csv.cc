#include "tools/report/vendor_csv.h"

#include <fmt/format.h>

#include "common/draw/numbers.h"
#include "common/shm/log2_bucket.h"

namespace fieldcost::report {
namespace {

struct VendorRecord {
  const analysis::VendorApi* api = nullptr;
  const analysis::VendorLibrary* library = nullptr;
  const analysis::VendorGroup* group = nullptr;
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

// calls, total_ns, total_standard_error_ns, total_of, share, contributions of a line (API or
// group).
template <typename Record, typename Line>
void AddTotalColumns(CsvColumns<Record>& columns, const Line& (*of)(const Record&)) {
  columns.push_back({"calls", [of](CsvWriter& csv, const Record& r) { csv.Known(of(r).calls); }});
  columns.push_back(
      {"total_ns", [of](CsvWriter& csv, const Record& r) { csv.Known(NsOf(of(r).total)); }});
  columns.push_back({"total_standard_error_ns", [of](CsvWriter& csv, const Record& r) {
                       const auto& total = of(r).total;
                       total && total->of_all_runs ? csv.Number(total->standard_error_ns)
                                                   : csv.Empty();
                     }});
  columns.push_back({"total_of", [of](CsvWriter& csv, const Record& r) {
                       csv.Text(of(r).total ? draw::RunsText(*of(r).total) : "");
                     }});
  columns.push_back({"share", [of](CsvWriter& csv, const Record& r) {
                       of(r).total ? csv.Number(of(r).share) : csv.Empty();
                     }});
  columns.push_back(
      {"contributions", [of](CsvWriter& csv, const Record& r) { csv.Count(of(r).contributions); }});
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
  add("namespace", [](CsvWriter& csv, const Record& r) { csv.Text(r.api->name_space); });
  add("group", [](CsvWriter& csv, const Record& r) { csv.Text(NameOf(*r.group)); });
  AddTotalColumns<Record, analysis::VendorApi>(
      columns, [](const Record& r) -> const analysis::VendorApi& { return *r.api; });
  add("version", [](CsvWriter& csv, const Record& r) { csv.Text(r.api->version); });
  add("version_contributions", [](CsvWriter& csv, const Record& r) {
    const stats::Figures* time = TimeOf(r);
    time == nullptr ? csv.Empty() : csv.Count(time->contributions);
  });
}

// Appends "64 0.25" to a list.
template <typename Value>
void AppendBucket(unsigned slot, const Value& value, std::string& list) {
  list += fmt::format("{}{} {}", list.empty() ? "" : "|", shm::SlotMin(slot), value);
}

std::string BucketSharesText(const analysis::VendorGroup& group) {
  std::string list;
  for (unsigned slot = 0; group.time.shares && slot < shm::kBucketSlots; ++slot) {
    if ((*group.time.shares)[slot] == 0) continue;
    AppendBucket(slot, stats::ShareOf(*group.time.shares, slot), list);
  }
  return list;
}

std::string BucketCountsText(const analysis::VendorGroup& group) {
  std::string list;
  if (!group.time.all_calls) return list;
  group.sums.histogram.ForEachUsed(
      [&](unsigned slot, const stats::Bucket& bucket) { AppendBucket(slot, bucket.count, list); });
  return list;
}

void AddGroupChangeColumns(CsvColumns<analysis::VendorGroup>& columns) {
  using Group = analysis::VendorGroup;
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const Group&)) {
    columns.push_back({name, put});
  };
  const auto add_compared = [&](const char* name, double Group::*value) {
    columns.push_back({name, [value](CsvWriter& csv, const Group& group) {
                         const bool compared = group.change != inference::Verdict::kTooLittleData;
                         compared ? csv.Number(group.*value) : csv.Empty();
                       }});
  };
  add("slower", [](CsvWriter& csv, const Group& group) { csv.Count(group.slower); });
  add("faster", [](CsvWriter& csv, const Group& group) { csv.Count(group.faster); });
  add("unchanged", [](CsvWriter& csv, const Group& group) { csv.Count(group.unchanged); });
  add("too_little_data", [](CsvWriter& csv, const Group& group) { csv.Count(group.too_little); });
  add("change", [](CsvWriter& csv, const Group& group) {
    csv.Text(analysis::Words(group.change, stats::Metric::kWallTime));
  });
  add_compared("ratio", &Group::ratio);
  add_compared("ratio_low", &Group::ratio_low);
  add_compared("ratio_high", &Group::ratio_high);
  add_compared("p", &Group::p);
  add_compared("q", &Group::q);
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
    records.push_back({&api, &report.libraries[api.library], &report.groups[api.group]});
  }
  return CsvOf(columns, records);
}

std::string VendorGroupCsv(const analysis::VendorReport& report, const Provenance& provenance) {
  using Group = analysis::VendorGroup;
  CsvColumns<Group> columns;
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const Group&)) {
    columns.push_back({name, put});
  };
  add("group", [](CsvWriter& csv, const Group& group) { csv.Text(NameOf(group)); });
  add("library", [](CsvWriter& csv, const Group& group) { csv.Text(group.soname); });
  add("apis", [](CsvWriter& csv, const Group& group) { csv.Count(group.apis); });
  add("timed_apis", [](CsvWriter& csv, const Group& group) { csv.Count(group.timed_apis); });
  AddTotalColumns<Group, Group>(columns, [](const Group& group) -> const Group& { return group; });
  AddFigureColumns<Group>(
      columns, [](const Group& group) { return group.timed_apis == 0 ? nullptr : &group.time; });
  add("buckets", [](CsvWriter& csv, const Group& group) { csv.Text(BucketSharesText(group)); });
  add("all_calls_buckets",
      [](CsvWriter& csv, const Group& group) { csv.Text(BucketCountsText(group)); });
  AddGroupChangeColumns(columns);
  AddProvenanceColumns(columns, provenance);
  return CsvOf(columns, report.groups);
}

}  // namespace fieldcost::report
