// A witness file is text; each line commits to all lines before it.
//
//   file     := header line*
//   header   := "fieldcost witness 1\n"
//   line     := version " " published " " snapshot " " previous "\n"
//   published := RFC 3339 time in UTC, in seconds; snapshot, previous := SHA-256 in lower-case hex
//
// `snapshot` is the hash of the signed snapshot, `previous` that of the line before (or the
// header), with its line feed. Versions ascend; some may be missing.
#include "common/catalog/witness.h"

#include <algorithm>
#include <array>

#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::catalog {
namespace {

constexpr std::string_view kHeader = "fieldcost witness 1\n";
constexpr std::size_t kFields = 4;

bool IsTime(std::string_view untrusted_text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  return std::equal(
      untrusted_text.begin(), untrusted_text.end(), kForm.begin(), kForm.end(),
      [](char c, char form) { return form == '0' ? c >= '0' && c <= '9' : c == form; });
}

Error Damaged(std::uint64_t line_number, std::string_view why) {
  return Fail(ErrorCode::kCorrupt,
              "line {}: {}; the file is damaged or was changed: keep it, and use a new one",
              line_number, why);
}

// The fields of a line without its line feed.
Result<std::array<std::string_view, kFields>> SplitLine(std::string_view untrusted_line,
                                                        std::uint64_t number) {
  std::array<std::string_view, kFields> fields;
  for (std::size_t i = 0; i < kFields; ++i) {
    const std::size_t end = i + 1 < kFields ? untrusted_line.find(' ') : untrusted_line.size();
    if (end == std::string_view::npos) return Damaged(number, "expected four fields");
    fields[i] = untrusted_line.substr(0, end);
    untrusted_line.remove_prefix(std::min(end + 1, untrusted_line.size()));
  }
  return fields;
}

// Reads one line with its line feed, which must continue `witness`.
Status AddLine(std::string_view untrusted_line, std::uint64_t number, Witness& witness) {
  FIELDCOST_ASSIGN(const auto fields,
                   SplitLine(untrusted_line.substr(0, untrusted_line.size() - 1), number));
  const auto [untrusted_version, published, snapshot, previous] = fields;
  const auto version = ParseUint64(untrusted_version);
  if (!version || untrusted_version != std::to_string(*version)) {
    return Damaged(number, "expected a version");
  }
  if (!IsTime(published)) return Damaged(number, "expected a time in UTC");
  if (!IsHexSha256(snapshot)) return Damaged(number, "expected the SHA-256 of the snapshot");
  if (previous != witness.last_line_sha256) {
    return Damaged(number, "it does not have the SHA-256 of the line before");
  }
  if (witness.snapshot_count != 0 && *version <= witness.last.version) {
    return Damaged(number, "its version is not higher than that of the line before");
  }
  witness.last = {
      .version = *version, .published = std::string(published), .sha256 = std::string(snapshot)};
  ++witness.snapshot_count;
  witness.last_line_sha256 = crypto::HexSha256(untrusted_line);
  return {};
}

Result<std::string> ReadWitness(const std::filesystem::path& file) {
  auto text = ReadFile(file, kMaxWitnessBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  if (!text) return Within(text.error(), "read the witness file");
  return text;
}

Error About(const std::filesystem::path& file, const Error& error) {
  return Within(error, fmt::format("witness file {}", file.string()));
}

}  // namespace

Result<Witness> ParseWitness(std::string_view untrusted_text) {
  Witness witness;
  if (untrusted_text.empty()) return witness;
  if (!untrusted_text.starts_with(kHeader)) {
    return Fail(ErrorCode::kCorrupt, "not a witness file: it does not begin with \"{}\"",
                Trim(kHeader));
  }
  witness.last_line_sha256 = crypto::HexSha256(kHeader);
  untrusted_text.remove_prefix(kHeader.size());
  for (std::uint64_t number = 2; !untrusted_text.empty(); ++number) {
    const std::size_t end = untrusted_text.find('\n');
    if (end == std::string_view::npos) return Damaged(number, "it has no line feed");
    FIELDCOST_TRY(AddLine(untrusted_text.substr(0, end + 1), number, witness));
    untrusted_text.remove_prefix(end + 1);
  }
  return witness;
}

Result<std::string> NextWitnessText(const Witness& witness, const WitnessedSnapshot& snapshot) {
  if (witness.snapshot_count != 0) {
    const WitnessedSnapshot& last = witness.last;
    if (snapshot == last) return std::string();
    if (snapshot.version < last.version) {
      return Fail(ErrorCode::kUnauthenticated,
                  "the chain does not continue: it ends with snapshot version {}, but the server "
                  "presents version {}; it hides newer ones, or its keys were replaced: ask its "
                  "operator, keep this file, and use a new one",
                  last.version, snapshot.version);
    }
    if (snapshot.version == last.version) {
      return Fail(ErrorCode::kUnauthenticated,
                  "the chain does not continue: snapshot version {} had SHA-256 {}, but the server "
                  "presents {}: it has two histories; keep this file, and ask its operator",
                  last.version, last.sha256, snapshot.sha256);
    }
  }
  const bool is_empty = witness.last_line_sha256.empty();
  return fmt::format("{}{} {} {} {}\n", is_empty ? kHeader : "", snapshot.version,
                     snapshot.published, snapshot.sha256,
                     is_empty ? crypto::HexSha256(kHeader) : witness.last_line_sha256);
}

Result<Witness> LoadWitness(const std::filesystem::path& file) {
  FIELDCOST_ASSIGN(const std::string untrusted_text, ReadWitness(file));
  auto witness = ParseWitness(untrusted_text);
  if (!witness) return About(file, witness.error());
  return witness;
}

Result<Witness> AppendWitness(const std::filesystem::path& file,
                              const WitnessedSnapshot& snapshot) {
  FIELDCOST_ASSIGN(std::string text, ReadWitness(file));
  auto witness = ParseWitness(text);
  if (!witness) return About(file, witness.error());
  const auto added = NextWitnessText(*witness, snapshot);
  if (!added) return About(file, added.error());
  if (added->empty()) return witness;
  text += *added;
  auto extended = ParseWitness(text);
  if (!extended) return About(file, extended.error());
  if (text.size() > kMaxWitnessBytes) {
    return Fail(ErrorCode::kTooLarge, "witness file {} is full: keep it, and use a new one",
                file.string());
  }
  FIELDCOST_TRY(WriteFileAtomically(file, text, 0644));
  return extended;
}

}  // namespace fieldcost::catalog
