#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/names/cxx_name.h"
#include "common/stats/api_key.h"
#include "common/stats/figures.h"
#include "tools/report/csv.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::report {

// Columns shared by several tables. `of` returns the part of a record to show; null = empty cells.

inline std::optional<double> MedianOf(const stats::Figures& figures) {
  return figures.quantiles ? std::optional(figures.quantiles->p50.estimate) : std::nullopt;
}

// api, library, symbol, name (demangled), version, build_id, symbol_version.
template <typename Record>
void AddApiColumns(CsvColumns<Record>& columns,
                   std::function<const stats::ApiKey&(const Record&)> of) {
  const auto add = [&](const char* name, std::string stats::ApiKey::*part) {
    columns.push_back(
        {name, [of, part](CsvWriter& csv, const Record& record) { csv.Text(of(record).*part); }});
  };
  columns.push_back({"api", [of](CsvWriter& csv, const Record& record) {
                       csv.Text(stats::DisplayName(of(record)));
                     }});
  add("library", &stats::ApiKey::soname);
  add("symbol", &stats::ApiKey::symbol);
  columns.push_back({"name", [of](CsvWriter& csv, const Record& record) {
                       csv.Text(names::DemangledName(of(record).symbol));
                     }});
  add("version", &stats::ApiKey::package_version);
  add("build_id", &stats::ApiKey::build_id);
  add("symbol_version", &stats::ApiKey::symbol_version);
}

// The estimate and, with `bounds`, the ends of its guaranteed interval: PREFIXp50, PREFIXp50_low,
// PREFIXp50_high; the same for p95 and p99.
template <typename Record>
void AddQuantileColumns(CsvColumns<Record>& columns, const std::string& prefix,
                        std::function<const stats::Quantiles*(const Record&)> of) {
  struct Named {
    const char* name;
    stats::Quantile stats::Quantiles::*which;
  };
  struct Part {
    const char* suffix;
    double stats::Quantile::*value;
  };
  for (const Named& quantile :
       {Named{"p50", &stats::Quantiles::p50}, Named{"p95", &stats::Quantiles::p95},
        Named{"p99", &stats::Quantiles::p99}}) {
    for (const Part& part :
         {Part{"", &stats::Quantile::estimate}, Part{"_low", &stats::Quantile::low},
          Part{"_high", &stats::Quantile::high}}) {
      columns.push_back(
          {prefix + quantile.name + part.suffix,
           [of, which = quantile.which, value = part.value](CsvWriter& csv, const Record& record) {
             const stats::Quantiles* quantiles = of(record);
             quantiles == nullptr ? csv.Empty() : csv.Number((quantiles->*which).*value);
           }});
    }
  }
}

// Columns of all records with stats::Figures: machines, count, sum, mean, p50, p50_low, p50_high,
// the same for p95 and p99; few_machines; the same over all calls (all_calls_count ...; sums are
// exact), with sum of squares and standard deviation. Empty = unknown, or omitted.
template <typename Record>
void AddFigureColumns(CsvColumns<Record>& columns,
                      std::function<const stats::Figures*(const Record&)> of) {
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const stats::Figures&)) {
    columns.push_back({name, [of, put](CsvWriter& csv, const Record& record) {
                         const stats::Figures* figures = of(record);
                         figures == nullptr ? static_cast<void>(csv.Empty()) : put(csv, *figures);
                       }});
  };
  const auto add_of_all = [&](const char* name,
                              void (*put)(CsvWriter&, const stats::CallFigures&)) {
    columns.push_back({name, [of, put](CsvWriter& csv, const Record& record) {
                         const stats::Figures* figures = of(record);
                         const bool known = figures != nullptr && figures->all_calls.has_value();
                         known ? put(csv, *figures->all_calls) : static_cast<void>(csv.Empty());
                       }});
  };
  add("machines", [](CsvWriter& csv, const stats::Figures& figures) {
    figures.machines == 0 ? csv.Empty() : csv.Count(figures.machines);
  });
  add("count", [](CsvWriter& csv, const stats::Figures& figures) { csv.Known(figures.calls); });
  add("sum", [](CsvWriter& csv, const stats::Figures& figures) {
    figures.sum ? csv.Sum(*figures.sum) : csv.Empty();
  });
  add("mean", [](CsvWriter& csv, const stats::Figures& figures) { csv.Known(figures.mean); });
  AddQuantileColumns<Record>(columns, "", [of](const Record& record) {
    const stats::Figures* figures = of(record);
    return figures != nullptr && figures->quantiles ? &*figures->quantiles : nullptr;
  });
  add("few_machines",
      [](CsvWriter& csv, const stats::Figures& figures) { csv.Flag(figures.few_machines); });
  add_of_all("all_calls_count", [](CsvWriter& csv, const stats::CallFigures& calls) {
    csv.Count(calls.totals.count);
  });
  add_of_all("all_calls_sum",
             [](CsvWriter& csv, const stats::CallFigures& calls) { csv.Sum(calls.totals.sum); });
  add_of_all("all_calls_sum_of_squares", [](CsvWriter& csv, const stats::CallFigures& calls) {
    csv.Sum(calls.totals.sum_of_squares);
  });
  add_of_all("all_calls_mean",
             [](CsvWriter& csv, const stats::CallFigures& calls) { csv.Number(calls.mean); });
  add_of_all("all_calls_standard_deviation", [](CsvWriter& csv, const stats::CallFigures& calls) {
    csv.Number(calls.standard_deviation);
  });
  AddQuantileColumns<Record>(columns, "all_calls_", [of](const Record& record) {
    const stats::Figures* figures = of(record);
    return figures != nullptr && figures->all_calls ? &figures->all_calls->quantiles : nullptr;
  });
}

// source, snapshot, published, expired, synthetic: the last columns of every table. `provenance`
// must live as long as the columns.
template <typename Record>
void AddProvenanceColumns(CsvColumns<Record>& columns, const Provenance& provenance) {
  const auto add = [&](const char* name, void (*put)(CsvWriter&, const Provenance&)) {
    columns.push_back(
        {name, [put, &provenance](CsvWriter& csv, const Record&) { put(csv, provenance); }});
  };
  add("source", [](CsvWriter& csv, const Provenance& from) { csv.Text(from.source); });
  add("snapshot", [](CsvWriter& csv, const Provenance& from) {
    from.snapshot == 0 ? csv.Empty() : csv.Count(from.snapshot);
  });
  add("published", [](CsvWriter& csv, const Provenance& from) { csv.Text(from.published); });
  add("expired", [](CsvWriter& csv, const Provenance& from) { csv.Flag(from.expired); });
  add("synthetic", [](CsvWriter& csv, const Provenance& from) { csv.Flag(from.synthetic); });
}

}  // namespace fieldcost::report
