// Counts the contents of a store: the part of Store for metrics.
#include <sys/stat.h>

#include "aggregator/store/store_state.h"

namespace fieldcost::store {

StoreGauges Store::Gauges() const {
  StoreGauges gauges;
  gauges.damages = state_->database->damages();
  gauges.kept_bytes = state_->database->EstimatedBytes(Table::kBatches);
  state_->sums.AddTo(gauges);
  state_->held.AddTo(gauges);
  return gauges;
}

std::uint64_t Store::StoredBytes() const {
  constexpr std::uint64_t kStatBlockBytes = 512;  // the unit of st_blocks on any file system
  std::uint64_t sum = 0;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(state_->options.data_dir / "store", error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    struct stat info {};
    // The engine may have removed it meanwhile.
    if (::lstat(it->path().c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      sum += static_cast<std::uint64_t>(info.st_blocks) * kStatBlockBytes;
    }
  }
  return sum;
}

}  // namespace fieldcost::store
