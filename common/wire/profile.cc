// A profile has the bytes of a fragment (fragment.cc). Its rows are all of one hardware class and
// of week 0, of one contribution each, with the scalars of their histograms and without weights,
// bounded sums and fullest quarter; there are at most 32,768.
#include "common/wire/profile.h"

#include <map>
#include <utility>

#include "common/wire/batch.h"
#include "common/wire/fragment.h"

namespace fieldcost::wire {
namespace {

using stats::StatRow;

// Checks what a profile's rows must be beyond a fragment's.
Status CheckProfile(const std::vector<StatRow>& rows) {
  for (const StatRow& row : rows) {
    const std::string name = stats::DisplayName(row.key.api);
    FIELDCOST_TRY(ValidateHardwareClass(row.key.hardware));
    if (row.key.hardware != rows.front().key.hardware) {
      return Fail(ErrorCode::kCorrupt, "{}: measured on two kinds of machines", name);
    }
    if (row.key.week != 0) return Fail(ErrorCode::kCorrupt, "{}: a row of a single week", name);
    if (row.histogram.empty()) return Fail(ErrorCode::kCorrupt, "{}: a row without calls", name);
    if (row.scalars != stats::ScalarsOf(row.histogram) || row.weights != stats::AgentWeights{} ||
        row.bounded != stats::BoundedSums{} || row.fullest_quarter != stats::QuarterScalars{}) {
      return Fail(ErrorCode::kCorrupt, "{}: not the sums of one machine", name);
    }
  }
  return {};
}

Result<std::vector<StatRow>> DecodeProfileRows(std::string_view untrusted_bytes) {
  FIELDCOST_ASSIGN(std::vector<StatRow> rows, DecodeFragment(untrusted_bytes, kMaxProfileRows));
  FIELDCOST_TRY(CheckProfile(rows));
  return rows;
}

}  // namespace

std::vector<StatRow> ProfileRows(const std::vector<StatRow>& rows) {
  std::map<stats::RowKey, stats::CostHistogram> sums;
  for (const StatRow& row : rows) {
    if (row.histogram.empty()) continue;
    stats::RowKey key = row.key;
    key.week = 0;
    sums[std::move(key)].Merge(row.histogram);
  }
  std::vector<StatRow> profile;
  profile.reserve(sums.size());
  for (const auto& [key, histogram] : sums) {
    profile.push_back({.key = key, .histogram = histogram, .scalars = stats::ScalarsOf(histogram)});
  }
  return profile;
}

Result<std::string> EncodeProfile(const std::vector<StatRow>& rows) {
  constexpr std::string_view kContext = "encoding a profile";
  const std::vector<StatRow> profile = ProfileRows(rows);
  if (profile.size() > kMaxProfileRows) {
    return Fail(ErrorCode::kTooLarge, "{}: {} rows, at most {} are accepted", kContext,
                profile.size(), kMaxProfileRows);
  }
  if (const Status status = CheckProfile(profile); !status) {
    return Within(Fail(ErrorCode::kInvalidArgument, "{}", status.error().message), kContext);
  }
  return EncodeFragment(profile);
}

Result<std::vector<StatRow>> DecodeProfile(std::string_view untrusted_bytes) {
  Result<std::vector<StatRow>> rows = DecodeProfileRows(untrusted_bytes);
  if (!rows) return Within(std::move(rows).error(), "reading a profile");
  return rows;
}

}  // namespace fieldcost::wire
