#include "aggregator/ingest/abuse_log.h"

#include "aggregator/ingest/limits.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/crypto/random.h"
#include "common/crypto/sha256.h"

namespace fieldcost::ingest {
namespace {

constexpr std::size_t kNameBytes = 8;  // enough to tell a day's agents apart

}  // namespace

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
  }
  return "unknown";
}

AbuseLog::AbuseLog() : secret_(crypto::RandomBytes(kSecretBytes)) {}

void AbuseLog::Turn(WallTime now) {
  const std::int64_t hour = std::chrono::floor<std::chrono::hours>(now).time_since_epoch().count();
  const std::int64_t day = std::chrono::floor<std::chrono::days>(now).time_since_epoch().count();
  if (hour == hour_) return;
  if (dropped_ != 0) LogEvent(LogLevel::kWarning, "abuse_not_logged", {{"events", dropped_}});
  hour_ = hour;
  dropped_ = 0;
  seen_.clear();
  if (day != day_) secret_ = crypto::RandomBytes(kSecretBytes);
  day_ = day;
}

void AbuseLog::Note(Abuse abuse, std::string_view agent_id, WallTime now) {
  const std::lock_guard lock(mutex_);
  Turn(now);
  const std::string hash = crypto::HmacSha256(secret_, agent_id);
  const std::string name =
      HexEncode({reinterpret_cast<const std::uint8_t*>(hash.data()), kNameBytes});
  const auto place = seen_.find({abuse, name});
  if (place != seen_.end() || seen_.size() >= kMaxAbuseEvents) {
    ++dropped_;
    return;
  }
  seen_.insert({abuse, name});
  LogEvent(LogLevel::kWarning, "abuse", {{"kind", Name(abuse)}, {"agent", name}});
}

}  // namespace fieldcost::ingest
