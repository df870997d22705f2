// The columns of a Fragment other than its RowTable; fragment.cc has the grammar.
#include "common/wire/fragment_rows.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "common/wire/wire.pb.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {
namespace {

using stats::ContributionScalars;
using stats::High64;
using stats::Low64;
using stats::MakeUint128;
using stats::StatRow;
using stats::Uint128;

constexpr std::size_t kReservedRows = 64;  // reserved at first; the rows of most APIs fit

// Weights are published as shares of their row's total, in 1/65536.
constexpr unsigned kShareBits = 16;
constexpr std::uint32_t kShareOne = std::uint32_t{1} << kShareBits;

// Writer and reader keep the same rules, so that what was published can be read.
Status CheckRow(const StatRow& row) {
  FIELDCOST_TRY(ValidateApiKey(row.key.api));
  if (!stats::IsKnownMetric(static_cast<std::uint32_t>(row.key.metric))) {
    return Fail(ErrorCode::kCorrupt, "unknown metric");
  }
  if (row.key.hardware != stats::HardwareClass{}) {
    FIELDCOST_TRY(ValidateHardwareClass(row.key.hardware));
  }
  FIELDCOST_TRY(Validate(row.histogram));
  FIELDCOST_TRY(Validate(row.scalars));
  FIELDCOST_TRY(Validate(row.weights, row.histogram, row.scalars.contributions));
  FIELDCOST_TRY(Validate(row.bounded, row.histogram, row.scalars.contributions));
  if (row.key.week != 0 && row.fullest_quarter != stats::QuarterScalars{}) {
    return Fail(ErrorCode::kCorrupt, "a row of a single week has another fullest quarter");
  }
  return Validate(row.fullest_quarter, row.scalars);
}

// Fills the columns of a Fragment, or of its QuarterScalars.
template <typename Columns>
void AppendScalars(const ContributionScalars& scalars, Columns& fragment) {
  const auto mean = static_cast<Uint128>(scalars.sum_mean);
  fragment.add_contributions(scalars.contributions);
  fragment.add_sum_mean_low(Low64(mean));
  fragment.add_sum_mean_high(High64(mean));
  fragment.add_sum_mean_squared_low(Low64(scalars.sum_mean_squared));
  fragment.add_sum_mean_squared_high(High64(scalars.sum_mean_squared));
  fragment.add_sum_inverse_calls_low(Low64(scalars.sum_inverse_calls));
  fragment.add_sum_inverse_calls_high(High64(scalars.sum_inverse_calls));
  fragment.add_sum_within_squares_low(Low64(scalars.sum_within_squares));
  fragment.add_sum_within_squares_high(High64(scalars.sum_within_squares));
  fragment.add_sum_within_freedom_low(Low64(scalars.sum_within_freedom));
  fragment.add_sum_within_freedom_high(High64(scalars.sum_within_freedom));
  const auto cubes = static_cast<Uint128>(scalars.sum_mean_cubed);
  fragment.add_sum_mean_cubed_low(Low64(cubes));
  fragment.add_sum_mean_cubed_high(High64(cubes));
}

void AppendFullestQuarter(const stats::QuarterScalars& week, proto::QuarterScalars& columns) {
  columns.add_week(week.week);
  AppendScalars(week.scalars, columns);
}

void AppendWeights(const StatRow& row, proto::Fragment& fragment) {
  const auto shares = stats::Apportion(row.weights.slots, kShareOne);
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
    if (row.histogram.bucket(slot) == stats::Bucket{}) continue;  // as RowTableWriter does
    fragment.add_bucket_share_per_65536(static_cast<std::uint32_t>(shares[slot]));
  }
}

void AppendBounded(const stats::BoundedSums& bounded, proto::Fragment& fragment) {
  fragment.add_bounded_calls(bounded.calls);
  fragment.add_bounded_sum_low(Low64(bounded.sum));
  fragment.add_bounded_sum_high(High64(bounded.sum));
}

