#include "aggregator/store/store_state.h"

namespace fieldcost::store {

StoreGauges Store::Gauges() const {
  StoreGauges gauges;
  gauges.sequence = state_->last_number;
  gauges.checkpoints = state_->checkpoints;
  gauges.checkpoint_microseconds = state_->checkpoint_microseconds;
  gauges.stored_bytes = state_->database->EstimatedBytes();
  gauges.kept_bytes = state_->database->EstimatedBytes(Table::kBatches);
  gauges.held_batches = state_->held.batches();
  gauges.held_bytes = state_->held.bytes();
  gauges.held_room_bytes = state_->options.held_bytes;
  gauges.honest_held_bytes = state_->held.honest_bytes();
  gauges.evicted_batches = state_->evicted_batches;
  const std::lock_guard lock(state_->table_mutex);
  gauges.dirty_rows = state_->dirty.row_count() + state_->frozen.row_count();
  gauges.dirty_bytes = state_->dirty.memory_bytes() + state_->frozen.memory_bytes();
  return gauges;
}

}  // namespace fieldcost::store
