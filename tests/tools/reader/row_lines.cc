#include "tests/tools/reader/row_lines.h"

#include "common/base/json_writer.h"
#include "common/draw/numbers.h"

namespace fieldcost {
namespace {

std::string Text(stats::Uint128 value) { return draw::Decimal(value); }
std::string SignedText(stats::Int128 value) {
  const auto bits = static_cast<stats::Uint128>(value);
  return value < 0 ? "-" + Text(stats::Uint128{0} - bits) : Text(bits);
}

void WriteHardware(const stats::HardwareClass& hardware, JsonWriter& json) {
  if (hardware == stats::HardwareClass{}) {
    json.Null();
    return;
  }
  json.Object()
      .Member("architecture", hardware.architecture)
      .Member("cpu_family", hardware.cpu_family)
      .Member("log2_cores", hardware.log2_cores)
      .Member("log2_memory_mib", hardware.log2_memory_mib)
      .Member("os_release", hardware.os_release)
      .EndObject();
}

void WriteScalars(const stats::ContributionScalars& scalars, JsonWriter& json) {
  json.Object()
      .Member("contributions", Text(scalars.contributions))
      .Member("sum_mean", SignedText(scalars.sum_mean))
      .Member("sum_mean_squared", Text(scalars.sum_mean_squared))
      .Member("sum_inverse_calls", Text(scalars.sum_inverse_calls))
      .Member("sum_within_squares", Text(scalars.sum_within_squares))
      .Member("sum_within_freedom", Text(scalars.sum_within_freedom))
      .Member("sum_mean_cubed", SignedText(scalars.sum_mean_cubed))
      .EndObject();
}

void WriteBuckets(const stats::StatRow& row, JsonWriter& json) {
  json.Array();
  row.histogram.ForEachUsed([&](unsigned slot, const stats::Bucket& bucket) {
    json.Object()
        .Member("slot", slot)
        .Member("count", Text(bucket.count))
        .Member("sum", Text(bucket.sum))
        .Member("sum_of_squares", Text(bucket.sum_of_squares))
        .Member("weight", Text(row.weights.slots[slot]))
        .EndObject();
  });
  json.EndArray();
}

void WriteRow(const stats::StatRow& row, JsonWriter& json) {
  const stats::ApiKey& api = row.key.api;
  json.Object()
      .Member("soname", api.soname)
      .Member("package_version", api.package_version)
      .Member("build_id", api.build_id)
      .Member("symbol", api.symbol)
      .Member("symbol_version", api.symbol_version)
      .Member("metric", stats::Name(row.key.metric))
      .Key("hardware");
  WriteHardware(row.key.hardware, json);
  json.Member("week", row.key.week).Member("untimed", Text(row.histogram.untimed())).Key("buckets");
  WriteBuckets(row, json);
  json.Key("scalars");
  WriteScalars(row.scalars, json);
  json.Key("bounded");
  if (row.bounded == stats::BoundedSums{}) {
    json.Null();
  } else {
    json.Object()
        .Member("calls", Text(row.bounded.calls))
        .Member("sum", Text(row.bounded.sum))
        .EndObject();
  }
  json.Key("fullest_quarter");
  if (row.fullest_quarter.week == 0) {
    json.Null();
  } else {
    json.Object().Member("week", row.fullest_quarter.week).Key("scalars");
    WriteScalars(row.fullest_quarter.scalars, json);
    json.EndObject();
  }
  json.EndObject();
}

}  // namespace

std::string RowLines(const std::vector<stats::StatRow>& rows) {
  std::string lines;
  for (const stats::StatRow& row : rows) {
    JsonWriter json;
    WriteRow(row, json);
    lines += json.Take();
  }
  return lines;
}

}  // namespace fieldcost
