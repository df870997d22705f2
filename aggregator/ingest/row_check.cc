#include "aggregator/ingest/row_check.h"

#include <fnmatch.h>

#include <algorithm>

#include "common/stats/metric_traits.h"

namespace fieldcost::ingest {
namespace {

using stats::Metric;
using stats::Plausible;
using stats::Uint128;

constexpr Uint128 kNoLimit = ~Uint128{0};

// A machine's maximum per second and core, and per call.
struct Bounds {
  Uint128 sum = kNoLimit;
  Uint128 count = kNoLimit;
  Uint128 value = kNoLimit;
  std::uint64_t stood_for = 1;  // maximum number of values that one represents, including itself
};

constexpr Bounds BoundsOf(Plausible plausible) {
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  constexpr Uint128 kTime = Uint128{kNsPerSecond} * kMaxThreadsPerCore;
  switch (plausible) {
    case Plausible::kTime:
      return {.sum = kTime,
              .count = kMaxCallsPerSecondPerCore,
              .value = kMaxCallNs,
              .stood_for = kMostCallsStoodFor};
    case Plausible::kCycles:
      return {.sum = kTime * kMaxTicksPerNs,
              .count = kMaxCallsPerSecondPerCore,
              .value = Uint128{kMaxCallNs} * kMaxTicksPerNs,
              .stood_for = kMostCallsStoodFor};
    case Plausible::kFirstCall:
      return {.sum = kTime, .count = kMaxRunsPerSecondPerCore, .value = kMaxCallNs};
    case Plausible::kTimePerRun:
      return {.sum = kTime * kMostRunsStoodFor,
              .count = kMaxRunsPerSecondPerCore * kMostRunsStoodFor,
              .value = kMaxCallNs * Uint128{kMaxThreadsPerCore},
              .stood_for = kMostRunsStoodFor};
    case Plausible::kCallsPerRun:
      return {.sum = kMaxCallsPerSecondPerCore, .count = kMaxRunsPerSecondPerCore};
    case Plausible::kReasons:
      return {.count = kMaxRunsPerSecondPerCore, .value = shm::kAllNotMeasured};
    case Plausible::kAllocation:
      return {.sum = kMaxAllocatedPerSecondPerCore,
              .count = kMaxCallsPerSecondPerCore,
              .value = kMaxAllocationBytes,
              .stood_for = kMostCallsStoodFor};
    case Plausible::kAllocated:
      return {.sum = kMaxAllocatedPerSecondPerCore,
              .count = kMaxCallsPerSecondPerCore,
              .stood_for = kMostCallsStoodFor};
    case Plausible::kTransferred:
      return {.sum = kMaxTransferredPerSecondPerCore,
              .count = kMaxCallsPerSecondPerCore,
              .stood_for = kMostCallsStoodFor};
  }
  return {};
}

// Larger for runs, which take long and represent many others.
constexpr Uint128 MostSquares(std::uint32_t metric_number) {
  const bool is_of_runs = metric_number == static_cast<std::uint32_t>(Metric::kTimePerRun);
  return is_of_runs ? kMaxRunsSumOfSquares : kMaxRowSumOfSquares;
}

// Whether some value must have been greater than `limit`, because the last bucket's mean is.
// REQUIRES: the histogram is valid.
bool HasGreater(const stats::CostHistogram& histogram, Uint128 limit) {
  unsigned last = 0;
  histogram.ForEachUsed([&](unsigned slot, const stats::Bucket&) { last = slot; });
  if (shm::SlotMax(last) <= limit) return false;
  const stats::Bucket& bucket = histogram.bucket(last);
  return bucket.count != 0 && bucket.sum / bucket.count > limit;
}

std::optional<RowRefusal> Implausible(std::string reason) {
  return RowRefusal{.problem = RowProblem::kImplausible, .reason = std::move(reason)};
}

// `check_key` returns what is wrong with an API key; `totals` are filled in.
template <typename CheckKey>
std::optional<RowRefusal> CheckContent(const wire::UntrustedRow& untrusted_row,
                                       const CheckKey& check_key, stats::Bucket& totals) {
  const auto refuse = [](RowProblem problem, std::string reason) {
    return RowRefusal{.problem = problem, .reason = std::move(reason)};
  };
  if (untrusted_row.malformed) return refuse(RowProblem::kMalformed, "row is malformed");
  if (!stats::IsKnownMetric(untrusted_row.metric_number)) {
    return refuse(RowProblem::kUnknownMetric,
                  fmt::format("unknown metric {}", untrusted_row.metric_number));
  }
  if (Status status = check_key(untrusted_row.api); !status) {
    return refuse(RowProblem::kMalformed, std::move(status.error().message));
  }
  totals = untrusted_row.histogram.Totals();
  if (totals.count == 0) return refuse(RowProblem::kMalformed, "row has no calls");
  if (Status status = stats::Validate(untrusted_row.histogram); !status) {
    return refuse(RowProblem::kImpossible, std::move(status.error().message));
  }
  if (totals.count > kMaxRowCalls) {
    return Implausible("more than 2^40 calls in one row");
  }
  if (totals.sum_of_squares > MostSquares(untrusted_row.metric_number)) {
    return Implausible("the sum of squares is above a row's limit");
  }
  return std::nullopt;
}

}  // namespace

Status CheckRowContent(const wire::UntrustedRow& untrusted_row) {
  stats::Bucket totals;
  auto refusal = CheckContent(untrusted_row, wire::ValidateApiKey, totals);
  if (!refusal) return {};
  return Fail(ErrorCode::kCorrupt, "{}", refusal->reason);
}

bool IsLarge(const stats::Bucket& totals) {
  return totals.count > kSmallRowCalls || totals.sum_of_squares > kSmallRowSquares;
}

bool SumsFit(const stats::Bucket& totals, const stats::Bucket& stored) {
  const auto most_of = [](Uint128 room, Uint128 taken) {
    return (room - std::min(room, taken)) >> kRoomShareBits;
  };
  return (totals.count <= kSmallRowCalls || totals.count <= most_of(kCallsRoom, stored.count)) &&
         (totals.sum_of_squares <= kSmallRowSquares ||
          totals.sum_of_squares <= most_of(kSquaresRoom, stored.sum_of_squares));
}

void RowCheck::Start(const Circumstances& circumstances) {
  circumstances_ = circumstances;
  taken_ = {};
  last_soname_.clear();
  has_module_ = false;
}

Status RowCheck::CheckKey(const stats::ApiKey& untrusted_key) {
  if (!has_module_ || untrusted_key.soname != module_.soname ||
      untrusted_key.package_version != module_.package_version ||
      untrusted_key.build_id != module_.build_id) {
    has_module_ = false;
    FIELDCOST_TRY(wire::ValidateModule(untrusted_key));
    module_.soname = untrusted_key.soname;
    module_.package_version = untrusted_key.package_version;
    module_.build_id = untrusted_key.build_id;
    has_module_ = true;
  }
  return wire::ValidateSymbol(untrusted_key);
}

bool RowCheck::IsListed(const std::string& soname) {
  if (circumstances_.modules == nullptr || circumstances_.modules->empty()) return true;
  if (soname == last_soname_) return last_listed_;  // rows of a module are adjacent
  last_soname_ = soname;
  last_listed_ = std::any_of(
      circumstances_.modules->begin(), circumstances_.modules->end(),
      [&](const std::string& glob) { return ::fnmatch(glob.c_str(), soname.c_str(), 0) == 0; });
  return last_listed_;
}

RowCheck::Sums& RowCheck::SumsOf(const wire::UntrustedRow& row) {
  const std::uint32_t week = row.week + kWeeksBack - circumstances_.current_week;
  return taken_[row.metric_number][week];
}

std::optional<RowRefusal> RowCheck::CheckPlausible(const wire::UntrustedRow& untrusted_row,
                                                   const stats::Bucket& totals) {
  const auto metric = static_cast<Metric>(untrusted_row.metric_number);
  const Bounds bounds = BoundsOf(stats::TraitsOf(metric).plausible);
  const Uint128 week_of_cores = Uint128{kWeekSeconds} << (circumstances_.log2_cores + 1);
  const Sums& taken = SumsOf(untrusted_row);
  row_ = {.sum = totals.sum, .count = totals.count};
  if (HasGreater(untrusted_row.histogram, bounds.value)) {
    return Implausible(
        fmt::format("{}: a single value is larger than possible", stats::Name(metric)));
  }
  const std::uint64_t timed = totals.count - untrusted_row.histogram.untimed();
  if (totals.count > Uint128{timed} * bounds.stood_for) {
    return Implausible(
        fmt::format("{}: its values represent more calls than possible", stats::Name(metric)));
  }
  if (row_.sum + taken.sum > bounds.sum * week_of_cores) {
    return Implausible(
        fmt::format("{}: more in a week than a machine of this class can do", stats::Name(metric)));
  }
  if (row_.count + taken.count > bounds.count * week_of_cores) {
    return Implausible(fmt::format("{}: more calls in a week than a machine of this class can do",
                                   stats::Name(metric)));
  }
  return std::nullopt;
}

std::optional<RowRefusal> RowCheck::CheckWeek(std::uint32_t untrusted_week) const {
  const auto refuse = [](std::string reason) {
    return RowRefusal{.problem = RowProblem::kWeek, .reason = std::move(reason)};
  };
  const std::uint64_t week = untrusted_week;
  const Circumstances& at = circumstances_;
  if (week + kWeeksBack < at.current_week || week > at.last_week) {
    return refuse(fmt::format("week {} is not one of the {} weeks before {}, nor that one", week,
                              kWeeksBack, at.last_week));
  }
  if (week < at.first_week) {
    return refuse(
        fmt::format("week {} has expired; {} is the first that is kept", week, at.first_week));
  }
  if (week + kWeeksBeforeFirstBatch < at.first_batch_week) {
    return refuse(fmt::format("week {} is more than {} before the agent's first batch, of week {}",
                              week, kWeeksBeforeFirstBatch, at.first_batch_week));
  }
  if (wire::EpochOfWeek(untrusted_week) != at.epoch) {
    return refuse(fmt::format("week {} is not of epoch {}, the batch's", week, at.epoch.value()));
  }
  return std::nullopt;
}

std::optional<RowRefusal> RowCheck::Check(const wire::UntrustedRow& untrusted_row) {
  stats::Bucket& totals = totals_;
  const auto check_key = [this](const stats::ApiKey& key) { return CheckKey(key); };
  if (auto refusal = CheckContent(untrusted_row, check_key, totals)) return refusal;
  if (auto refusal = CheckWeek(untrusted_row.week)) return refusal;
  if (!IsListed(untrusted_row.api.soname)) {
    return RowRefusal{.problem = RowProblem::kModule,
                      .reason = "this service does not collect costs of this module"};
  }
  return CheckPlausible(untrusted_row, totals);
}

void RowCheck::NoteAccepted(const wire::UntrustedRow& row) {
  Sums& taken = SumsOf(row);
  taken.sum += row_.sum;
  taken.count += row_.count;
}

}  // namespace fieldcost::ingest
