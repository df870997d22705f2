#include "tools/cli/costs/own_contribution.h"

#include <map>

namespace fieldcost::cli {
namespace {

void Add(const wire::BatchContent& batch, stats::Metric metric,
         std::map<stats::RowKey, stats::StatRow>& rows) {
  for (const wire::BatchRow& sent : batch.rows) {
    if (sent.metric != metric) continue;
    const stats::RowKey key{
        .api = sent.api, .metric = metric, .hardware = batch.hardware, .week = sent.week};
    stats::StatRow& row = rows.try_emplace(key, stats::StatRow{.key = key}).first->second;
    row.histogram.Merge(sent.histogram);
    if (!sent.first_contribution) continue;
    row.scalars.Merge(stats::ScalarsOf(sent.histogram));
    row.weights.Merge(stats::WeightsOf(sent.histogram));
  }
}

}  // namespace

Result<OwnContribution> ReadOwnContribution(const volunteer::Agent& agent, stats::Metric metric,
                                            WallTime published) {
  FIELDCOST_ASSIGN(const std::vector<spool::LoggedBatch> log, agent.Log());
  OwnContribution own;
  std::map<stats::RowKey, stats::StatRow> rows;
  for (const spool::LoggedBatch& batch : log) {
    if (batch.state != spool::SpoolState::kSent || batch.sent > published) continue;
    const Result<volunteer::BatchDetails> sent =
        batch.rejected_rows == 0
            ? agent.ReadBatch(batch.id)
            : Fail(ErrorCode::kNotFound, "{} rows were refused", batch.rejected_rows);
    if (sent) {
      Add(sent->content, metric, rows);
    } else if (sent.error().code == ErrorCode::kNotFound) {
      ++own.batches_unknown;
    } else {
      return sent.error();
    }
  }
  own.rows.reserve(rows.size());
  for (auto& [key, row] : rows) own.rows.push_back(std::move(row));
  return own;
}

}  // namespace fieldcost::cli
