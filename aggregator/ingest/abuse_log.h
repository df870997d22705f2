#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "aggregator/ingest/abuse_names.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace fieldcost::ingest {

// Kinds of misbehaviour of an agent that has signed its request. The numbers are internal to the
// process.
enum class Abuse {
  kImplausibleRows,
  kContributedBefore,
  kOtherClass,
  kTooManyBatches,
  kTooManyRows,
  kOtherBody,
  kMalformedBatch,
  kWrongEpoch,
  kForeignReceipt,
  kRevoked,
  kInconsistentRow,  // contributed to a row with impossible sums
  kCrowding,         // contributed to most of the rows that did not fit into a fragment
};
std::string_view Name(Abuse abuse);

// Logs misbehaving agents for the operator, under a name of the day (abuse_names.h): each kind and
// agent at most once an hour, and at most kMaxAbuseEvents events an hour in total; the rest is
// counted. Thread-safe.
class AbuseLog {
 public:
  explicit AbuseLog(AbuseNames names) : names_(std::move(names)) {}

  void Note(Abuse abuse, std::string_view agent_id, WallTime now);

  // Resolves the names of the last days.
  AbuseNames::Reader NamesAt(WallTime now);

 private:
  // Starts a new hour. Logs how many events the last hour dropped.
  void BeginHour(WallTime now) FIELDCOST_REQUIRES(mutex_);

  Mutex mutex_;
  AbuseNames names_ FIELDCOST_GUARDED_BY(mutex_);
  std::int64_t hour_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  std::set<std::pair<Abuse, std::string>> seen_ FIELDCOST_GUARDED_BY(mutex_);  // in this hour
  std::uint64_t dropped_ FIELDCOST_GUARDED_BY(mutex_) = 0;
};

}  // namespace fieldcost::ingest
