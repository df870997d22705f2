// The file with the oldest known secret:
//
//   file := line " " first 8 bytes of SHA-256(line) in hex "\n"
//   line := "fieldcost-abuse-names 1 " day " " secret in hex    ; day since 1970-01-01 UTC, decimal
#include "aggregator/ingest/abuse_names.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "aggregator/ingest/ingest_limits.h"
#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/crypto/random.h"
#include "common/crypto/sha256.h"

namespace fieldcost::ingest {
namespace {

constexpr std::size_t kNameBytes = 8;  // enough to distinguish the agents of a day
constexpr std::string_view kFirstWords = "fieldcost-abuse-names 1 ";
constexpr std::size_t kMaxFileBytes = 256;
// A larger jump counts as a wrong clock, and earlier names are dropped.
constexpr std::int64_t kMaxDaysAhead = 100'000;

std::int64_t DayOf(WallTime now) {
  return std::chrono::floor<std::chrono::days>(now).time_since_epoch().count();
}

// The part of the file after the line.
std::string CheckOf(std::string_view line) {
  constexpr std::size_t kCheckBytes = 8;
  return fmt::format(" {}\n", HexEncode(crypto::Sha256(line).substr(0, kCheckBytes)));
}

std::string NameUnder(std::string_view secret, std::string_view agent_id) {
  return HexEncode(crypto::HmacSha256(secret, agent_id).substr(0, kNameBytes));
}

}  // namespace

AbuseNames AbuseNames::InMemory(WallTime now) {
  AbuseNames names;
  names.oldest_day_ = DayOf(now) - kDaysNamesAreKnown;
  names.oldest_secret_ = crypto::RandomBytes(kSecretBytes);
  names.day_ = DayOf(now);
  names.secret_ = names.SecretOf(names.day_);
  return names;
}

Result<AbuseNames> AbuseNames::LoadOrCreate(const std::filesystem::path& path, WallTime now) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (error) return ErrnoError("look for", path, error.value());
    AbuseNames names = InMemory(now);
    names.path_ = path;
    names.Write();
    return names;
  }
  FIELDCOST_ASSIGN(AbuseNames names, Load(path));
  names.AdvanceTo(DayOf(now));
  return names;
}

Status AbuseNames::CheckFile(const std::filesystem::path& path) {
  const auto names = Load(path);
  return names ? Status() : Status(names.error());
}

Result<AbuseNames> AbuseNames::Load(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(const std::string text, ReadFile(path, kMaxFileBytes));
  AbuseNames names;
  names.path_ = path;
  std::string_view rest = text;
  std::optional<std::string> secret;
  const std::size_t line = std::min(rest.rfind(' '), rest.size());
  if (rest.starts_with(kFirstWords) && rest.substr(line) == CheckOf(rest.substr(0, line))) {
    rest = rest.substr(kFirstWords.size(), line - kFirstWords.size());
    const auto [end, failed] =
        std::from_chars(rest.data(), rest.data() + rest.size(), names.oldest_day_);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (failed == std::errc() && rest.starts_with(' ')) {
      if (auto decoded = HexDecode(rest.substr(1))) secret = std::move(*decoded);
    }
  }
  if (!secret || secret->size() != kSecretBytes) {
    return Fail(ErrorCode::kCorrupt, "{} does not hold a day, a secret and their check",
                path.string());
  }
  names.oldest_secret_ = std::move(*secret);
  names.day_ = names.oldest_day_;
  names.secret_ = names.oldest_secret_;
  return names;
}

void AbuseNames::Write() const {
  if (path_.empty()) return;
  const std::string line =
      fmt::format("{}{} {}", kFirstWords, oldest_day_, HexEncode(oldest_secret_));
  const Status status = WriteFileAtomically(path_, line + CheckOf(line), 0600);
  if (!status) {
    LogEvent(LogLevel::kError, "old names of the abuse log have not been deleted yet",
             {{"error", status.error().message}});
  }
}

std::string AbuseNames::SecretOf(std::int64_t day) const {
  std::string secret = oldest_secret_;
  for (std::int64_t i = oldest_day_; i < day; ++i) secret = crypto::Sha256(secret);
  return secret;
}

void AbuseNames::AdvanceTo(std::int64_t day) {
  if (day == day_) return;
  const std::int64_t oldest = day - kDaysNamesAreKnown;
  if (day < oldest_day_ || oldest - oldest_day_ > kMaxDaysAhead) {
    oldest_secret_ = crypto::RandomBytes(kSecretBytes);
    oldest_day_ = oldest;
    Write();
  } else if (oldest > oldest_day_) {
    oldest_secret_ = SecretOf(oldest);
    oldest_day_ = oldest;
    Write();
  }
  day_ = day;
  secret_ = SecretOf(day);
}

std::string AbuseNames::NameOf(std::string_view agent_id, WallTime now) {
  AdvanceTo(DayOf(now));
  return NameUnder(secret_, agent_id);
}

bool AbuseNames::IsName(std::string_view untrusted_text) {
  return untrusted_text.size() == 2 * kNameBytes && AreAll(untrusted_text, IsLowerHexDigit);
}

AbuseNames::Reader AbuseNames::ReaderAt(WallTime now) {
  AdvanceTo(DayOf(now));
  Reader reader;
  reader.secrets_.push_back(oldest_secret_);
  for (std::int64_t day = oldest_day_; day < day_; ++day) {
    reader.secrets_.push_back(crypto::Sha256(reader.secrets_.back()));
  }
  return reader;
}

bool AbuseNames::Reader::IsNamed(std::string_view agent_id, std::string_view name) const {
  return std::any_of(secrets_.begin(), secrets_.end(), [&](const std::string& secret) {
    return NameUnder(secret, agent_id) == name;
  });
}

}  // namespace fieldcost::ingest
