#include "aggregator/publish/static_tree.h"

#include <fcntl.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "aggregator/publish/deletion_list.h"
#include "aggregator/publish/key_ring.h"
#include "aggregator/publish/publication_files.h"
#include "aggregator/publish/tree_source.h"
#include "common/base/file.h"
#include "common/base/file_lock.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/base/time_text.h"
#include "common/crypto/sha256.h"
#include "common/wire/public_tree.h"

namespace fieldcost::publish {
namespace {

using Path = std::filesystem::path;

// How often to begin again if the server publishes meanwhile and removes what is being copied.
constexpr int kAttempts = 3;

constexpr auto kLifetime =
    static_cast<std::uint64_t>(std::chrono::seconds(kUnlistedLifetime).count());

std::uint64_t SecondsOf(WallTime time) { return MicrosOf(time) / 1'000'000; }

// The path relative to the tree of an address.
std::string PathOf(std::string_view address) { return std::string(address.substr(1)); }

bool IsWithin(const Path& inner, const Path& outer) {
  const auto [in, out] = std::mismatch(inner.begin(), inner.end(), outer.begin(), outer.end());
  return out == outer.end();
}

// A tree next to secrets would be served or uploaded with them.
Status CheckApart(const Path& data_dir, const Path& directory) {
  std::error_code error;
  const Path data = std::filesystem::weakly_canonical(data_dir, error);
  if (error) return ErrnoError("resolve", data_dir, error.value());
  const Path tree = std::filesystem::weakly_canonical(directory, error);
  if (error) return ErrnoError("resolve", directory, error.value());
  if (!IsWithin(tree, data) && !IsWithin(data, tree)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "{} and the data directory {} overlap: the signing keys could be published; choose a "
              "directory of its own",
              directory.string(), data_dir.string());
}

// Makes a directory that everyone may read, regardless of the umask.
Status MakePublicDirectory(const Path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {};
  FIELDCOST_TRY(MakeDirectories(path, 0755));
  std::filesystem::permissions(path, std::filesystem::perms(0755), error);
  if (error) return ErrnoError("set mode of", path, error.value());
  return SyncDirectory(path.has_parent_path() ? path.parent_path() : ".");
}

// One attempt to write a publication. REQUIRES: the caller holds the tree's lock.
class TreeWriter {
 public:
  TreeWriter(const StaticTreeOptions& options, WallTime now, PublicationFiles publication)
      : options_(options), now_(SecondsOf(now)), files_(std::move(publication)) {}

  Result<StaticTreeReport> Run();

 private:
  Path At(const std::string& path) const { return options_.directory / path; }
  Status CheckOwner();
  Status MakeFolders() const;
  // Reads which files the tree holds and lists so far.
  Status LoadTree();
  Status PutFragments();
  Status PutFragment(const wire::FragmentReference& fragment);
  Status Put(const std::string& path, const std::string& bytes);
  Status Write(const std::string& path, const std::string& bytes);
  void NoteDone();
  // Writes which of the present files are not listed any more; fills in `due_`.
  Status PutDeletions();
  DeletionList PlanDeletions(const DeletionList& old);
  Status RemoveDue();

  const StaticTreeOptions& options_;
  const std::uint64_t now_;
  const PublicationFiles files_;
  std::set<std::string> listed_;      // by the publication
  std::set<std::string> was_listed_;  // by the tree's present timestamp
  std::vector<std::string> present_;
  std::vector<std::string> due_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  StaticTreeReport report_;
};

Status TreeWriter::CheckOwner() {
  const Path first = At(PathOf(wire::RootVersionPath(1)));
  const auto bytes = ReadFile(first, wire::kMaxMetadataBytes);
  if (!bytes && bytes.error().code != ErrorCode::kNotFound) return bytes.error();
  if (bytes && *bytes != files_.roots.front()) {
    return Fail(ErrorCode::kInvalidArgument,
                "{} is the root of another service; choose another directory, or remove this one",
                first.string());
  }
  const Path path = At(PathOf(wire::kTimestampPath));
  const auto present = ReadFile(path, wire::kMaxMetadataBytes);
  if (!present) return present.error().code == ErrorCode::kNotFound ? Status() : present.error();
  if (*present == files_.timestamp_bytes) return {};
  FIELDCOST_ASSIGN(const std::vector<wire::RootMetadata> roots,
                   KeyRing::AllRoots(options_.data_dir / "publish" / "root"));
  const auto timestamp = VerifyByAny(
      roots, [&](const wire::RootMetadata& root) { return wire::VerifyTimestamp(*present, root); });
  if (!timestamp) {
    return Fail(ErrorCode::kInvalidArgument,
                "{} is damaged, or signed with keys that {} does not know: {}; remove this file if "
                "the data directory is the right one",
                path.string(), options_.data_dir.string(), timestamp.error().message);
  }
  if (timestamp->version >= files_.timestamp.version) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "{} has version {}, which clients may have seen; they would refuse version {} of {}",
        path.string(), timestamp->version, files_.timestamp.version, options_.data_dir.string());
  }
  // Files of the tree's present publication are in use until its timestamp is replaced.
  const std::string snapshot_path = PathOf(wire::SnapshotPath(timestamp->snapshot_sha256));
  const auto snapshot_bytes = ReadFile(At(snapshot_path), wire::kMaxMetadataBytes);
  if (!snapshot_bytes) return {};
  const auto snapshot = VerifyByAny(roots, [&](const wire::RootMetadata& root) {
    return wire::VerifySnapshot(*snapshot_bytes, root);
  });
  if (!snapshot) return {};
  was_listed_.insert(snapshot_path);
  for (const wire::FragmentReference& fragment : snapshot->fragments) {
    was_listed_.insert(PathOf(wire::FragmentPath(fragment.sha256)));
  }
  return {};
}

