#include "agent/spool/batcher.h"

#include <algorithm>
#include <limits>

#include "agent/settings/consent.h"
#include "agent/settings/hardware.h"
#include "common/base/check.h"
#include "common/wire/epoch.h"

namespace fieldcost::spool {
namespace {

constexpr int kMaxBatchesMadeAtOnce = 1024;
// Rows carry the week of their harvest and leave within the batch's maximum age or when the network
// returns, so no pending row has an older key than this.
constexpr std::uint32_t kContributedWeeks = 26;
constexpr std::uint64_t kContributedBatches = 256;  // kept regardless of the clock

wire::Epoch EpochOf(const wire::BatchRow& row) { return wire::EpochOfWeek(row.week); }

// Keeps only the rows of the earliest epoch. REQUIRES: there are rows.
void KeepEarliestEpoch(std::vector<wire::BatchRow>& rows) {
  FIELDCOST_CHECK(!rows.empty());
  wire::Epoch epoch = EpochOf(rows.front());
  for (const wire::BatchRow& row : rows) epoch = std::min(epoch, EpochOf(row));
  std::erase_if(rows, [epoch](const wire::BatchRow& row) { return EpochOf(row) != epoch; });
}

}  // namespace

std::uint32_t SentFieldPolicyVersion(const settings::AgentConfig& config) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(
      config.field_policy_version, std::numeric_limits<std::uint32_t>::max()));
}

Result<BuiltBatch> BuildBatch(wire::BatchContent content, std::size_t max_bytes) {
  FIELDCOST_CHECK(!content.rows.empty());
  content.rows.resize(wire::RowsThatFit(content, max_bytes));
  // RowsThatFit() estimates: most batches fit at once, the others are halved until they do.
  for (;;) {
    auto body = wire::EncodeBatch(content);
    if (body) return BuiltBatch{.content = std::move(content), .body = std::move(*body)};
    if (body.error().code != ErrorCode::kTooLarge || content.rows.size() == 1) return body.error();
    content.rows.resize(content.rows.size() / 2);
  }
}

Batcher::Batcher(const settings::AgentPaths& paths, const settings::AgentConfig& config,
                 const Clock& clock, StateDb& database)
    : paths_(&paths),
      config_(&config),
      clock_(&clock),
      database_(&database),
      hardware_(settings::ThisHardware()) {}

Status Batcher::Spool(SpoolWhat what) {
  for (int i = 0; i < kMaxBatchesMadeAtOnce; ++i) {
    FIELDCOST_ASSIGN(const bool more, SpoolOne(what));
    if (!more) break;
  }
  return {};
}

Result<wire::BatchContent> Batcher::PendingContent() {
  FIELDCOST_ASSIGN(std::vector<wire::BatchRow> rows,
                   database_->PendingRows(stats::DisplayName(hardware_), wire::kMaxBatchRows));
  return wire::BatchContent{.field_policy_version = SentFieldPolicyVersion(*config_),
                            .hardware = hardware_,
                            .rows = std::move(rows)};
}

Status Batcher::ChooseEpoch(wire::BatchContent& content) {
  KeepEarliestEpoch(content.rows);
  SpoolDb spool(*database_);
  FIELDCOST_ASSIGN(const BatchNumber number, spool.NextNumber(EpochOf(content.rows.front())));
  FIELDCOST_ASSIGN(content.hardware, spool.ClassOf(number.epoch, hardware_));
  if (content.hardware == hardware_) return {};
  // Contributions are recorded per hardware class, so the rows depend on it.
  FIELDCOST_ASSIGN(content.rows, database_->PendingRows(stats::DisplayName(content.hardware),
                                                        wire::kMaxBatchRows));
  KeepEarliestEpoch(content.rows);
  return {};
}

Result<bool> Batcher::SpoolOne(SpoolWhat what) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, database_->Begin());
  FIELDCOST_ASSIGN(const settings::Consent consent, settings::EffectiveConsent(*paths_));
  if (consent.mode != settings::Mode::kOn) return false;
  FIELDCOST_ASSIGN(wire::BatchContent pending, PendingContent());
  if (pending.rows.empty()) return false;
  if (what == SpoolWhat::kFull && pending.rows.size() < wire::kMaxBatchRows &&
      wire::EncodedBatchBytes(pending) < config_->max_batch_bytes) {
    return false;
  }
  SpoolDb spool(*database_);
  FIELDCOST_ASSIGN(const SpoolTotals totals, spool.Totals());
  if (totals.queued_bytes >= config_->max_spool_bytes) return false;
  FIELDCOST_TRY(ChooseEpoch(pending));
  FIELDCOST_ASSIGN(const BuiltBatch batch,
                   BuildBatch(std::move(pending), config_->max_batch_bytes));
  if (totals.queued > 0 && totals.queued_bytes + batch.body.size() > config_->max_spool_bytes) {
    return false;
  }
  const std::vector<wire::BatchRow>& rows = batch.content.rows;
  const stats::HardwareClass& hardware = batch.content.hardware;
  const WallTime now = clock_->Now();
  const wire::Epoch epoch = EpochOf(rows.front());
  FIELDCOST_ASSIGN(const BatchNumber number, spool.NextNumber(epoch));
  FIELDCOST_TRY(spool.PinClass(number.epoch, hardware));
  FIELDCOST_ASSIGN(const std::uint64_t id, spool.Add(batch.body, rows.size(), epoch, now));
  for (const wire::BatchRow& row : rows) {
    const LocalKey key{.api = row.api, .metric = row.metric, .week = row.week};
    FIELDCOST_TRY(database_->RemovePending(key));
    FIELDCOST_TRY(database_->AddContributed(key, stats::DisplayName(hardware), id));
  }
  const std::uint32_t week = WeekOf(now);
  if (week > kContributedWeeks && id > kContributedBatches) {
    FIELDCOST_TRY(database_->PruneContributed(week - kContributedWeeks, id - kContributedBatches));
  }
  FIELDCOST_TRY(transaction.Commit());
  return true;
}

Result<std::optional<BuiltBatch>> Batcher::Preview() {
  FIELDCOST_ASSIGN(wire::BatchContent pending, PendingContent());
  if (pending.rows.empty()) return std::optional<BuiltBatch>();
  FIELDCOST_TRY(ChooseEpoch(pending));
  FIELDCOST_ASSIGN(BuiltBatch batch, BuildBatch(std::move(pending), config_->max_batch_bytes));
  return std::optional<BuiltBatch>(std::move(batch));
}

}  // namespace fieldcost::spool
