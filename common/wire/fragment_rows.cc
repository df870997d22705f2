// The rows of a Fragment (FRAGMENTS.md has the grammar, and what the numbers are):
//
//   Fragment := ... row { api metric week }* hardware* row { hardware }* group*
//   group    := row* shares*                   ; one of each per row; shares of a total come last
//   row      := kind:byte {week:signed set}? set buckets:byte untimed:number? bucket*
//   bucket   := gap:byte count sum squares     ; the slot follows from the previous one and the gap
//   shares   := share:signed*? {bounded_calls:signed bounded_sum:signed}?
#include "common/wire/fragment_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "common/wire/number_columns.h"
#include "common/wire/row_numbers.h"
#include "common/wire/total_rows.h"
#include "common/wire/wire.pb.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::wire {
namespace {

using stats::Bucket;
using stats::ContributionScalars;
using stats::CostHistogram;
using stats::StatRow;
using stats::Uint128;

constexpr std::size_t kReservedRows = 64;  // reserved at first; the rows of most APIs fit

// Weights are published as shares of their row's total, in 1/65536.
constexpr unsigned kShareBits = 16;
constexpr std::uint32_t kShareOne = std::uint32_t{1} << kShareBits;

// Bits of a row's kind.
constexpr unsigned kIsRest = 1;  // a total without its parts
constexpr unsigned kHasQuarter = 2;
constexpr unsigned kHasUntimed = 4;
constexpr unsigned kHasWeights = 8;
constexpr unsigned kHasBounded = 16;
constexpr unsigned kAllKinds = 31;

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

// The sets of the previous row with a class.
struct ClassReference {
  std::optional<std::uint32_t> api;
  SetReference quarter;
  SetReference rest;
};

// Returns the class's references for a row of the API.
ClassReference& ReferenceFor(std::uint32_t api, ClassReference& of_class) {
  if (of_class.api != api) of_class = {.api = api, .quarter = {}, .rest = {}};
  return of_class;
}

// The sums of a group's parts, which their total is expected to have.
struct SumsOfParts {
  std::array<Uint128, shm::kBucketSlots> shares{};  // times contributions
  Uint128 bounded_calls = 0;
  Uint128 bounded_sum = 0;

  void Add(const stats::BoundedSums& bounded) {
    bounded_calls += bounded.calls;
    bounded_sum += bounded.sum;
  }
};

// The shares and bounded sums that a row is expected to have. REQUIRES: the row has buckets and
// contributions, for shares.
class Expected {
 public:
  // `parts` is null unless the row is a total that is read without its parts.
  Expected(const StatRow& row, const SumsOfParts* parts)
      : row_(row), parts_(parts), totals_(row.histogram.Totals()) {}

  Uint128 Share(unsigned slot, const Bucket& bucket) const {
    if (parts_ != nullptr) return parts_->shares[slot] / row_.scalars.contributions;
    if (totals_.count >> (64 - kShareBits) == 0) {  // many times faster
      return (bucket.count << kShareBits) / totals_.count;
    }
    return (Uint128{bucket.count} << kShareBits) / totals_.count;
  }
  Uint128 Calls() const {
    return parts_ != nullptr ? parts_->bounded_calls : ExpectedBoundedCalls(row_.scalars);
  }
  Uint128 Sum(std::uint64_t calls) const {
    return parts_ != nullptr ? parts_->bounded_sum : ExpectedBoundedSum(totals_, calls);
  }

 private:
  const StatRow& row_;
  const SumsOfParts* parts_;
  const Bucket totals_;
};

// The sums of a row as they are stored.
struct StoredSums {
  const CostHistogram& histogram;
  ContributionScalars quarter;
  ContributionScalars rest;
  bool is_rest_of_total = false;
};

// REQUIRES: the row is valid, so that only used buckets have weights.
bool HasWeights(const StatRow& row) {
  bool has = false;
  row.histogram.ForEachUsed(
      [&](unsigned slot, const Bucket&) { has = has || row.weights.slots[slot] != 0; });
  return has;
}

class RowsWriter {
 public:
  RowsWriter(RowTableWriter& table, proto::Fragment& fragment)
      : table_(table), fragment_(fragment) {}