Status TreeWriter::MakeFolders() const {
  for (const wire::PublicPath& path : wire::kPublicPaths) {
    const Path folder = At(PathOf(path.folder)).parent_path();  // without the final slash
    FIELDCOST_TRY(MakePublicDirectory(folder));
  }
  return {};
}

Status TreeWriter::LoadTree() {
  FIELDCOST_ASSIGN(TreeListing listing, ListTree(options_.directory));
  for (const std::string& path : listing.temporary) {
    std::error_code error;
    std::filesystem::remove(At(path), error);
    if (error) return ErrnoError("remove", At(path), error.value());
  }
  present_ = std::move(listing.files);
  for (const wire::FragmentReference& fragment : files_.snapshot.fragments) {
    listed_.insert(PathOf(wire::FragmentPath(fragment.sha256)));
  }
  listed_.insert(PathOf(wire::SnapshotPath(files_.timestamp.snapshot_sha256)));
  for (std::uint64_t version = 1; version <= files_.root.version; ++version) {
    listed_.insert(PathOf(wire::RootVersionPath(version)));
  }
  listed_.insert(PathOf(wire::kRootPath));
  listed_.insert(PathOf(wire::kTimestampPath));
  if (files_.policy) listed_.insert(PathOf(wire::kPolicyPath));
  total_ = listed_.size();
  return {};
}

void TreeWriter::NoteDone() {
  ++done_;
  if (options_.progress) options_.progress(done_, total_);
}

Status TreeWriter::Write(const std::string& path, const std::string& bytes) {
  FIELDCOST_TRY(WriteFileAtomically(At(path), bytes, 0644));
  ++report_.written;
  report_.bytes_written += bytes.size();
  return {};
}

Status TreeWriter::Put(const std::string& path, const std::string& bytes) {
  const auto present = ReadFile(At(path), std::max(bytes.size(), std::size_t{1}));
  if (!present || *present != bytes) FIELDCOST_TRY(Write(path, bytes));
  NoteDone();
  return {};
}

Status TreeWriter::PutFragment(const wire::FragmentReference& fragment) {
  const std::string path = PathOf(wire::FragmentPath(fragment.sha256));
  const auto present = ReadFile(At(path), static_cast<std::size_t>(fragment.size_bytes));
  if (!present || crypto::Sha256(*present) != fragment.sha256) {
    const Path source = options_.data_dir / "publish" / "fragments" / HexEncode(fragment.sha256);
    FIELDCOST_ASSIGN(const std::string bytes, ReadFile(source, wire::kMaxFragmentBytes));
    if (crypto::Sha256(bytes) != fragment.sha256) {
      return Fail(ErrorCode::kCorrupt,
                  "{}: its name is not the hash of its content; the next publication rewrites it",
                  source.string());
    }
    FIELDCOST_TRY(Write(path, bytes));
  }
  NoteDone();
  return {};
}

Status TreeWriter::PutFragments() {
  std::set<std::string_view> done;  // empty fragments are the same file
  for (const wire::FragmentReference& fragment : files_.snapshot.fragments) {
    if (done.insert(fragment.sha256).second) FIELDCOST_TRY(PutFragment(fragment));
  }
  return {};
}

DeletionList TreeWriter::PlanDeletions(const DeletionList& old) {
  DeletionList planned;
  for (const std::string& path : present_) {
    if (listed_.contains(path)) continue;
    const auto known = old.find(path);
    // A file that the present timestamp still lists begins its time now.
    const bool is_waiting = known != old.end() && !was_listed_.contains(path);
    const std::uint64_t at = std::min(is_waiting ? known->second : now_ + kLifetime,
                                      now_ + kLifetime);  // also if the clock was ahead
    planned.emplace(path, at);
    if (at <= now_) {
      due_.push_back(path);
    } else {
      ++report_.waiting;
    }
  }
  // Those that are deleted here stay in the list for the copies that others keep.
  for (const auto& [path, at] : old) {
    if (planned.size() >= kMaxDeletions) break;
    if (!listed_.contains(path) && at <= now_ && at + kLifetime > now_) planned.emplace(path, at);
  }
  return planned;
}

