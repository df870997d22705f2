#include "aggregator/publish/publisher.h"

#include <algorithm>
#include <set>
#include <utility>

#include "aggregator/publish/fragment_writer.h"
#include "aggregator/publish/publish_limits.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::publish {
namespace {

// Names of numbers in the store: the version published last, and the number of restores at that
// time.
constexpr char kPublishedVersion[] = "published_version";
constexpr char kPublishedRestorations[] = "published_restorations";

PreviousFragments SizeOf(const wire::SnapshotMetadata& snapshot) {
  PreviousFragments previous{.bits = snapshot.fragment_bits};
  for (const wire::FragmentReference& fragment : snapshot.fragments) {
    previous.rows += fragment.row_count;
    previous.bytes += fragment.size_bytes;
  }
  return previous;
}

// Counts the written rows, and warns about rows that could not be written.
void Count(const WrittenFragments& written, PublishReport& report) {
  report.rows = written.counts.published - written.crowded_out;
  report.withheld = written.counts.withheld;
  report.unsound = written.counts.unsound;
  report.crowded_out = written.crowded_out;
  report.crowding = written.crowding;
  report.inconsistent = written.counts.inconsistent;
  report.fragments = written.fragments.size();
  report.new_fragments = written.new_fragments;
  if (report.crowded_out != 0) {
    LogWarning("{} rows are not published because their fragments are full", report.crowded_out);
  }
  if (written.counts.left_out != 0) {
    LogWarning(
        "{} rows of single weeks and classes are not published: with them sums would exceed 128 "
        "bits",
        written.counts.left_out);
  }
  if (report.unsound != 0) {
    LogWarning("{} rows are not published because their sums are impossible", report.unsound);
  }
}

// The timestamp that names this snapshot. The caller sets when clients check again.
wire::TimestampMetadata TimestampOf(const wire::SnapshotMetadata& snapshot,
                                    std::string_view signed_snapshot) {
  wire::TimestampMetadata timestamp;
  timestamp.version = snapshot.version;
  timestamp.published = snapshot.published;
  timestamp.expires = snapshot.expires;
  timestamp.snapshot_version = snapshot.version;
  timestamp.snapshot_sha256 = crypto::Sha256(signed_snapshot);
  timestamp.snapshot_bytes = signed_snapshot.size();
  return timestamp;
}

bool IsNamedByItsHash(const std::filesystem::path& fragment) {
  const auto bytes = ReadFile(fragment, wire::kMaxFragmentBytes);
  return bytes && crypto::HexSha256(*bytes) == fragment.filename();
}

// Removes the directory's files except those to keep.
template <typename IsKept>
Status RemoveUnless(const std::filesystem::path& directory, const IsKept& is_kept) {
  std::error_code error;
  std::vector<std::filesystem::path> old;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    if (!is_kept(it->path())) old.push_back(it->path());
  }
  if (error) return ErrnoError("list", directory, error.value());
  for (const std::filesystem::path& path : old) {
    std::filesystem::remove(path, error);
    if (error) return ErrnoError("remove", path, error.value());
  }
  return {};
}

}  // namespace

Result<Publisher> Publisher::Open(PublisherOptions options, const Clock& clock) {
  const std::filesystem::path directory = options.data_dir / "publish";
  FIELDCOST_TRY(MakeDirectories(directory / "fragments", 0755));
  FIELDCOST_TRY(MakeDirectories(directory / "snapshots", 0755));
  FIELDCOST_ASSIGN(KeyRing keys,
                   KeyRing::LoadOrCreate(options.data_dir / "keys", directory / "root",
                                         options.operated_by, clock));
  if (options.rows_per_pass == 0) options.rows_per_pass = kRowsPerPass;
  return Publisher(std::move(options), clock, std::move(keys));
}

Status Publisher::LoadNewestKeys() {
  FIELDCOST_ASSIGN(roots_, KeyRing::AllRoots(directory() / "root"));
  if (roots_.front().version == keys_.root().version) return {};
  FIELDCOST_ASSIGN(keys_, KeyRing::LoadOrCreate(options_.data_dir / "keys", directory() / "root",
                                                options_.operated_by, *clock_));
  LogInfo("signing with the keys of root version {} from now on", keys_.root().version);
  return {};
}

Result<std::uint64_t> Publisher::LastVersion(const store::Store& store,
                                             const std::vector<Known>& known) const {
  FIELDCOST_ASSIGN(std::uint64_t last, store.GetNumber(kPublishedVersion));
  FIELDCOST_ASSIGN(const std::uint64_t restorations, store.Restorations());
  FIELDCOST_ASSIGN(const std::uint64_t noted, store.GetNumber(kPublishedRestorations));
  if (restorations != noted) last += kRestoredVersionGap;
  if (!known.empty()) last = std::max(last, known.front().metadata.version);
  const std::filesystem::path path = directory() / "timestamp";
  if (!std::filesystem::exists(path)) return last;
  FIELDCOST_ASSIGN(const std::string bytes, ReadFile(path, wire::kMaxMetadataBytes));
  const auto timestamp = VerifyByAny(
      roots_, [&](const wire::RootMetadata& root) { return wire::VerifyTimestamp(bytes, root); });
  if (!timestamp) {
    // The store recorded its version before the timestamp was written.
    LogWarning("{} is damaged and will be rewritten: {}", path.string(), timestamp.error().message);
    return last;
  }
  return std::max({last, timestamp->version, timestamp->snapshot_version});
}