  void WriteGroup(std::span<const StatRow> group) {
    previous_mean_ = 0;
    const std::uint32_t api = table_.ApiIndex(group.front().key.api);
    const auto rest = HasTotal(group) ? RestOfTotal(group) : std::optional<TotalRest>();
    for (const StatRow& row : group) {
      table_.AppendKey(api, row.key.metric, row.key.week);
      ClassReference& reference = ReferenceFor(api, classes_[ClassIndex(row.key.hardware)]);
      if (rest && &row == &group.front()) {
        WriteSums(row, {rest->histogram, rest->quarter, rest->scalars, true}, reference);
      } else {
        WriteSums(row, {row.histogram, row.fullest_quarter.scalars, OutsideQuarter(row), false},
                  reference);
      }
    }
    SumsOfParts parts;
    for (const StatRow& row : group.subspan(rest ? 1 : 0)) {
      WriteShares(row, nullptr, parts);
      if (IsPart(row)) parts.Add(row.bounded);
    }
    if (rest) {
      SumsOfParts none;
      WriteShares(group.front(), &parts, none);
    }
  }

  void Finish() { numbers_.MoveTo(fragment_); }

 private:
  // Also writes the index.
  std::size_t ClassIndex(const stats::HardwareClass& hardware) {
    const auto [place, is_new] =
        class_numbers_.try_emplace(hardware, static_cast<std::uint32_t>(classes_.size()));
    if (is_new) {
      WriteHardwareClass(hardware, *fragment_.add_hardware());
      classes_.emplace_back();
    }
    fragment_.add_row_hardware(place->second);
    return place->second;
  }

  void WriteSums(const StatRow& row, const StoredSums& sums, ClassReference& reference) {
    const std::uint32_t week = row.fullest_quarter.week;
    const std::uint64_t untimed = sums.histogram.untimed();
    const unsigned kind = (sums.is_rest_of_total ? kIsRest : 0) | (week != 0 ? kHasQuarter : 0) |
                          (untimed != 0 ? kHasUntimed : 0) | (HasWeights(row) ? kHasWeights : 0) |
                          (row.bounded != stats::BoundedSums{} ? kHasBounded : 0);
    numbers_.Byte(Column::kRowKind, static_cast<std::uint8_t>(kind));
    if (week != 0) {
      numbers_.Signed(Column::kQuarterWeek, Uint128{week} - previous_week_);
      previous_week_ = week;
      WriteSet(sums.quarter, reference.quarter, previous_mean_, numbers_);
    }
    WriteSet(sums.rest, reference.rest, previous_mean_, numbers_);
    reference.quarter = ReferenceTo(sums.quarter);
    reference.rest = ReferenceTo(sums.rest);
    numbers_.Byte(Column::kBucketCount, static_cast<std::uint8_t>(sums.histogram.used_count()));
    if (untimed != 0) numbers_.Number(Column::kUntimed, untimed);
    unsigned next_slot = 0;
    sums.histogram.ForEachUsed([&](unsigned slot, const Bucket& bucket) {
      numbers_.Byte(Column::kBucketGap, static_cast<std::uint8_t>(slot - next_slot));
      next_slot = slot + 1;
      WriteBucket(slot, bucket, numbers_);
    });
  }

