// The consent file: mode " " time "\n". The mode is off, local or on; the time is when the decision
// was made, in RFC 3339, UTC, with microseconds ("2000-01-31T12:00:00.000000Z").
#include "agent/settings/consent.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <optional>

#include "agent/settings/pause.h"
#include "agent/settings/system_policy.h"
#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::settings {
namespace {

constexpr std::size_t kMaxConsentFileBytes = 256;
constexpr std::size_t kMaxFractionDigits = 6;

constexpr std::array<std::pair<Mode, std::string_view>, 3> kModes = {
    {{Mode::kOff, "off"}, {Mode::kLocal, "local"}, {Mode::kOn, "on"}}};

// RFC 3339 §5.6 in UTC ("Z"), always with six digits of microseconds.
std::string FormatTime(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<WallTime::duration> clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::optional<unsigned> Digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  const auto number = ParseUint64(text.substr(at, count));
  if (!number) return std::nullopt;
  return static_cast<unsigned>(*number);
}

std::optional<WallTime> ParseTime(std::string_view untrusted_text) {
  const std::string_view text = untrusted_text;
  constexpr std::size_t kSecondsEnd = sizeof("2000-01-01T00:00:00") - 1;
  if (text.size() < kSecondsEnd + 1 || text.back() != 'Z' || text[4] != '-' || text[7] != '-' ||
      text[10] != 'T' || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  const auto year = Digits(text, 0, 4);
  const auto month = Digits(text, 5, 2);
  const auto day = Digits(text, 8, 2);
  const auto hour = Digits(text, 11, 2);
  const auto minute = Digits(text, 14, 2);
  const auto second = Digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  std::int64_t micros = 0;
  if (text.size() > kSecondsEnd + 1) {
    const std::size_t count = text.size() - kSecondsEnd - 2;
    if (text[kSecondsEnd] != '.' || count == 0 || count > kMaxFractionDigits) return std::nullopt;
    const auto fraction = Digits(text, kSecondsEnd + 1, count);
    if (!fraction) return std::nullopt;
    micros = *fraction;
    for (std::size_t i = count; i < kMaxFractionDigits; ++i) micros *= 10;
  }
  return WallTime(std::chrono::sys_days(date) + std::chrono::hours(*hour) +
                  std::chrono::minutes(*minute) + std::chrono::seconds(*second) +
                  std::chrono::microseconds(micros));
}

}  // namespace

std::string_view Name(Mode mode) {
  for (const auto& [candidate, name] : kModes) {
    if (candidate == mode) return name;
  }
  return "off";
}

Result<Mode> ParseMode(std::string_view untrusted_text) {
  for (const auto& [mode, name] : kModes) {
    if (name == untrusted_text) return mode;
  }
  return Fail(ErrorCode::kInvalidArgument, "mode \"{}\" is not one of off, local, on",
              EscapeControl(untrusted_text));
}

Result<Consent> EffectiveConsent(const AgentPaths& paths) {
  FIELDCOST_ASSIGN(Consent consent, LoadConsent(paths.consent_file()));
  const auto system = LoadSystemPolicy(paths.system_file);
  if (!system || !system->permit) consent.mode = Mode::kOff;
  return consent;
}

Status CheckMaySend(const AgentPaths& paths) {
  FIELDCOST_ASSIGN(const Consent consent, EffectiveConsent(paths));
  if (consent.mode != Mode::kOn) {
    return Fail(ErrorCode::kPermissionDenied, "sending was switched off in the meantime");
  }
  if (!PausedUntil(paths, SystemClock().Now())) return {};
  return Fail(ErrorCode::kPermissionDenied, "sending is paused: fieldcost agent resume");
}

Result<Consent> LoadConsent(const std::filesystem::path& file) {
  const auto untrusted_bytes = ReadFile(file, kMaxConsentFileBytes);
  if (!untrusted_bytes) {
    if (untrusted_bytes.error().code == ErrorCode::kNotFound) return Consent{};
    return Within(untrusted_bytes.error(), "read consent");
  }
  const std::string_view text = *untrusted_bytes;
  const std::size_t space = text.find(' ');
  if (text.empty() || text.back() != '\n' || space == std::string_view::npos) {
    return Fail(ErrorCode::kCorrupt, "consent file {}: expected \"MODE TIME\", e.g. \"{}\"",
                file.string(), "on 2000-01-31T12:00:00Z");
  }
  const auto mode = ParseMode(text.substr(0, space));
  if (!mode) {
    return Fail(ErrorCode::kCorrupt, "consent file {}: {}", file.string(), mode.error().message);
  }
  const auto since = ParseTime(text.substr(space + 1, text.size() - space - 2));
  if (!since) {
    return Fail(ErrorCode::kCorrupt, "consent file {}: the time is not RFC 3339 in UTC",
                file.string());
  }
  return Consent{.mode = *mode, .since = *since};
}

Status SaveConsent(const std::filesystem::path& file, const Consent& consent) {
  return WriteFileAtomically(
      file, fmt::format("{} {}\n", Name(consent.mode), FormatTime(consent.since)), 0600);
}

Status WithdrawConsent(const std::filesystem::path& file, WallTime now) {
  const auto decision = LoadConsent(file);
  if (decision && decision->mode == Mode::kOff) return {};
  const Status saved = SaveConsent(file, {.mode = Mode::kOff, .since = now});
  // The disk may be full. A missing file means off as well, and needs no space.
  if (saved || ::unlink(file.c_str()) != 0) return saved;
  const std::filesystem::path directory = file.parent_path();
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || ::fsync(fd.get()) != 0) return ErrnoError("sync", directory, errno);
  return {};
}

bool MayKeep(const Consent& consent, WallTime run_start) {
  return consent.mode != Mode::kOff && run_start >= consent.since;
}

bool MaySend(const Consent& consent, WallTime run_start, bool forced_pick) {
  return consent.mode == Mode::kOn && run_start >= consent.since && !forced_pick;
}

}  // namespace fieldcost::settings