// Fills the rows' weights. REQUIRES: the rows' buckets are those of the table.
Status ReadWeights(const proto::Fragment& untrusted_fragment, std::vector<StatRow>& rows) {
  const proto::Fragment& fragment = untrusted_fragment;
  const proto::RowTable& table = fragment.table();
  if (fragment.bucket_share_per_65536_size() == 0) return {};
  if (fragment.bucket_share_per_65536_size() != table.bucket_slot_size()) {
    return Fail(ErrorCode::kCorrupt, "the column of the weights has another length");
  }
  int next = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::uint64_t contributions = rows[i].scalars.contributions;
    const int end = next + static_cast<int>(table.row_bucket_count(static_cast<int>(i)));
    std::uint64_t total = 0;
    for (; next < end; ++next) {
      const std::uint32_t share = fragment.bucket_share_per_65536(next);
      total += share;
      rows[i].weights.slots[table.bucket_slot(next)] = Uint128{share} * contributions
                                                       << (stats::kWeightBits - kShareBits);
    }
    if (total != 0 && total != kShareOne) {
      return Fail(ErrorCode::kCorrupt, "row {}: the weights' shares do not add up", i);
    }
  }
  return {};
}

// Fills the rows' bounded sums.
Status ReadBounded(const proto::Fragment& untrusted_fragment, std::vector<StatRow>& rows) {
  const proto::Fragment& fragment = untrusted_fragment;
  const int columns[] = {fragment.bounded_calls_size(), fragment.bounded_sum_low_size(),
                         fragment.bounded_sum_high_size()};
  const auto have = [&](int length) {
    return std::all_of(std::begin(columns), std::end(columns),
                       [length](int size) { return size == length; });
  };
  if (have(0)) return {};
  if (!have(static_cast<int>(rows.size()))) {
    return Fail(ErrorCode::kCorrupt, "columns of the bounded sums have different lengths");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<int>(i);
    rows[i].bounded = {
        .contributions = fragment.bounded_calls(row) == 0 ? 0 : rows[i].scalars.contributions,
        .calls = fragment.bounded_calls(row),
        .sum = MakeUint128(fragment.bounded_sum_high(row), fragment.bounded_sum_low(row))};
  }
  return {};
}

template <typename Columns>
bool HasScalarsFor(const Columns& columns, int rows) {
  return columns.contributions_size() == rows && columns.sum_mean_low_size() == rows &&
         columns.sum_mean_high_size() == rows && columns.sum_mean_squared_low_size() == rows &&
         columns.sum_mean_squared_high_size() == rows &&
         columns.sum_inverse_calls_low_size() == rows &&
         columns.sum_inverse_calls_high_size() == rows &&
         columns.sum_within_squares_low_size() == rows &&
         columns.sum_within_squares_high_size() == rows &&
         columns.sum_within_freedom_low_size() == rows &&
         columns.sum_within_freedom_high_size() == rows &&
         columns.sum_mean_cubed_low_size() == rows && columns.sum_mean_cubed_high_size() == rows;
}

// REQUIRES: HasScalarsFor more than `row` rows.
template <typename Columns>
ContributionScalars ReadScalars(const Columns& fragment, int row) {
  return {
      .contributions = fragment.contributions(row),
      .sum_mean = static_cast<stats::Int128>(
          MakeUint128(fragment.sum_mean_high(row), fragment.sum_mean_low(row))),
      .sum_mean_squared =
          MakeUint128(fragment.sum_mean_squared_high(row), fragment.sum_mean_squared_low(row)),
      .sum_inverse_calls =
          MakeUint128(fragment.sum_inverse_calls_high(row), fragment.sum_inverse_calls_low(row)),
      .sum_within_squares =
          MakeUint128(fragment.sum_within_squares_high(row), fragment.sum_within_squares_low(row)),
      .sum_within_freedom =
          MakeUint128(fragment.sum_within_freedom_high(row), fragment.sum_within_freedom_low(row)),
      .sum_mean_cubed = static_cast<stats::Int128>(
          MakeUint128(fragment.sum_mean_cubed_high(row), fragment.sum_mean_cubed_low(row)))};
}

// Fills the rows' fullest quarters.
Status ReadFullestQuarters(const proto::Fragment& untrusted_fragment, std::vector<StatRow>& rows) {
  if (!untrusted_fragment.has_fullest_quarter()) return {};
  const proto::QuarterScalars& weeks = untrusted_fragment.fullest_quarter();
  const auto count = static_cast<int>(rows.size());
  if (weeks.week_size() != count || !HasScalarsFor(weeks, count)) {
    return Fail(ErrorCode::kCorrupt, "columns of the fullest quarters have different lengths");
  }
  for (int i = 0; i < count; ++i) {
    rows[static_cast<std::size_t>(i)].fullest_quarter = {.week = weeks.week(i),
                                                         .scalars = ReadScalars(weeks, i)};
  }
  return {};
}

}  // namespace