Status TreeWriter::PutDeletions() {
  const Path path = At(kDeletionsFile);
  DeletionList old;
  const auto untrusted_text = ReadFile(path, kMaxDeletionsBytes);
  if (!untrusted_text && untrusted_text.error().code != ErrorCode::kNotFound) {
    return untrusted_text.error();
  }
  if (untrusted_text) {
    auto parsed = ParseDeletions(*untrusted_text);
    if (parsed) {
      old = std::move(*parsed);
    } else {
      LogWarning("{} is damaged and begun anew, so old files stay longer: {}", path.string(),
                 parsed.error().message);
    }
  }
  const DeletionList planned = PlanDeletions(old);
  if (planned.size() > kMaxDeletions) {
    return Fail(ErrorCode::kTooLarge,
                "more than {} files of {} wait for their deletion: write the tree less often",
                kMaxDeletions, options_.directory.string());
  }
  const std::string text = EncodeDeletions(planned);
  if (untrusted_text && *untrusted_text == text) return {};
  return WriteFileAtomically(path, text, 0644);
}

Status TreeWriter::RemoveDue() {
  for (const std::string& path : due_) {
    std::error_code error;
    std::filesystem::remove(At(path), error);
    if (error) {
      return Within(ErrnoError("remove", At(path), error.value()),
                    "the tree is complete, but an old file stays");
    }
    ++report_.deleted;
  }
  return {};
}

Result<StaticTreeReport> TreeWriter::Run() {
  FIELDCOST_TRY(CheckOwner());
  FIELDCOST_TRY(MakeFolders());
  FIELDCOST_TRY(LoadTree());
  // Each file follows those that it refers to; the timestamp is last.
  FIELDCOST_TRY(PutFragments());
  FIELDCOST_TRY(
      Put(PathOf(wire::SnapshotPath(files_.timestamp.snapshot_sha256)), files_.snapshot_bytes));
  FIELDCOST_TRY(PutDeletions());
  for (std::uint64_t version = 1; version <= files_.root.version; ++version) {
    FIELDCOST_TRY(Put(PathOf(wire::RootVersionPath(version)), files_.roots[version - 1]));
  }
  FIELDCOST_TRY(Put(PathOf(wire::kRootPath), files_.roots.back()));
  if (files_.policy) FIELDCOST_TRY(Put(PathOf(wire::kPolicyPath), *files_.policy));
  FIELDCOST_TRY(Put(PathOf(wire::kTimestampPath), files_.timestamp_bytes));
  FIELDCOST_TRY(RemoveDue());
  report_.version = files_.snapshot.version;
  report_.root_version = files_.root.version;
  report_.files = total_;
  return report_;
}

}  // namespace

Result<StaticTreeReport> WriteStaticTree(const StaticTreeOptions& options, const Clock& clock) {
  FIELDCOST_TRY(CheckApart(options.data_dir, options.directory));
  FIELDCOST_ASSIGN(PublicationFiles publication, LoadPublication(options.data_dir));
  FIELDCOST_TRY(MakePublicDirectory(options.directory));
  const UniqueFd lock(::open(options.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) return ErrnoError("open", options.directory, errno);
  FIELDCOST_ASSIGN(const bool is_ours,
                   LockWithin(lock.get(), options.directory, std::chrono::milliseconds(0)));
  if (!is_ours) {
    return Fail(ErrorCode::kAlreadyExists, "another publish --to is writing {}",
                options.directory.string());
  }
  for (int attempt = 1;; ++attempt) {
    const WallTime now = clock.Now();
    if (publication.timestamp.expires <= now || publication.snapshot.expires <= now) {
      return Fail(ErrorCode::kNotFound,
                  "version {}, the newest publication of {}, has expired ({}), so clients would "
                  "refuse it; publish first",
                  publication.snapshot.version, options.data_dir.string(),
                  Rfc3339Text(publication.timestamp.expires));
    }
    const std::string timestamp = publication.timestamp_bytes;
    auto report = TreeWriter(options, now, std::move(publication)).Run();
    if (report || attempt == kAttempts) return report;
    // The server removes a file only after it has published newer ones.
    FIELDCOST_ASSIGN(publication, LoadPublication(options.data_dir));
    if (publication.timestamp_bytes == timestamp) return report;
  }
}

}  // namespace fieldcost::publish