  // `parts` is null unless the row is stored without them; shares are added to `sums`.
  void WriteShares(const StatRow& row, const SumsOfParts* parts, SumsOfParts& sums) {
    const Expected expected(row, parts);
    if (HasWeights(row)) {
      const auto shares = stats::Apportion(row.weights.slots, kShareOne);
      unsigned left = row.histogram.used_count();
      row.histogram.ForEachUsed([&](unsigned slot, const Bucket& bucket) {
        if (--left != 0) {
          numbers_.Signed(Column::kShare, shares[slot] - expected.Share(slot, bucket));
        }
        if (IsPart(row)) sums.shares[slot] += Uint128{shares[slot]} * row.scalars.contributions;
      });
    }
    if (row.bounded != stats::BoundedSums{}) {
      numbers_.Signed(Column::kBoundedCalls, row.bounded.calls - expected.Calls());
      numbers_.Signed(Column::kBoundedSum, row.bounded.sum - expected.Sum(row.bounded.calls));
    }
  }

  RowTableWriter& table_;
  proto::Fragment& fragment_;
  NumberWriter numbers_;
  std::map<stats::HardwareClass, std::uint32_t> class_numbers_;
  std::vector<ClassReference> classes_;
  stats::Int128 previous_mean_ = 0;  // of the group's previous set
  std::uint32_t previous_week_ = 0;
};

class RowsReader {
 public:
  RowsReader(const proto::Fragment& untrusted_fragment, std::size_t classes)
      : numbers_(untrusted_fragment), classes_(classes) {}

  // Reads the sums of a row, whose key has been read.
  Status ReadSums(std::uint32_t api, std::size_t hardware, StatRow& row) {
    kinds_.push_back(numbers_.Byte(Column::kRowKind));
    const unsigned kind = kinds_.back();
    if (kind > kAllKinds) numbers_.Fail();
    ClassReference& reference = ReferenceFor(api, classes_[hardware]);
    if ((kind & kHasQuarter) != 0) {
      row.fullest_quarter.week = ReadWeek();
      row.fullest_quarter.scalars = ReadSet(reference.quarter, previous_mean_, numbers_);
    }
    const ContributionScalars rest = ReadSet(reference.rest, previous_mean_, numbers_);
    reference.quarter = ReferenceTo(row.fullest_quarter.scalars);
    reference.rest = ReferenceTo(rest);
    row.scalars = rest;
    // The rest of a total is without its quarter. A sum that overflows here is found later, since
    // the quarter is then more than the row.
    if ((kind & kIsRest) == 0) row.scalars.Merge(row.fullest_quarter.scalars);
    ReadHistogram(kind, row.histogram);
    return Check();
  }

  // Completes the rows of a group. Afterwards the next group begins.
  Status CompleteGroup(std::span<StatRow> group) {
    const unsigned kind = kinds_.front();
    const bool is_rest = (kind & kIsRest) != 0;
    for (std::size_t i = 1; i < group.size(); ++i) {
      if ((kinds_[i] & kIsRest) != 0) return NotATotal();
    }
    if (HasTotal(group)) {
      if (is_rest && !AddPartsToTotal(group)) {
        return Fail(ErrorCode::kCorrupt, "a total overflows");
      }
      if (!is_rest && RestOfTotal(group)) {
        return Fail(ErrorCode::kCorrupt, "a total includes its parts");
      }
    } else if (is_rest) {
      return NotATotal();
    }
    SumsOfParts parts;
    for (std::size_t i = is_rest ? 1 : 0; i < group.size(); ++i) {
      FIELDCOST_TRY(ReadShares(kinds_[i], nullptr, group[i]));
      if (IsPart(group[i])) AddPart(group[i], parts);
    }
    if (is_rest) FIELDCOST_TRY(ReadShares(kind, &parts, group.front()));
    kinds_.clear();
    previous_mean_ = 0;
    return {};
  }

  Status CheckEnd() const {
    if (numbers_.AtEnd()) return {};
    return Fail(ErrorCode::kCorrupt, "numbers that belong to no row");
  }

 private:
  static Error NotATotal() {
    return Fail(ErrorCode::kCorrupt, "a row without parts is no total, or has none");
  }

  Status Check() const {
    if (!numbers_.failed()) return {};
    return Fail(ErrorCode::kCorrupt, "a number is missing or out of range");
  }

