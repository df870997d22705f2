#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/clock.h"

namespace fieldcost::ingest {

// What an agent that has signed its request did. Numbers are nowhere outside the process.
enum class Abuse {
  kImplausibleRows,
  kContributedBefore,
  kOtherClass,
  kTooManyBatches,
  kOtherBody,
  kMalformedBatch,
  kWrongEpoch,
  kForeignReceipt,
  kRevoked,
};
std::string_view Name(Abuse abuse);

// Tells the operator that somebody misbehaves, not who: an agent is named by a keyed hash of its id
// under a secret that is only in memory and new every day (and at every start), so what is logged
// of two days cannot be linked, nor with the store. Each kind and agent at most once an hour, and
// at most kMaxAbuseEvents events in an hour altogether; the rest is counted. Thread-safe.
class AbuseLog {
 public:
  AbuseLog();

  void Note(Abuse abuse, std::string_view agent_id, WallTime now);

 private:
  // Starts a new hour, and day. Logs how many events the last hour dropped.
  void Turn(WallTime now);

  std::mutex mutex_;
  std::string secret_;
  std::int64_t day_ = 0;
  std::int64_t hour_ = 0;
  std::set<std::pair<Abuse, std::string>> seen_;  // in this hour
  std::uint64_t dropped_ = 0;
};

}  // namespace fieldcost::ingest
