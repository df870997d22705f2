#include "agent/spool/batcher.h"

#include <algorithm>
#include <limits>

#include "agent/settings/consent.h"
#include "agent/settings/hardware.h"
#include "common/wire/epoch.h"

namespace fieldcost::agent {
namespace {

constexpr int kMaxBatchesAtOnce = 1024;
// Rows carry the week of their harvest and leave within the batch's maximum age or when the
// network returns; a row key older than this will not be pending any more.
constexpr std::uint32_t kContributedWeeks = 26;
constexpr std::uint64_t kContributedBatches = 256;  // kept whatever the clock says

// Leaves the rows of the earliest epoch and returns it. REQUIRES: `pending` is not empty.
std::uint64_t KeepEarliestEpoch(std::vector<PendingRow>& pending) {
  const auto earliest = std::min_element(
      pending.begin(), pending.end(),
      [](const PendingRow& a, const PendingRow& b) { return a.key.week < b.key.week; });
  const std::uint64_t epoch = wire::EpochOfWeek(earliest->key.week).value();
  std::erase_if(pending, [epoch](const PendingRow& row) {
    return wire::EpochOfWeek(row.key.week).value() != epoch;
  });
  return epoch;
}

}  // namespace

std::uint32_t SentFieldPolicyVersion(const AgentConfig& config) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      config.field_policy_version, std::numeric_limits<std::uint32_t>::max()));
}

wire::BatchContent ContentOf(const std::vector<PendingRow>& pending, std::size_t count,
                             std::uint32_t field_policy_version,
                             const stats::HardwareClass& hardware) {
  wire::BatchContent content{
      .field_policy_version = field_policy_version, .hardware = hardware, .rows = {}};
  content.rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    content.rows.push_back({.api = pending[i].key.api,
                            .metric = pending[i].key.metric,
                            .week = pending[i].key.week,
                            .first_contribution = pending[i].first_contribution,
                            .histogram = pending[i].histogram});
  }
  return content;
}

Result<BuiltBatch> BuildBatch(const std::vector<PendingRow>& pending,
                              std::uint32_t field_policy_version,
                              const stats::HardwareClass& hardware, std::size_t max_bytes) {
  std::size_t fits = 1;
  std::size_t passes = pending.size() + 1;
  if (wire::EncodedBatchBytes(ContentOf(pending, pending.size(), field_policy_version, hardware)) <=
      max_bytes) {
    fits = pending.size();
  }
  while (fits + 1 < passes && fits != pending.size()) {
    const std::size_t middle = fits + (passes - fits) / 2;
    const std::size_t bytes =
        wire::EncodedBatchBytes(ContentOf(pending, middle, field_policy_version, hardware));
    (bytes <= max_bytes ? fits : passes) = middle;
  }
  for (;;) {
    BuiltBatch batch{.content = ContentOf(pending, fits, field_policy_version, hardware),
                     .body = {},
                     .rows_used = fits,
                     .epoch = 0};
    auto body = wire::EncodeBatch(batch.content);
    if (body) {
      batch.body = std::move(*body);
      return batch;
    }
    if (body.error().code != ErrorCode::kTooLarge || fits == 1) return body.error();
    fits /= 2;
  }
}

Batcher::Batcher(const AgentPaths& paths, const AgentConfig& config, const Clock& clock,
                 StateDb& database)
    : paths_(&paths),
      config_(&config),
      clock_(&clock),
      database_(&database),
      hardware_(ThisHardware()) {}

Status Batcher::Spool(SpoolWhat what) {
  for (int i = 0; i < kMaxBatchesAtOnce; ++i) {
    FIELDCOST_ASSIGN(const bool more, SpoolOne(what));
    if (!more) break;
  }
  return {};
}

Result<std::uint64_t> Batcher::ChooseEpoch(std::vector<PendingRow>& pending,
                                           stats::HardwareClass& hardware) {
  const std::uint64_t epoch = KeepEarliestEpoch(pending);
  SpoolDb spool(*database_);
  FIELDCOST_ASSIGN(const BatchNumber number, spool.NextNumber(epoch));
  FIELDCOST_ASSIGN(hardware, spool.ClassOf(number.epoch, hardware_));
  if (hardware == hardware_) return epoch;
  // What has been contributed is noted by class.
  FIELDCOST_ASSIGN(pending,
                   database_->PendingRows(stats::DisplayName(hardware), wire::kMaxBatchRows));
  return KeepEarliestEpoch(pending);
}

Result<bool> Batcher::SpoolOne(SpoolWhat what) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, database_->Begin());
  FIELDCOST_ASSIGN(const Consent consent, EffectiveConsent(*paths_));
  if (consent.mode != Mode::kOn) return false;
  FIELDCOST_ASSIGN(std::vector<PendingRow> pending,
                   database_->PendingRows(stats::DisplayName(hardware_), wire::kMaxBatchRows));
  if (pending.empty()) return false;
  const std::uint32_t version = SentFieldPolicyVersion(*config_);
  if (what == SpoolWhat::kFull && pending.size() < wire::kMaxBatchRows &&
      wire::EncodedBatchBytes(ContentOf(pending, pending.size(), version, hardware_)) <
          config_->max_batch_bytes) {
    return false;
  }
  SpoolDb spool(*database_);
  FIELDCOST_ASSIGN(const SpoolTotals totals, spool.Totals());
  if (totals.queued_bytes >= config_->max_spool_bytes) return false;
  stats::HardwareClass hardware;
  FIELDCOST_ASSIGN(const std::uint64_t epoch, ChooseEpoch(pending, hardware));
  FIELDCOST_ASSIGN(const BuiltBatch batch,
                   BuildBatch(pending, version, hardware, config_->max_batch_bytes));
  if (totals.queued > 0 && totals.queued_bytes + batch.body.size() > config_->max_spool_bytes) {
    return false;
  }
  const WallTime now = clock_->Now();
  FIELDCOST_ASSIGN(const BatchNumber number, spool.NextNumber(epoch));
  FIELDCOST_TRY(spool.PinClass(number.epoch, hardware));
  FIELDCOST_ASSIGN(const std::uint64_t id, spool.Add(batch.body, batch.rows_used, epoch, now));
  for (std::size_t i = 0; i < batch.rows_used; ++i) {
    FIELDCOST_TRY(database_->RemovePending(pending[i].key));
    FIELDCOST_TRY(database_->AddContributed(pending[i].key, stats::DisplayName(hardware), id));
  }
  const std::uint32_t week = WeekOf(now);
  if (week > kContributedWeeks && id > kContributedBatches) {
    FIELDCOST_TRY(database_->PruneContributed(week - kContributedWeeks, id - kContributedBatches));
  }
  FIELDCOST_TRY(transaction.Commit());
  return true;
}

Result<std::optional<BuiltBatch>> Batcher::Preview() {
  FIELDCOST_ASSIGN(std::vector<PendingRow> pending,
                   database_->PendingRows(stats::DisplayName(hardware_), wire::kMaxBatchRows));
  if (pending.empty()) return std::optional<BuiltBatch>();
  stats::HardwareClass hardware;
  FIELDCOST_ASSIGN(const std::uint64_t epoch, ChooseEpoch(pending, hardware));
  FIELDCOST_ASSIGN(BuiltBatch batch, BuildBatch(pending, SentFieldPolicyVersion(*config_), hardware,
                                                config_->max_batch_bytes));
  batch.epoch = epoch;
  return std::optional<BuiltBatch>(std::move(batch));
}

}  // namespace fieldcost::agent
