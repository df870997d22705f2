// Checks texts from outside: the rules for keys of rows and hardware classes (batch.h).
#include <string_view>

#include "common/wire/batch.h"

namespace fieldcost::wire {
namespace {

enum class Need { kOptional, kRequired };

constexpr bool IsVisible(char c) { return (c > ' ') & (c < '\x7f'); }

constexpr bool IsLowerHexDigit(char c) {
  return ((c >= '0') & (c <= '9')) | ((c >= 'a') & (c <= 'f'));
}

// Tests all of them in any case, so that the compiler can test many at a time.
template <typename Test>
bool AreAll(std::string_view text, Test test) {
  bool all = true;
  for (const char c : text) all &= test(c);
  return all;
}

Status CheckText(std::string_view name, std::string_view untrusted_text, std::size_t max_bytes,
                 Need need) {
  if (untrusted_text.empty() && need == Need::kRequired) {
    return Fail(ErrorCode::kCorrupt, "{} is empty", name);
  }
  if (untrusted_text.size() > max_bytes) {
    return Fail(ErrorCode::kCorrupt, "{} has {} bytes, at most {} are accepted", name,
                untrusted_text.size(), max_bytes);
  }
  if (!AreAll(untrusted_text, IsVisible)) {
    return Fail(ErrorCode::kCorrupt, "{} is not printable ASCII without spaces", name);
  }
  return {};
}

}  // namespace

Status ValidateApiKey(const stats::ApiKey& untrusted_key) {
  FIELDCOST_TRY(ValidateModule(untrusted_key));
  return ValidateSymbol(untrusted_key);
}

Status ValidateModule(const stats::ApiKey& untrusted_key) {
  const stats::ApiKey& key = untrusted_key;
  FIELDCOST_TRY(CheckText("soname", key.soname, kMaxSonameBytes, Need::kRequired));
  // A path would reveal something about the machine; '!' separates soname and symbol in names.
  if (key.soname.find_first_of("/!") != std::string::npos) {
    return Fail(ErrorCode::kCorrupt, "soname contains '/' or '!'");
  }
  FIELDCOST_TRY(
      CheckText("package version", key.package_version, kMaxVersionBytes, Need::kOptional));
  FIELDCOST_TRY(CheckText("build-id", key.build_id, kMaxBuildIdBytes, Need::kOptional));
  if (key.build_id.size() % 2 != 0 || !AreAll(key.build_id, IsLowerHexDigit)) {
    return Fail(ErrorCode::kCorrupt, "build-id is not lower-case hexadecimal");
  }
  return {};
}

Status ValidateSymbol(const stats::ApiKey& untrusted_key) {
  const stats::ApiKey& key = untrusted_key;
  FIELDCOST_TRY(CheckText("symbol", key.symbol, kMaxSymbolBytes, Need::kRequired));
  return CheckText("symbol version", key.symbol_version, kMaxVersionBytes, Need::kOptional);
}

Status ValidateHardwareClass(const stats::HardwareClass& untrusted_class) {
  const stats::HardwareClass& hardware = untrusted_class;
  FIELDCOST_TRY(
      CheckText("architecture", hardware.architecture, kMaxClassTextBytes, Need::kRequired));
  FIELDCOST_TRY(CheckText("cpu family", hardware.cpu_family, kMaxClassTextBytes, Need::kOptional));
  FIELDCOST_TRY(CheckText("os release", hardware.os_release, kMaxClassTextBytes, Need::kOptional));
  if (hardware.log2_cores > kMaxLog2Cores || hardware.log2_memory_mib > kMaxLog2MemoryMib) {
    return Fail(ErrorCode::kCorrupt, "hardware class of 2^{} cores and 2^{} MiB",
                hardware.log2_cores, hardware.log2_memory_mib);
  }
  return {};
}

}  // namespace fieldcost::wire
