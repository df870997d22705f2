// Rewrites all files, so that they contain nothing that was removed: Store::Compact().
#include "aggregator/store/store_state.h"

namespace fieldcost::store {

Status Store::Compact(const Progress& progress) {
  FIELDCOST_TRY(Checkpoint());
  for (int table = 0; table < kTables; ++table) {
    if (progress) progress(table, kTables);
    FIELDCOST_TRY(state_->database->Compact(static_cast<Table>(table)));
  }
  if (progress) progress(kTables, kTables);
  return {};
}

}  // namespace fieldcost::store
