#include "aggregator/ingest/abuse_log.h"

#include "aggregator/ingest/ingest_limits.h"
#include "common/base/log.h"

namespace fieldcost::ingest {
std::string_view Name(Abuse abuse) {
  switch (abuse) {
    case Abuse::kImplausibleRows:
      return "implausible_rows";
    case Abuse::kContributedBefore:
      return "contributed_before";
    case Abuse::kOtherClass:
      return "other_class";
    case Abuse::kTooManyBatches:
      return "too_many_batches";
    case Abuse::kTooManyRows:
      return "too_many_rows";
    case Abuse::kOtherBody:
      return "other_body";
    case Abuse::kMalformedBatch:
      return "malformed_batch";
    case Abuse::kWrongEpoch:
      return "wrong_epoch";
    case Abuse::kForeignReceipt:
      return "foreign_receipt";
    case Abuse::kRevoked:
      return "revoked";
    case Abuse::kInconsistentRow:
      return "inconsistent_row";
    case Abuse::kCrowding:
      return "crowding";
  }
  return "unknown";
}

void AbuseLog::BeginHour(WallTime now) {
  const std::int64_t hour = std::chrono::floor<std::chrono::hours>(now).time_since_epoch().count();
  if (hour == hour_) return;
  if (dropped_ != 0) LogEvent(LogLevel::kWarning, "abuse_not_logged", {{"events", dropped_}});
  hour_ = hour;
  dropped_ = 0;
  seen_.clear();
}

void AbuseLog::Note(Abuse abuse, std::string_view agent_id, WallTime now) {
  const MutexLock lock(mutex_);
  BeginHour(now);
  const std::string name = names_.NameOf(agent_id, now);
  const auto place = seen_.find({abuse, name});
  if (place != seen_.end() || seen_.size() >= kMaxAbuseEvents) {
    ++dropped_;
    return;
  }
  seen_.insert({abuse, name});
  LogEvent(LogLevel::kWarning, "abuse", {{"kind", Name(abuse)}, {"agent", name}});
}

AbuseNames::Reader AbuseLog::NamesAt(WallTime now) {
  const MutexLock lock(mutex_);
  return names_.ReaderAt(now);
}

}  // namespace fieldcost::ingest
