#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/ingest/ingest_limits.h"
#include "common/base/result.h"
#include "common/wire/batch.h"
#include "common/wire/epoch.h"

namespace fieldcost::ingest {

// Why a row was refused; each has a counter.
enum class RowProblem {
  kMalformed,      // not a row, or not a valid API key
  kUnknownMetric,  // perhaps from a newer agent
  kWeek,           // outside the accepted weeks, or expired
  kModule,         // not one of the accepted modules
  // Possible for honest agents, after an upgrade of the machine or a lost contribution:
  kClass,               // its agent named another hardware class before
  kNeverContributed,    // adds to a key to which its agent has not contributed
  kTooManyContributed,  // exceeds the limit for an agent of its age
  kNoRoom,              // exceeds its share of the stored row's remaining room
  // Never sent by honest agents:
  kImpossible,   // sums that no values can have
  kImplausible,  // more than a machine can do
  kDuplicate,    // the batch already has the row
  kContributed,  // claims a first contribution again
};
inline constexpr std::size_t kRowProblems = 12;

constexpr bool IsDishonest(RowProblem problem) { return problem >= RowProblem::kImpossible; }

struct RowRefusal {
  RowProblem problem = RowProblem::kMalformed;
  std::string reason;  // sent to the agent
};

// Performs the checks that depend neither on the time nor on the operator's settings; a row that
// was accepted once always passes them.
Status CheckRowContent(const wire::UntrustedRow& untrusted_row);

// Whether a row with these totals is so large that it needs SumsFit().
bool IsLarge(const stats::Bucket& totals);
// Whether the row may be added to a stored one without risking an overflow, however many rows
// follow; ingest_limits.h has the proof.
bool SumsFit(const stats::Bucket& totals, const stats::Bucket& stored);

// Checks a batch's rows one after the other: each by itself, and the sums of those accepted so far
// against what one machine can do in a week. Not thread-safe.
class RowCheck {
 public:
  struct Circumstances {
    std::uint32_t current_week = 0;
    std::uint32_t last_week = 0;         // the last accepted week; at most kWeeksAhead later
    std::uint32_t first_week = 0;        // the first week that has not expired
    std::uint32_t first_batch_week = 0;  // the week of the agent's first batch
    wire::Epoch epoch{0};                // the batch's; its rows must be from weeks in it
    std::uint32_t log2_cores = 0;
    const std::vector<std::string>* modules = nullptr;  // see IngestOptions
  };

  void Start(const Circumstances& circumstances);
  // Returns why the row may not be added to the sums; nullopt if it may.
  std::optional<RowRefusal> Check(const wire::UntrustedRow& untrusted_row);
  // The totals of the row checked last, if it may be added.
  const stats::Bucket& totals() const { return totals_; }
  // Counts the row as added. REQUIRES: it is the one that was checked last.
  void NoteAccepted(const wire::UntrustedRow& row);

 private:
  static constexpr std::size_t kWeeks = kWeeksBack + 1 + kWeeksAhead;
  struct Sums {
    stats::Uint128 sum = 0;
    stats::Uint128 count = 0;
  };

  bool IsListed(const std::string& soname);
  // As wire::ValidateApiKey(). Rows of a module are adjacent, so the module is checked once.
  Status CheckKey(const stats::ApiKey& untrusted_key);
  std::optional<RowRefusal> CheckWeek(std::uint32_t untrusted_week) const;
  std::optional<RowRefusal> CheckPlausible(const wire::UntrustedRow& untrusted_row,
                                           const stats::Bucket& totals);
  Sums& SumsOf(const wire::UntrustedRow& row);

  Circumstances circumstances_;
  std::array<std::array<Sums, kWeeks>, shm::kMaxMetric + 1> taken_{};
  Sums row_;              // of the row checked last
  stats::Bucket totals_;  // likewise
  stats::ApiKey module_;  // its soname, package version and build id were checked last
  bool has_module_ = false;
  std::string last_soname_;
  bool last_listed_ = false;
};

}  // namespace fieldcost::ingest