Status CheckFragmentRows(std::span<const StatRow> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (const Status status = CheckRow(rows[i]); !status) {
      return Within(status.error(), fmt::format("row {}", i));
    }
    if (i > 0 && !(rows[i - 1].key < rows[i].key)) {
      return Fail(ErrorCode::kCorrupt, "row {}: not in ascending order", i);
    }
  }
  return {};
}

void WriteFragmentRows(std::span<const StatRow> sorted_rows, RowTableWriter& writer,
                       proto::Fragment& fragment) {
  std::map<stats::HardwareClass, std::uint32_t> classes;
  const bool has_weights =
      std::any_of(sorted_rows.begin(), sorted_rows.end(),
                  [](const StatRow& row) { return row.weights != stats::AgentWeights{}; });
  const bool has_bounded =
      std::any_of(sorted_rows.begin(), sorted_rows.end(),
                  [](const StatRow& row) { return row.bounded != stats::BoundedSums{}; });
  const bool has_weeks = std::any_of(
      sorted_rows.begin(), sorted_rows.end(),
      [](const StatRow& row) { return row.fullest_quarter != stats::QuarterScalars{}; });
  for (const StatRow& row : sorted_rows) {
    writer.Append(row.key.api, row.key.metric, row.key.week, row.histogram);
    const auto [place, is_new] =
        classes.try_emplace(row.key.hardware, static_cast<std::uint32_t>(classes.size()));
    if (is_new) WriteHardwareClass(row.key.hardware, *fragment.add_hardware());
    fragment.add_row_hardware(place->second);
    AppendScalars(row.scalars, fragment);
    if (has_weights) AppendWeights(row, fragment);
    if (has_bounded) AppendBounded(row.bounded, fragment);
    if (has_weeks) AppendFullestQuarter(row.fullest_quarter, *fragment.mutable_fullest_quarter());
  }
}

Result<std::vector<StatRow>> ReadFragmentRows(const proto::Fragment& untrusted_fragment,
                                              std::size_t max_rows) {
  const proto::Fragment& fragment = untrusted_fragment;
  RowTableReader reader;
  FIELDCOST_TRY(reader.Open(fragment.table(), max_rows));
  const auto rows = static_cast<int>(reader.row_count());
  if (fragment.row_hardware_size() != rows || !HasScalarsFor(fragment, rows)) {
    return Fail(ErrorCode::kCorrupt, "columns of the rows have different lengths");
  }
  std::vector<stats::HardwareClass> classes(static_cast<std::size_t>(fragment.hardware_size()));
  for (std::size_t i = 0; i < classes.size(); ++i) {
    FIELDCOST_TRY(ReadHardwareClass(fragment.hardware(static_cast<int>(i)), classes[i]));
  }
  std::vector<StatRow> result;
  result.reserve(std::min<std::size_t>(reader.row_count(), kReservedRows));
  for (int i = 0; i < rows; ++i) {
    const std::uint32_t hardware = fragment.row_hardware(i);
    if (hardware >= classes.size()) {
      return Fail(ErrorCode::kCorrupt, "row {}: hardware class index out of range", i);
    }
    StatRow& row = result.emplace_back();  // in place: a row is large
    const RowNumbers untrusted =
        reader.Get(static_cast<std::size_t>(i), row.key.api, row.histogram);
    if (untrusted.malformed || !stats::IsKnownMetric(untrusted.metric_number)) {
      return Fail(ErrorCode::kCorrupt, "row {}: {}", i,
                  untrusted.malformed ? "bucket slot out of range or twice" : "unknown metric");
    }
    row.key.metric = static_cast<stats::Metric>(untrusted.metric_number);
    row.key.hardware = classes[hardware];
    row.key.week = untrusted.week;
    row.scalars = ReadScalars(fragment, i);
  }
  FIELDCOST_TRY(ReadWeights(fragment, result));
  FIELDCOST_TRY(ReadBounded(fragment, result));
  FIELDCOST_TRY(ReadFullestQuarters(fragment, result));
  FIELDCOST_TRY(CheckFragmentRows(result));
  return result;
}

}  // namespace fieldcost::wire