  std::uint64_t ReadNarrow(Uint128 untrusted_number) {
    if (stats::High64(untrusted_number) != 0 || untrusted_number == 0) numbers_.Fail();
    return stats::Low64(untrusted_number);
  }

  std::uint32_t ReadWeek() {
    const std::uint64_t week = ReadNarrow(previous_week_ + numbers_.Signed(Column::kQuarterWeek));
    if (week > ~std::uint32_t{0}) numbers_.Fail();
    previous_week_ = static_cast<std::uint32_t>(week);
    return previous_week_;
  }

  void ReadHistogram(unsigned kind, CostHistogram& histogram) {
    const unsigned buckets = numbers_.Byte(Column::kBucketCount);
    if ((kind & kHasUntimed) != 0) {
      histogram.SetUntimed(ReadNarrow(numbers_.Number(Column::kUntimed)));
    }
    unsigned slot = 0;
    for (unsigned i = 0; i < buckets && !numbers_.failed(); ++i, ++slot) {
      slot += numbers_.Byte(Column::kBucketGap);
      if (slot >= shm::kBucketSlots) {
        numbers_.Fail();
        return;
      }
      histogram.SetBucket(slot, ReadBucket(slot, numbers_));
    }
  }

  // Shares times contributions, as they were read.
  static void AddPart(const StatRow& part, SumsOfParts& sums) {
    part.histogram.ForEachUsed([&](unsigned slot, const Bucket&) {
      sums.shares[slot] += part.weights.slots[slot] >> (stats::kWeightBits - kShareBits);
    });
    sums.Add(part.bounded);
  }

  Status ReadShares(unsigned kind, const SumsOfParts* parts, StatRow& row) {
    if ((kind & (kHasWeights | kHasBounded)) == 0) return {};
    if (row.histogram.used_count() == 0 || row.scalars.contributions == 0) {
      return Fail(ErrorCode::kCorrupt, "weights or bounded sums without contributions");
    }
    const Expected expected(row, parts);
    if ((kind & kHasWeights) != 0) ReadWeights(expected, row);
    if ((kind & kHasBounded) != 0) {
      row.bounded.contributions = row.scalars.contributions;
      row.bounded.calls = ReadNarrow(expected.Calls() + numbers_.Signed(Column::kBoundedCalls));
      row.bounded.sum = expected.Sum(row.bounded.calls) + numbers_.Signed(Column::kBoundedSum);
    }
    return Check();
  }

  void ReadWeights(const Expected& expected, StatRow& row) {
    unsigned left = row.histogram.used_count();
    std::uint32_t remaining = kShareOne;
    row.histogram.ForEachUsed([&](unsigned slot, const Bucket& bucket) {
      const Uint128 share = --left == 0
                                ? Uint128{remaining}
                                : expected.Share(slot, bucket) + numbers_.Signed(Column::kShare);
      if (share > remaining) {
        numbers_.Fail();
        return;
      }
      remaining -= static_cast<std::uint32_t>(share);
      row.weights.slots[slot] = share * row.scalars.contributions
                                << (stats::kWeightBits - kShareBits);
    });
  }

