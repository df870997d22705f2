#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/publish/fragment_bits.h"
#include "aggregator/publish/key_ring.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/wire/metadata.h"

namespace fieldcost::publish {

// Name of a number in the store. If it is not 0, the store's contents are synthetic, and every
// publication states so.
inline constexpr char kSyntheticNumber[] = "synthetic";

struct PublisherOptions {
  std::filesystem::path data_dir;                        // publish/ and keys/ are created in it
  std::uint32_t contribution_threshold = 5;              // different agents in one quarter
  std::uint32_t refresh_seconds = 86'400;                // seconds until clients check again
  std::chrono::seconds lifetime = std::chrono::days(7);  // of timestamp and snapshot
  std::uint64_t rows_per_pass = 0;                       // 0 = kRowsPerPass
  wire::OperatorStatement operated_by;                   // signed into the first root
};

struct PublishReport {
  std::uint64_t version = 0;
  std::uint64_t root_version = 0;  // the root whose keys have signed it
  std::uint64_t store_sequence = 0;
  std::uint64_t rows = 0;
  std::uint64_t withheld = 0;
  std::uint64_t unsound = 0;
  std::uint64_t crowded_out = 0;        // rows that did not fit into their fragment
  std::vector<stats::RowKey> crowding;  // some rows of the libraries that claimed most of the room
  std::vector<stats::RowKey> inconsistent;  // some of the unsound ones
  std::uint64_t fragments = 0;
  std::uint64_t new_fragments = 0;  // written; the others existed before
};

// Turns the store into signed, content-named files under data_dir/publish: fragments, then the
// snapshot that lists them, then the timestamp that names the snapshot. At any moment a reader
// finds everything that the timestamp refers to. One publication at a time; not thread-safe.
class Publisher {
 public:
  // Creates missing directories and keys. Errors: see KeyRing::LoadOrCreate.
  static Result<Publisher> Open(PublisherOptions options, const Clock& clock);

  // Publishes the store's newest state under the next version. On an error the last publication
  // stays in force. Signs with the keys of the newest root on disk. The version exceeds those on
  // disk and in the store; after a restore, by kRestoredVersionGap. Repairs the directory: a
  // damaged timestamp or fragment is rewritten, any other damaged snapshot or fragment is
  // removed.
  Result<PublishReport> Publish(store::Store& store);

  const wire::RootMetadata& root() const { return keys_.root(); }
  std::filesystem::path directory() const { return options_.data_dir / "publish"; }
  // For all our roots, see KeyRing.
  Result<std::vector<std::string>> RootFingerprints() const {
    return KeyRing::RootFingerprints(directory() / "root");
  }

 private:
  struct Known {  // a snapshot on disk
    std::string hex;
    wire::SnapshotMetadata metadata;
  };
  Publisher(PublisherOptions options, const Clock& clock, KeyRing keys)
      : options_(std::move(options)), clock_(&clock), keys_(std::move(keys)) {}

  Status LoadNewestKeys();
  Result<wire::SnapshotMetadata> ReadSnapshot(const std::filesystem::path& path) const;
  // The intact ones, newest first.
  Result<std::vector<Known>> KnownSnapshots() const;
  Result<std::uint64_t> LastVersion(const store::Store& store,
                                    const std::vector<Known>& known) const;
  static Status NoteVersion(store::Store& store, std::uint64_t version);
  Status RemoveOld() const;

  PublisherOptions options_;
  const Clock* clock_;
  KeyRing keys_;
  std::vector<wire::RootMetadata> roots_;  // all of ours, newest first
};

}  // namespace fieldcost::publish
