#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/base/units.h"

namespace fieldcost::catalog {

// A witness file records which snapshots a server has presented to a user, so that two users can
// find out whether they were shown the same history. TRUST.md has the format and an example.

inline constexpr std::size_t kMaxWitnessBytes = 16 * kMiB;  // about 100,000 snapshots

struct WitnessedSnapshot {
  std::uint64_t version = 0;
  std::string published;  // "2026-11-22T10:00:30Z"
  std::string sha256;     // hex; of the signed snapshot
  bool operator==(const WitnessedSnapshot&) const = default;
};

// The end of a valid file.
struct Witness {
  std::uint64_t snapshot_count = 0;
  WitnessedSnapshot last;        // if there is one
  std::string last_line_sha256;  // hex; of the last line with its line feed; empty = empty file
};

// Validates all lines. An empty text is valid. kCorrupt: the form, the order of versions or the
// chain of hashes is wrong; the message has the line's number.
Result<Witness> ParseWitness(std::string_view untrusted_text);

// The text that adds a snapshot to the file. Empty if it is the file's last one. kUnauthenticated
// if the file does not continue with it: a lower version, or the same version with another hash.
Result<std::string> NextWitnessText(const Witness& witness, const WitnessedSnapshot& snapshot);

// The same for files; the messages contain the path. A missing file is empty.
Result<Witness> LoadWitness(const std::filesystem::path& file);
// Validates the file, adds the snapshot and replaces the file atomically. Returns its new end.
Result<Witness> AppendWitness(const std::filesystem::path& file, const WitnessedSnapshot& snapshot);

}  // namespace fieldcost::catalog
