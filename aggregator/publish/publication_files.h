#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/wire/metadata.h"

namespace fieldcost::publish {

// The newest publication of a data directory: its signed files, verified.
struct PublicationFiles {
  std::vector<std::string> roots;  // the signed versions 1 to root.version
  wire::RootMetadata root;         // the newest whose keys have signed the publication
  std::string timestamp_bytes;
  wire::TimestampMetadata timestamp;
  std::string snapshot_bytes;
  wire::SnapshotMetadata snapshot;
  std::optional<std::string> policy;
};

// Reads them from data_dir/publish; also while a server publishes. kNotFound: nothing has been
// published yet; otherwise the error of the file that cannot be used, by name.
Result<PublicationFiles> LoadPublication(const std::filesystem::path& data_dir);

// Hashes of all fragments, in hex, in the order of the snapshot; empty ones may be the same file.
std::vector<std::string> FragmentNames(const wire::SnapshotMetadata& snapshot);

}  // namespace fieldcost::publish
