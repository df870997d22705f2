#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/http/address_limits.h"

namespace fieldcost::ingest {

// Tracks how much of the room for new agents' batches each client address has taken recently (an
// IPv6 /64 counts as one address). Each address has a daily share, which is restored evenly over a
// day.
//
// Addresses are kept in memory only, and never written or logged. Memory is bounded: while
// kMaxCountedAddresses have used part of their share, further ones are not counted. Thread-safe.
class AddressShare {
 public:
  explicit AddressShare(std::uint64_t bytes_per_day) : bytes_per_day_(bytes_per_day) {}  // 0 = all

  // Whether the address has not used up its share. Always true for a text that is not an address.
  bool HasRoom(std::string_view address, WallTime now) const;
  void Take(std::string_view address, std::uint64_t bytes, WallTime now);

 private:
  struct Taken {
    double bytes = 0;
    WallTime at;
  };
  double LeftOf(const Taken& taken, WallTime now) const;

  const std::uint64_t bytes_per_day_;
  mutable Mutex mutex_;
  // Ordered, so that no keys collide.
  std::map<http::ClientNetwork, Taken> taken_ FIELDCOST_GUARDED_BY(mutex_);
};

}  // namespace fieldcost::ingest