Status Publisher::NoteVersion(store::Store& store, std::uint64_t version) {
  FIELDCOST_TRY(store.PutNumber(kPublishedVersion, version));
  FIELDCOST_ASSIGN(const std::uint64_t restorations, store.Restorations());
  // Written after the version: if interrupted in between, the gap is added once more.
  return store.PutNumber(kPublishedRestorations, restorations);
}

Result<wire::SnapshotMetadata> Publisher::ReadSnapshot(const std::filesystem::path& path) const {
  FIELDCOST_ASSIGN(const std::string bytes, ReadFile(path, wire::kMaxMetadataBytes));
  if (crypto::HexSha256(bytes) != path.filename()) {
    return Fail(ErrorCode::kCorrupt, "its name is not the hash of its content");
  }
  return VerifyByAny(
      roots_, [&](const wire::RootMetadata& root) { return wire::VerifySnapshot(bytes, root); });
}

Result<std::vector<Publisher::Known>> Publisher::KnownSnapshots() const {
  std::vector<Known> known;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(directory() / "snapshots", error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    auto metadata = ReadSnapshot(it->path());
    if (metadata) {
      known.push_back({name, std::move(*metadata)});
    } else {
      LogWarning("ignoring a damaged snapshot, {}: {}", it->path().string(),
                 metadata.error().message);
    }
  }
  if (error) return ErrnoError("list", directory() / "snapshots", error.value());
  std::sort(known.begin(), known.end(),
            [](const Known& a, const Known& b) { return a.metadata.version > b.metadata.version; });
  return known;
}

Result<PublishReport> Publisher::Publish(store::Store& store) {
  // 1. Find the last publication, and the keys in force.
  FIELDCOST_TRY(LoadNewestKeys());
  FIELDCOST_ASSIGN(const std::vector<Known> known, KnownSnapshots());
  FIELDCOST_ASSIGN(const std::uint64_t last_version, LastVersion(store, known));
  std::optional<PreviousFragments> previous;
  if (!known.empty()) previous = SizeOf(known.front().metadata);

  // 2. Write the fragments of the store's newest state.
  FIELDCOST_ASSIGN(const store::Store::Snapshot snapshot, store.TakeSnapshot());
  wire::SnapshotMetadata metadata;
  metadata.version = last_version + 1;
  metadata.published = clock_->Now();
  metadata.expires = metadata.published + options_.lifetime;
  metadata.store_sequence = snapshot.sequence();
  metadata.contribution_threshold = options_.contribution_threshold;
  FIELDCOST_ASSIGN(const std::uint64_t synthetic, store.GetNumber(kSyntheticNumber));
  metadata.synthetic = synthetic != 0;
  PublishReport report{.version = metadata.version,
                       .root_version = keys_.root().version,
                       .store_sequence = metadata.store_sequence};
  FIELDCOST_ASSIGN(
      WrittenFragments written,
      WriteFragments(snapshot, {.directory = directory(),
                                .contribution_threshold = options_.contribution_threshold,
                                .rows_per_pass = options_.rows_per_pass,
                                .previous = previous}));
  Count(written, report);
  metadata.fragment_bits = written.bits;
  metadata.fragments = std::move(written.fragments);

  // 3. Sign the snapshot and the timestamp, and write them in this order.
  const std::string signed_snapshot = wire::SignSnapshot(metadata, keys_.snapshot_key());
  wire::TimestampMetadata timestamp = TimestampOf(metadata, signed_snapshot);
  timestamp.refresh_seconds = options_.refresh_seconds;
  FIELDCOST_TRY(NoteVersion(store, metadata.version));
  FIELDCOST_TRY(WriteFileAtomically(
      directory() / "snapshots" / HexEncode(timestamp.snapshot_sha256), signed_snapshot, 0644));
  FIELDCOST_TRY(WriteFileAtomically(directory() / "timestamp",
                                    wire::SignTimestamp(timestamp, keys_.timestamp_key()), 0644));
  // 4. Remove files that no snapshot needs.
  if (Status status = RemoveOld(); !status) {
    LogWarning("cannot remove old published files: {}", status.error().message);
  }
  return report;
}

Status Publisher::RemoveOld() const {
  FIELDCOST_ASSIGN(const std::vector<Known> known, KnownSnapshots());
  std::set<std::string> snapshots;
  std::set<std::string> newest;  // fragments that were just written or compared
  std::set<std::string> older;
  for (std::size_t i = 0; i < std::min(known.size(), kKeptSnapshots); ++i) {
    snapshots.insert(known[i].hex);
    for (const wire::FragmentReference& fragment : known[i].metadata.fragments) {
      (i == 0 ? newest : older).insert(HexEncode(fragment.sha256));
    }
  }
  FIELDCOST_TRY(RemoveUnless(directory() / "snapshots", [&](const std::filesystem::path& path) {
    return snapshots.contains(path.filename());
  }));
  // Otherwise, damage to an older snapshot's fragments would not be found.
  return RemoveUnless(directory() / "fragments", [&](const std::filesystem::path& path) {
    const std::string name = path.filename();
    return newest.contains(name) || (older.contains(name) && IsNamedByItsHash(path));
  });
}

}  // namespace fieldcost::publish
