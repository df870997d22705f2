// Validates external texts by the rules for row keys and hardware classes (batch.h).
#include <algorithm>
#include <string_view>

#include "common/base/text.h"
#include "common/wire/batch.h"

namespace fieldcost::wire {
namespace {

enum class Need { kOptional, kRequired };

constexpr bool IsVisible(char c) { return (c > ' ') & (c < '\x7f'); }

constexpr bool IsLowerHex(char c) { return ((c >= '0') & (c <= '9')) | ((c >= 'a') & (c <= 'f')); }

// Tests every character without stopping early, so that the compiler can vectorise the loop.
template <typename Test>
bool TestAll(std::string_view text, Test test) {
  bool all = true;
  for (const char c : text) all &= test(c);
  return all;
}

// Whether it is a non-ASCII character that no identifier contains: a blank, an invisible character,
// or one that changes the direction of text around it. Does not detect private or unassigned
// characters.
bool IsBlankOrInvisible(std::uint32_t code_point) {
  struct Range {
    std::uint32_t first, last;
  };
  constexpr Range kRanges[] = {
      {0x80, 0xa0},     {0xad, 0xad},     {0x61c, 0x61c},    {0x1680, 0x1680}, {0x180e, 0x180e},
      {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f},  {0x3000, 0x3000}, {0xfe00, 0xfe0f},
      {0xfeff, 0xfeff}, {0xfff0, 0xffff}, {0xe0000, 0xe0fff}};
  return std::ranges::any_of(kRanges, [code_point](const Range& range) {
    return range.first <= code_point && code_point <= range.last;
  });
}

// Whether it is UTF-8 of visible characters, without spaces.
bool IsVisibleUtf8(std::string_view untrusted_text) {
  while (!untrusted_text.empty()) {
    const CodePoint point = FirstCodePoint(untrusted_text);
    if (point.bytes == 0 || (point.bytes == 1 && !IsVisible(untrusted_text[0])) ||
        (point.bytes > 1 && IsBlankOrInvisible(point.value))) {
      return false;
    }
    untrusted_text.remove_prefix(point.bytes);
  }
  return true;
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
  if (!TestAll(untrusted_text, IsVisible)) {
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
  if (key.build_id.size() % 2 != 0 || !TestAll(key.build_id, IsLowerHex)) {
    return Fail(ErrorCode::kCorrupt, "build-id is not lower-case hexadecimal");
  }
  return {};
}

Status ValidateSymbol(const stats::ApiKey& untrusted_key) {
  const stats::ApiKey& key = untrusted_key;
  // C, C++, Rust and Go allow letters of all languages.
  if (!TestAll(key.symbol, IsVisible)) {
    if (key.symbol.size() <= kMaxSymbolBytes && IsVisibleUtf8(key.symbol)) {
      return CheckText("symbol version", key.symbol_version, kMaxVersionBytes, Need::kOptional);
    }
    return Fail(ErrorCode::kCorrupt,
                "symbol is not UTF-8 of at most {} bytes without spaces and invisible characters",
                kMaxSymbolBytes);
  }
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
