#include "aggregator/store/store_state.h"

namespace fieldcost::store {

StoreGauges Store::Gauges() const {
  StoreGauges gauges;
  gauges.sequence = state_->last_number;
  gauges.checkpoints = state_->checkpoints;
  gauges.checkpoint_microseconds = state_->checkpoint_microseconds;
  gauges.stored_bytes = state_->database->EstimatedBytes();
  gauges.held_batches = state_->held_batches;
  gauges.held_bytes = state_->held_bytes;
  const std::lock_guard lock(state_->table_mutex);
  gauges.dirty_rows = state_->dirty.row_count() + state_->frozen.row_count();
  gauges.dirty_bytes = state_->dirty.memory_bytes() + state_->frozen.memory_bytes();
  return gauges;
}

}  // namespace fieldcost::store
