// Makes checkpoints on request, and reads rows as of one moment: the part of Store about rows.
#include <utility>

#include "aggregator/store/published_reader.h"
#include "aggregator/store/store_state.h"
#include "common/base/check.h"

namespace fieldcost::store {

Status Store::Checkpoint() { return state_->sums.CheckpointAndFlush(); }

Store::Snapshot::Snapshot(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Snapshot::Snapshot(Snapshot&&) noexcept = default;
Store::Snapshot& Store::Snapshot::operator=(Snapshot&&) noexcept = default;
Store::Snapshot::~Snapshot() = default;
std::uint64_t Store::Snapshot::sequence() const { return state_->sequence; }
const Totals& Store::Snapshot::totals() const { return state_->totals; }
std::uint32_t Store::Snapshot::first_week() const { return state_->first_week; }

PublishedReader Store::Snapshot::ReadPublished(const RowRange& range) const {
  return {*state_->database, state_->view, state_->sequence, range.begin, range.end};
}

Status Store::Snapshot::ForEach(const Visitor& visit, const RowRange& range) const {
  stats::RowKey key;
  CompactRow row;
  return state_->database->ForEach(
      Table::kRows, range.begin, state_->view.get(),
      [&](std::string_view key_bytes, std::string_view value) -> Status {
        FIELDCOST_TRY(DecodeRowKey(key_bytes, key));
        FIELDCOST_TRY(DecodeRowValue(value, row));
        return visit(key, row);
      },
      range.end);
}

std::vector<Store::Snapshot::RowRange> Store::Snapshot::Split(std::size_t parts) const {
  FIELDCOST_CHECK(parts > 0);
  std::vector<RowRange> ranges(1);
  for (const std::string& key : state_->database->Cuts(Table::kRows, parts)) {
    // Cut before the first row of the API, so that its rows stay together.
    std::string api(key.substr(0, SizeOfApi(key)));
    if (api <= ranges.back().begin) continue;
    ranges.back().end = api;
    ranges.push_back({.begin = std::move(api), .end = {}});
  }
  return ranges;
}

Result<Store::Snapshot> Store::TakeSnapshot() {
  FIELDCOST_ASSIGN(StoredSums::Moment moment, state_->sums.Snapshot());
  auto snapshot = std::make_unique<Snapshot::State>();
  snapshot->database = state_->database.get();
  snapshot->view = std::move(moment.view);
  snapshot->sequence = moment.number;
  snapshot->totals = moment.totals;
  FIELDCOST_ASSIGN(snapshot->first_week,
                   ExpiryBounds::FirstWeekIn(*state_->database, snapshot->view.get()));
  return Snapshot(std::move(snapshot));
}

}  // namespace fieldcost::store
