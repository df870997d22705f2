#include "aggregator/store/write_failure.h"

#include <utility>

#include "common/base/log.h"

namespace fieldcost::store {

Error WriteFailure::Record(const Error& cause) {
  if (!happened_.exchange(true)) {
    LogError("the store has failed and accepts no more: {}", cause.message);
  }
  if (wake_) wake_();
  return Error{ErrorCode::kIo, cause.message};
}

void WriteFailure::WakeBy(std::function<void()> wake) { wake_ = std::move(wake); }

}  // namespace fieldcost::store
