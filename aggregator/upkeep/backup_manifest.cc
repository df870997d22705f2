// The list of a backup's files other than the store's:
//
//   list := "fieldcost-backup 1\n" file* "sum " sha256(all before) "\n"
//   file := "file " mode " " size " " sha256 " " path "\n"
//           ; mode 600 or 644, size decimal, hashes in hex; path below the data directory
#include "aggregator/upkeep/backup_manifest.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::string_view kFirstLine = "fieldcost-backup 1\n";
constexpr std::string_view kAnyFirstLine = "fieldcost-backup ";
constexpr std::string_view kLastWord = "sum ";
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::array<std::string_view, 3> kKnownFolders = {"publish/root/", "publish/", "keys/"};

bool IsName(std::string_view untrusted_name) {
  return !untrusted_name.empty() && untrusted_name.size() <= kMaxNameBytes &&
         untrusted_name.front() != '.' &&
         AreAll(untrusted_name, [](char c) { return IsWordCharacter(c) || c == '.' || c == '-'; });
}

bool IsPath(std::string_view untrusted_path) {
  return std::any_of(kKnownFolders.begin(), kKnownFolders.end(), [&](std::string_view folder) {
    return untrusted_path.starts_with(folder) && IsName(untrusted_path.substr(folder.size()));
  });
}

// Removes the text up to and including `end`, and returns it without `end`; nullopt if `end` is
// missing.
std::optional<std::string_view> Take(std::string_view& untrusted_text, char end) {
  const std::size_t at = untrusted_text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view taken = untrusted_text.substr(0, at);
  untrusted_text.remove_prefix(at + 1);
  return taken;
}

// "file 600 SIZE SHA256 PATH"
std::optional<BackedUpFile> DecodeLine(std::string_view untrusted_line) {
  const auto word = Take(untrusted_line, ' ');
  const auto mode = Take(untrusted_line, ' ');
  const auto size = Take(untrusted_line, ' ');
  const auto hash = Take(untrusted_line, ' ');
  if (word != "file" || !mode || !size || !hash) return std::nullopt;
  const auto bytes = ParseUint64(*size);
  if ((mode != "600" && mode != "644") || !bytes || *bytes > kMaxBackedUpFileBytes ||
      !IsHexSha256(*hash) || !IsPath(untrusted_line)) {
    return std::nullopt;
  }
  return BackedUpFile{.path = std::string(untrusted_line),
                      .mode = mode == "600" ? 0600U : 0644U,
                      .size_bytes = *bytes,
                      .sha256 = std::string(*hash)};
}

}  // namespace

std::string EncodeManifest(const std::vector<BackedUpFile>& files) {
  std::string text(kFirstLine);
  for (const BackedUpFile& file : files) {
    text += fmt::format("file {:o} {} {} {}\n", file.mode, file.size_bytes, file.sha256, file.path);
  }
  return text + fmt::format("{}{}\n", kLastWord, crypto::HexSha256(text));
}

Result<std::vector<BackedUpFile>> DecodeManifest(std::string_view untrusted_text) {
  const Error malformed = Fail(ErrorCode::kCorrupt, "the list of the backup's files is damaged");
  if (!untrusted_text.starts_with(kFirstLine)) {
    if (!untrusted_text.starts_with(kAnyFirstLine)) return malformed;
    return Fail(ErrorCode::kUnsupported, "the backup was made by a newer fieldcost-aggregator");
  }
  constexpr std::size_t kLastLineBytes = kLastWord.size() + kSha256Digits + 1;
  if (untrusted_text.size() < kFirstLine.size() + kLastLineBytes) return malformed;
  const std::size_t listed = untrusted_text.size() - kLastLineBytes;
  if (untrusted_text.substr(listed) !=
      fmt::format("{}{}\n", kLastWord, crypto::HexSha256(untrusted_text.substr(0, listed)))) {
    return malformed;
  }
  std::string_view rest = untrusted_text.substr(0, listed).substr(kFirstLine.size());
  std::vector<BackedUpFile> files;
  while (!rest.empty()) {
    const auto line = Take(rest, '\n');
    auto file = line ? DecodeLine(*line) : std::nullopt;
    if (!file || files.size() == kMaxBackedUpFiles) return malformed;
    files.push_back(std::move(*file));
  }
  return files;
}

}  // namespace fieldcost::aggregator