  NumberReader numbers_;
  std::vector<ClassReference> classes_;
  std::vector<unsigned> kinds_;      // of the group's rows
  stats::Int128 previous_mean_ = 0;  // of the group's previous set
  std::uint32_t previous_week_ = 0;
};

Result<std::vector<stats::HardwareClass>> ReadClasses(const proto::Fragment& untrusted_fragment) {
  std::vector<stats::HardwareClass> classes;
  std::set<stats::HardwareClass> different;
  for (const proto::HardwareClass& untrusted_class : untrusted_fragment.hardware()) {
    FIELDCOST_TRY(ReadHardwareClass(untrusted_class, classes.emplace_back()));
    if (!different.insert(classes.back()).second) {
      return Fail(ErrorCode::kCorrupt, "a hardware class is listed twice");
    }
  }
  return classes;
}

// Whether the metrics are known, and the classes are numbered in order of first use.
Status CheckKeyColumns(const proto::Fragment& untrusted_fragment) {
  const proto::Fragment& fragment = untrusted_fragment;
  if (fragment.row_hardware_size() != fragment.table().row_api_size()) {
    return Fail(ErrorCode::kCorrupt, "columns of the rows have different lengths");
  }
  const auto& metrics = fragment.table().row_metric();
  if (!std::all_of(metrics.begin(), metrics.end(), stats::IsKnownMetric)) {
    return Fail(ErrorCode::kCorrupt, "unknown metric");
  }
  std::uint32_t classes = 0;
  for (const std::uint32_t hardware : fragment.row_hardware()) {
    if (hardware > classes) break;
    if (hardware == classes) ++classes;
  }
  if (classes != static_cast<std::uint32_t>(fragment.hardware_size()) ||
      std::any_of(fragment.row_hardware().begin(), fragment.row_hardware().end(),
                  [&](std::uint32_t hardware) { return hardware >= classes; })) {
    return Fail(ErrorCode::kCorrupt, "hardware classes out of range or not in order of first use");
  }
  return {};
}

// Groups are found by the APIs' indices, so no two may stand for one API.
Status CheckApisDiffer(const proto::Fragment& fragment, std::span<const StatRow> rows) {
  const auto& apis = fragment.table().row_api();
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto at = static_cast<int>(i);
    if (apis[at] != apis[at - 1] && rows[i].key.api == rows[i - 1].key.api) {
      return Fail(ErrorCode::kCorrupt, "row {}: its API is listed twice", i);
    }
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

void WriteFragmentRows(std::span<const StatRow> sorted_rows, RowTableWriter& table,
                       proto::Fragment& fragment) {
  RowsWriter writer(table, fragment);
  while (!sorted_rows.empty()) {
    const std::size_t length = GroupLength(sorted_rows);
    writer.WriteGroup(sorted_rows.first(length));
    sorted_rows = sorted_rows.subspan(length);
  }
  writer.Finish();
}

Result<std::vector<StatRow>> ReadFragmentRows(const proto::Fragment& untrusted_fragment,
                                              std::size_t max_rows) {
  const proto::Fragment& fragment = untrusted_fragment;
  RowTableReader keys;
  FIELDCOST_TRY(keys.OpenKeys(fragment.table(), max_rows));
  FIELDCOST_ASSIGN(const std::vector<stats::HardwareClass> classes, ReadClasses(fragment));
  FIELDCOST_TRY(CheckKeyColumns(fragment));
  RowsReader reader(fragment, classes.size());
  std::vector<StatRow> rows;
  rows.reserve(std::min<std::size_t>(keys.row_count(), kReservedRows));
  std::size_t group = 0;  // its first row
  for (std::size_t i = 0; i < keys.row_count(); ++i) {
    const auto at = static_cast<int>(i);
    const std::uint32_t api = fragment.table().row_api(at);
    const std::uint32_t metric = fragment.table().row_metric(at);
    const std::uint32_t hardware = fragment.row_hardware(at);
    StatRow& row = rows.emplace_back();  // in place: a row is large
    keys.GetApi(api, row.key.api);
    row.key.metric = static_cast<stats::Metric>(metric);
    row.key.hardware = classes[hardware];
    row.key.week = fragment.table().row_week(at);
    Status status = reader.ReadSums(api, hardware, row);
    const bool is_last = i + 1 == keys.row_count() || fragment.table().row_api(at + 1) != api ||
                         fragment.table().row_metric(at + 1) != metric;
    if (status && is_last) {
      status = reader.CompleteGroup(std::span(rows).subspan(group));
      group = rows.size();
    }
    if (!status) return Within(status.error(), fmt::format("row {}", i));
  }
  FIELDCOST_TRY(reader.CheckEnd());
  FIELDCOST_TRY(CheckFragmentRows(rows));
  FIELDCOST_TRY(CheckApisDiffer(fragment, rows));
  return rows;
}

}  // namespace fieldcost::wire
