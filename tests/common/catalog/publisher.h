#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/catalog/catalog_sync.h"
#include "common/crypto/ed25519.h"
#include "common/http/http_server.h"
#include "common/stats/stat_row.h"
#include "common/wire/metadata.h"
#include "tests/support/certificates.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::testing {

// A row of that API with `calls` calls that cost `cost` each.
stats::StatRow MakeRow(const std::string& soname, const std::string& symbol, std::uint64_t calls,
                       std::uint64_t cost, stats::Metric metric = stats::Metric::kWallTime);

// `count` APIs lib<i % 5>.so.1!function_<i>, one row each; `cost` affects every row.
std::vector<stats::StatRow> MakeRows(unsigned count, std::uint64_t cost);

// A publishing server on loopback with TLS. Serves any files.
class Publisher {
 public:
  explicit Publisher(WallTime now);

  // Signs and serves an epoch of `rows` in 2^fragment_bits fragments, with the next versions.
  void Publish(const std::vector<stats::StatRow>& rows, unsigned fragment_bits, WallTime now);
  // Signs a new root with `keys` and serves it.
  void PublishRoot(const wire::RootMetadata& root, const std::vector<crypto::PrivateKey>& keys);

  // Files as served, by path; tests change them to attack.
  std::string Get(const std::string& path);
  std::optional<std::string> Find(const std::string& path);  // nullopt = not served
  void Set(const std::string& path, std::string body);
  void Remove(const std::string& path);
  // The response for files that do not exist: 404 at first.
  void RespondToMissing(int status);
  // Paths requested since the last call.
  std::vector<std::string> TakeRequests();
  // The number of these that are fragments.
  unsigned TakeFragmentRequests();
  // Serves this many fragments and responds 503 to later requests; -1 = no limit.
  void FailAfterFragments(int count);

  const Certificates& certificates() const { return certificates_; }
  // Options of a client with its catalogue in `directory`/catalog.db.
  catalog::SyncOptions Client(const std::filesystem::path& directory) const;

  const crypto::PrivateKey root_key = crypto::PrivateKey::Generate();
  const crypto::PrivateKey timestamp_key = crypto::PrivateKey::Generate();
  const crypto::PrivateKey snapshot_key = crypto::PrivateKey::Generate();
  wire::RootMetadata root;
  wire::TimestampMetadata timestamp;
  wire::SnapshotMetadata snapshot;
  // Sign and serve the two members above unchanged, so that a test can manipulate them.
  void ServeSnapshot();
  void ServeTimestamp();

 private:
  void Answer(const http::Request& request, const http::Respond& respond);

  TempDir directory_;
  Certificates certificates_;
  std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::vector<std::string> requests_;
  int fragments_left_ = -1;
  int missing_status_ = 404;
  std::unique_ptr<http::Server> server_;
};

}  // namespace fieldcost::testing
