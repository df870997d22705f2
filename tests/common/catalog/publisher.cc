#include "tests/common/catalog/publisher.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/crypto/sha256.h"
#include "common/wire/fragment.h"

namespace fieldcost::testing {

using std::chrono::hours;

stats::StatRow MakeRow(const std::string& soname, const std::string& symbol, std::uint64_t calls,
                       std::uint64_t cost, stats::Metric metric) {
  stats::StatRow row;
  row.key.api = {soname, "1.2-3", "00ff", symbol, ""};
  row.key.metric = metric;
  for (std::uint64_t i = 0; i < calls; ++i) row.histogram.Add(cost);
  row.scalars = stats::ScalarsOf(row.histogram);
  row.weights = stats::WeightsOf(row.histogram);
  row.bounded = stats::BoundedSumsOf(row.histogram);
  return row;
}

std::vector<stats::StatRow> MakeRows(unsigned count, std::uint64_t cost) {
  std::vector<stats::StatRow> rows;
  for (unsigned i = 0; i < count; ++i) {
    rows.push_back(MakeRow("lib" + std::to_string(i % 5) + ".so.1", "function_" + std::to_string(i),
                           i + 1, cost));
  }
  return rows;
}

Publisher::Publisher(WallTime now) : certificates_(MakeCertificates(directory_.path())) {
  root.version = 1;
  root.expires = now + hours(24 * 365);
  root.root_keys = {root_key.public_key()};
  root.timestamp_keys = {timestamp_key.public_key()};
  root.snapshot_keys = {snapshot_key.public_key()};
  PublishRoot(root, {root_key});
  FIELDCOST_CHECK(
      WriteFileAtomically(directory_.path() / "root", Get(wire::kRootPath), 0644).has_value());
  http::ServerOptions options;
  options.certificate_file = certificates_.certificate;
  options.private_key_file = certificates_.key;
  auto server = http::Server::Start(
      options, [this](http::Request request, http::Respond respond) { Answer(request, respond); });
  FIELDCOST_CHECK(server.has_value());
  server_ = std::move(*server);
}

void Publisher::PublishRoot(const wire::RootMetadata& new_root,
                            const std::vector<crypto::PrivateKey>& keys) {
  root = new_root;
  const std::string bytes = wire::SignRoot(root, keys);
  Set(wire::kRootPath, bytes);
  Set(wire::RootVersionPath(root.version), bytes);
}

void Publisher::Publish(const std::vector<stats::StatRow>& rows, unsigned fragment_bits,
                        WallTime now) {
  std::vector<std::vector<stats::StatRow>> parts(std::size_t{1} << fragment_bits);
  for (const stats::StatRow& row : rows) {
    const stats::ApiKey& api = row.key.api;
    parts[wire::FragmentIndexOf(api.soname, api.symbol, fragment_bits)].push_back(row);
  }
  ++snapshot.version;
  snapshot.expires = now + hours(24 * 7);
  snapshot.published = now;
  snapshot.contribution_threshold = 5;
  snapshot.fragment_bits = fragment_bits;
  snapshot.fragments.clear();
  for (auto& part : parts) {
    std::sort(part.begin(), part.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
    auto bytes = wire::EncodeFragment(part);
    FIELDCOST_CHECK(bytes.has_value());
    const std::string hash = crypto::Sha256(*bytes);
    Set(wire::FragmentPath(hash), *bytes);
    snapshot.fragments.push_back({hash, bytes->size(), part.size()});
  }
  timestamp.expires = now + hours(24);
  timestamp.published = now;
  ServeSnapshot();
  ++timestamp.version;
  ServeTimestamp();
}

void Publisher::ServeSnapshot() {
  const std::string bytes = wire::SignSnapshot(snapshot, snapshot_key);
  timestamp.snapshot_version = snapshot.version;
  timestamp.snapshot_sha256 = crypto::Sha256(bytes);
  timestamp.snapshot_bytes = bytes.size();
  Set(wire::SnapshotPath(timestamp.snapshot_sha256), bytes);
}

void Publisher::ServeTimestamp() {
  Set(wire::kTimestampPath, wire::SignTimestamp(timestamp, timestamp_key));
}

std::string Publisher::Get(const std::string& path) {
  const std::lock_guard lock(mutex_);
  return files_.at(path);
}

std::optional<std::string> Publisher::Find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(path);
  return file == files_.end() ? std::nullopt : std::optional(file->second);
}

void Publisher::Set(const std::string& path, std::string body) {
  const std::lock_guard lock(mutex_);
  files_[path] = std::move(body);
}

void Publisher::Remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  files_.erase(path);
}

void Publisher::RespondToMissing(int status) {
  const std::lock_guard lock(mutex_);
  missing_status_ = status;
}

std::vector<std::string> Publisher::TakeRequests() {
  const std::lock_guard lock(mutex_);
  return std::exchange(requests_, {});
}

unsigned Publisher::TakeFragmentRequests() {
  const std::vector<std::string> requests = TakeRequests();
  return static_cast<unsigned>(
      std::count_if(requests.begin(), requests.end(),
                    [](const std::string& path) { return path.starts_with("/v1/fragment/"); }));
}

void Publisher::FailAfterFragments(int count) {
  const std::lock_guard lock(mutex_);
  fragments_left_ = count;
}

catalog::SyncOptions Publisher::Client(const std::filesystem::path& directory) const {
  catalog::SyncOptions options;
  options.catalog_file = directory / "catalog.db";
  options.root_file = directory_.path() / "root";
  options.server.url = "https://localhost:" + std::to_string(server_->port());
  options.server.ca_file = certificates_.ca;
  return options;
}

void Publisher::Answer(const http::Request& request, const http::Respond& respond) {
  http::Response response;
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request.target);
    const auto file = files_.find(request.target);
    if (request.target.starts_with("/v1/fragment/") && fragments_left_ >= 0 &&
        fragments_left_-- == 0) {
      fragments_left_ = 0;
      response.status = 503;
    } else if (file == files_.end()) {
      response.status = missing_status_;
    } else {
      response.body = file->second;
    }
  }
  respond(std::move(response));
}

}  // namespace fieldcost::testing
