#include "aggregator/ingest/address_share.h"

#include <algorithm>

#include "aggregator/ingest/ingest_limits.h"

namespace fieldcost::ingest {

double AddressShare::LeftOf(const Taken& taken, WallTime now) const {
  const auto passed = std::chrono::duration<double>(std::max(now, taken.at) - taken.at);
  return std::max(
      0.0, taken.bytes - static_cast<double>(bytes_per_day_) * (passed / std::chrono::days(1)));
}

bool AddressShare::HasRoom(std::string_view address, WallTime now) const {
  if (bytes_per_day_ == 0) return true;
  const auto network = http::NetworkOf(address);
  if (!network) return true;
  const MutexLock lock(mutex_);
  const auto place = taken_.find(*network);
  return place == taken_.end() || LeftOf(place->second, now) < static_cast<double>(bytes_per_day_);
}

void AddressShare::Take(std::string_view address, std::uint64_t bytes, WallTime now) {
  if (bytes_per_day_ == 0) return;
  const auto network = http::NetworkOf(address);
  if (!network) return;
  const MutexLock lock(mutex_);
  if (taken_.size() >= kMaxCountedAddresses && !taken_.contains(*network)) {
    std::erase_if(taken_, [&](const auto& entry) { return LeftOf(entry.second, now) <= 0; });
    if (taken_.size() >= kMaxCountedAddresses) return;
  }
  Taken& taken = taken_[*network];
  taken = {.bytes = LeftOf(taken, now) + static_cast<double>(bytes), .at = std::max(now, taken.at)};
}

}  // namespace fieldcost::ingest
