// Rows that wait for their fragments, as records of the temporary file (spill.cc):
//
//   record := Head key[key_bytes] value[value_bytes] ; as in store/store_row_codec.cc
//   Head   := hash:u32 key_bytes:u32 value_bytes:u32 fullest_quarter   ; as in memory
#include "aggregator/publish/fragment_writer.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <system_error>
#include <thread>
#include <type_traits>

#include "aggregator/publish/publish_limits.h"
#include "aggregator/publish/row_shares.h"
#include "aggregator/publish/spill.h"
#include "aggregator/store/store_row_codec.h"
#include "common/base/file.h"
#include "common/base/mutex.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/shm/mix.h"
#include "common/wire/fragment.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::publish {
namespace {

using Path = std::filesystem::path;

constexpr unsigned kHashBits = wire::kMaxFragmentBits;
constexpr std::size_t kReaders = 2;  // parts of the store that are read concurrently
constexpr std::size_t kPartitions = std::size_t{1} << kSpillBits;
static_assert(kSpillBits <= kHashBits);

// Permanently gives the calling thread the lowest priority for processor and disk. If that is not
// permitted, the thread keeps its priority.
void SetIdlePriority() {
  // glibc has no names for these: IOPRIO_WHO_PROCESS with 0 is the calling thread, and
  // IOPRIO_CLASS_IDLE.
  constexpr int kWhoProcess = 1;
  constexpr int kIdleClass = 3 << 13;
  constexpr int kLowestPriority = 19;
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kLowestPriority);
  (void)::syscall(SYS_ioprio_set, kWhoProcess, 0, kIdleClass);
}

// Starts a thread of idle priority; none if the system cannot start more.
template <typename Work>
std::thread StartIdleThread(const Work& work) {
  try {
    return std::thread([&work] {
      SetIdlePriority();
      work();
    });
  } catch (const std::system_error&) {
    return {};
  }
}

// Calls `work` for every index below `count`, in this thread (worker 0) and another one (1); the
// first failure ends it and is returned.
Status InParallel(std::size_t count,
                  const std::function<Status(std::size_t index, std::size_t worker)>& work) {
  Mutex mutex;  // of `failure`
  std::atomic<std::size_t> next{0};
  Status failure;
  const auto run = [&](std::size_t worker) {
    for (std::size_t index = next++; index < count; index = next++) {
      Status status = work(index, worker);
      if (status) continue;
      next = count;
      const MutexLock lock(mutex);
      failure = std::move(status);
      return;
    }
  };
  const auto help = [&] { run(1); };
  std::thread helper = count > 1 ? StartIdleThread(help) : std::thread();
  run(0);
  if (helper.joinable()) helper.join();
  return failure;
}

// Precedes a row in the temporary file. The week's scalars have the form of memory, since only this
// process reads the file.
struct Head {
  std::uint32_t hash = 0;  // the first kHashBits bits of its API's hash
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  stats::QuarterScalars fullest_quarter;
};
static_assert(std::is_trivially_copyable_v<Head>);

// The records of one fragment as read from the temporary file, one after the other.
struct RawRows {
  std::string bytes;
  std::size_t count = 0;
};

// Decodes into `rows`. Callers reuse it for each fragment, since rows are large.
Status DecodeRows(const RawRows& raw, std::vector<stats::StatRow>& rows) {
  rows.resize(raw.count);
  store::CompactRow sums;
  std::string_view rest = raw.bytes;
  for (stats::StatRow& row : rows) {
    Head head;
    std::memcpy(&head, rest.data(), sizeof head);
    rest.remove_prefix(sizeof head);
    FIELDCOST_TRY(store::DecodeRowKey(rest.substr(0, head.key_bytes), row.key));
    rest.remove_prefix(head.key_bytes);
    FIELDCOST_TRY(store::DecodeRowValue(rest.substr(0, head.value_bytes), sums));
    rest.remove_prefix(head.value_bytes);
    row.histogram.Clear();
    row.weights = {};
    for (const store::CompactBucket& bucket : sums.buckets) {
      row.histogram.SetBucket(bucket.slot, bucket.sums);
      row.weights.slots[bucket.slot] = bucket.weight();
    }
    row.histogram.SetUntimed(sums.untimed);
    row.scalars = sums.scalars;
    row.fullest_quarter = head.fullest_quarter;
    row.bounded = sums.sizes.Bounded();
  }
  const auto by_key = [](const auto& a, const auto& b) { return a.key < b.key; };
  // If a fragment consists of several partitions, their rows follow one another.
  if (!std::is_sorted(rows.begin(), rows.end(), by_key)) {
    std::sort(rows.begin(), rows.end(), by_key);
  }
  return {};
}

// The claim of a row, given by its key, the key's bytes and its parts.
RowClaim ClaimOf(const stats::RowKey& key, std::string_view key_bytes, std::uint64_t agents) {
  const stats::ApiKey& api = key.api;
  return {
      .library = api.soname,
      .api = api.symbol,
      .version = fmt::format("{}\n{}\n{}", api.package_version, api.build_id, api.symbol_version),
      .is_of_class = key.hardware != stats::HardwareClass{},
      .agents = agents,
      .tie_hash = shm::HashBytes(key_bytes.data(), key_bytes.size())};
}

// Appends keys, evenly spaced, of the library that claims the most rows: its contributors have
// filled the fragment. REQUIRES: as many keys as claims.
void SampleFullest(const std::vector<RowClaim>& claims, const std::vector<stats::RowKey>& keys,
                   std::vector<stats::RowKey>& sample) {
  std::map<std::string_view, std::vector<std::size_t>> rows_of;
  for (std::size_t i = 0; i < claims.size(); ++i) rows_of[claims[i].library].push_back(i);
  const auto fullest = std::ranges::max_element(
      rows_of, {}, [](const auto& library) { return library.second.size(); });
  const std::vector<std::size_t>& rows = fullest->second;
  const std::size_t step = rows.size() / kCrowdingSample + 1;
  for (std::size_t i = 0; i < rows.size(); i += step) sample.push_back(keys[rows[i]]);
}

// Keeps `count` rows, chosen by ChooseRows(), and samples the rows that have filled the fragment.
// (Omitting rows of classes never reveals more; see collapse.h.)
Status KeepBest(std::size_t count, RawRows& raw, std::vector<stats::RowKey>& sample) {
  if (raw.count <= count) return {};
  std::vector<RowClaim> claims;
  std::vector<stats::RowKey> keys;
  std::vector<std::string_view> records;
  store::CompactRow sums;
  for (std::string_view rest = raw.bytes; !rest.empty();) {
    Head head;
    std::memcpy(&head, rest.data(), sizeof head);
    const std::string_view key_bytes = rest.substr(sizeof head, head.key_bytes);
    const std::size_t value_at = sizeof head + head.key_bytes;
    FIELDCOST_TRY(store::DecodeRowKey(key_bytes, keys.emplace_back()));
    FIELDCOST_TRY(store::DecodeRowValue(rest.substr(value_at, head.value_bytes), sums));
    claims.push_back(ClaimOf(keys.back(), key_bytes, sums.scalars.contributions));
    records.push_back(rest.substr(0, value_at + head.value_bytes));
    rest.remove_prefix(value_at + head.value_bytes);
  }
  if (sample.empty()) SampleFullest(claims, keys, sample);
  RawRows kept{.count = count};
  for (const std::size_t index : ChooseRows(claims, count)) kept.bytes.append(records[index]);
  raw = std::move(kept);
  return {};
}

// Encodes the rows that fit. Agents choose the names, so they could fill a fragment until it, and
// with it the whole catalogue, cannot be published. Therefore rows that do not fit are left out,
// and some of those that crowd the fragment are sampled.
Result<std::string> EncodeWhatFits(RawRows& raw, std::vector<stats::StatRow>& rows,
                                   std::vector<stats::RowKey>& sample) {
  FIELDCOST_TRY(KeepBest(kMaxRowsOfFragment, raw, sample));
  for (;;) {
    FIELDCOST_TRY(DecodeRows(raw, rows));
    auto bytes = wire::EncodeFragment(rows);
    if (bytes || bytes.error().code != ErrorCode::kTooLarge || raw.count < 2) return bytes;
    FIELDCOST_TRY(KeepBest(raw.count / 2, raw, sample));
  }
}

Status WriteUnsynced(const Path& path, std::string_view bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return ErrnoError("create", path, errno);
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return ErrnoError("write", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  // Readable for everyone, regardless of the umask.
  if (::fchmod(fd.get(), 0644) != 0) return ErrnoError("set mode of", path, errno);
  (void)::sync_file_range(fd.get(), 0, 0, SYNC_FILE_RANGE_WRITE);  // only starts; fsync() follows
  return {};
}

class FragmentWriter {
 public:
  explicit FragmentWriter(const FragmentWriterOptions& options) : options_(options) {}

  Result<WrittenFragments> Run(const store::Store::Snapshot& snapshot) {
    FIELDCOST_TRY(PutAllAside(snapshot));
    written_.bits = ChooseFragmentBits(written_.counts.published, options_.previous);
    written_.fragments.resize(std::size_t{1} << written_.bits);
    std::vector<std::uint64_t> rows_of(written_.fragments.size());
    for (const Part& part : parts_) {
      for (std::size_t hash = 0; hash < part.rows_of_hash.size(); ++hash) {
        rows_of[hash >> (kHashBits - written_.bits)] += part.rows_of_hash[hash];
      }
    }
    for (std::size_t first = 0; first < rows_of.size();) {
      // As many fragments as fit into memory together, but at least one.
      std::uint64_t rows = rows_of[first];
      std::size_t end = first + 1;
      while (end < rows_of.size() && rows + rows_of[end] <= options_.rows_per_pass) {
        rows += rows_of[end++];
      }
      FIELDCOST_TRY(WriteGroup(first, end));
      first = end;
    }
    return std::move(written_);
  }

 private:
  // A range of the snapshot's rows, and those of its rows that wait for their fragments.
  struct Part {
    Part(store::Store::Snapshot::RowRange rows, Spill file)
        : range(std::move(rows)), spill(std::move(file)) {}
    store::Store::Snapshot::RowRange range;
    Spill spill;
    std::vector<std::uint64_t> rows_of_hash =
        std::vector<std::uint64_t>(std::size_t{1} << kHashBits);
    CollapseCounts counts;
  };
  Status PutAllAside(const store::Store::Snapshot& snapshot);
  Status PutAside(const store::Store::Snapshot& snapshot, Part& part) const;
  Status WriteGroup(std::size_t first, std::size_t end);
  Status WriteOne(std::size_t index, RawRows& raw, std::vector<stats::StatRow>& rows);
  Status MakeDurable();

  const FragmentWriterOptions& options_;
  std::vector<Part> parts_;                          // ascending
  std::array<std::vector<stats::StatRow>, 2> rows_;  // the fragment of each worker
  WrittenFragments written_;
  Mutex mutex_;
  std::vector<Path> unnamed_ FIELDCOST_GUARDED_BY(mutex_);  // written under temporary names
};

// Reads the store with one thread per part: this one and a helper.
Status FragmentWriter::PutAllAside(const store::Store::Snapshot& snapshot) {
  for (store::Store::Snapshot::RowRange& range : snapshot.Split(kReaders)) {
    FIELDCOST_ASSIGN(Spill spill, Spill::Create(options_.directory, kPartitions));
    parts_.emplace_back(std::move(range), std::move(spill));
  }
  const Status status = InParallel(parts_.size(), [&](std::size_t index, std::size_t) {
    return PutAside(snapshot, parts_[index]);
  });
  for (const Part& part : parts_) {
    written_.counts.published += part.counts.published;
    written_.counts.withheld += part.counts.withheld;
    written_.counts.unsound += part.counts.unsound;
    written_.counts.left_out += part.counts.left_out;
    for (const stats::RowKey& key : part.counts.inconsistent) {
      written_.counts.inconsistent.push_back(key);
    }
  }
  return status;
}

Status FragmentWriter::PutAside(const store::Store::Snapshot& snapshot, Part& part) const {
  std::string record;
  stats::ApiKey last;
  Head head;
  FIELDCOST_ASSIGN(
      part.counts,
      Collapse(snapshot, part.range, options_.contribution_threshold,
               [&](const stats::RowKey& key, const store::CompactRow& row,
                   const stats::QuarterScalars& fullest_quarter) {
                 if (key.api.symbol != last.symbol || key.api.soname != last.soname) {
                   last = key.api;
                   head.hash = wire::FragmentIndexOf(last.soname, last.symbol, kHashBits);
                 }
                 head.fullest_quarter = fullest_quarter;
                 record.assign(sizeof head, '\0');
                 store::AppendRowKey(key, record);
                 head.key_bytes = static_cast<std::uint32_t>(record.size() - sizeof head);
                 store::AppendRowValue(row, record);
                 head.value_bytes =
                     static_cast<std::uint32_t>(record.size() - sizeof head - head.key_bytes);
                 std::memcpy(record.data(), &head, sizeof head);
                 ++part.rows_of_hash[head.hash];
                 return part.spill.Append(head.hash >> (kHashBits - kSpillBits), record);
               }));
  return {};
}

Status FragmentWriter::WriteGroup(std::size_t first, std::size_t end) {
  const unsigned shift = kHashBits - written_.bits;
  std::vector<RawRows> raw(end - first);
  for (std::size_t partition = (first << shift) >> (kHashBits - kSpillBits);
       partition <= ((end << shift) - 1) >> (kHashBits - kSpillBits); ++partition) {
    for (Part& part : parts_) {
      FIELDCOST_TRY(part.spill.ForEach(partition, [&](std::string_view record) -> Status {
        Head head;
        std::memcpy(&head, record.data(), sizeof head);
        const std::size_t index = head.hash >> shift;
        if (index < first || index >= end) return {};
        raw[index - first].bytes.append(record);
        ++raw[index - first].count;
        return {};
      }));
    }
  }
  const auto write = [&](std::size_t index, std::size_t worker) -> Status {
    FIELDCOST_TRY(WriteOne(first + index, raw[index], rows_[worker]));
    raw[index] = {};
    return {};
  };
  FIELDCOST_TRY(InParallel(raw.size(), write));
  return MakeDurable();
}

Status FragmentWriter::WriteOne(std::size_t index, RawRows& raw,
                                std::vector<stats::StatRow>& rows) {
  const std::size_t all = raw.count;
  std::vector<stats::RowKey> sample;
  FIELDCOST_ASSIGN(const std::string bytes, EncodeWhatFits(raw, rows, sample));
  wire::FragmentReference& reference = written_.fragments[index];
  reference = {.sha256 = crypto::Sha256(bytes), .size_bytes = bytes.size(), .row_count = raw.count};
  const std::string hex = HexEncode(reference.sha256);
  if (raw.count != all) {
    const MutexLock lock(mutex_);
    written_.crowded_out += all - raw.count;
    for (stats::RowKey& key : sample) {
      if (written_.crowding.size() < kMaxCrowdingSample) {
        written_.crowding.push_back(std::move(key));
      }
    }
  }
  const Path path = options_.directory / "fragments" / hex;
  // Compares the bytes, not only the size, since the disk may have damaged the file.
  if (const auto known = ReadFile(path, wire::kMaxFragmentBytes); known && *known == bytes) {
    return {};
  }
  // Both threads may write fragments with the same bytes (empty ones), so each needs its own name.
  Path unnamed = path;
  unnamed += fmt::format(".{}", index);
  FIELDCOST_TRY(WriteUnsynced(unnamed, bytes));
  const MutexLock lock(mutex_);
  unnamed_.push_back(std::move(unnamed));
  return {};
}

// When the first file of a group is synced, all of them are already being written, so that few
// flushes of the disk are needed. Only after that do they get the names under which they are
// trusted. (syncfs() would also write the temporary files and the store's, while batches wait for
// their own syncs.)
Status FragmentWriter::MakeDurable() {
  const MutexLock lock(mutex_);
  if (unnamed_.empty()) return {};
  const Path directory = options_.directory / "fragments";
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("open", directory, errno);
  for (const Path& unnamed : unnamed_) {
    const UniqueFd file(::open(unnamed.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.valid()) return ErrnoError("open", unnamed, errno);
    if (::fsync(file.get()) != 0) return ErrnoError("sync", unnamed, errno);
  }
  for (const Path& unnamed : unnamed_) {
    const Path path = directory / unnamed.stem();
    const bool is_new = !std::filesystem::exists(path);
    if (::rename(unnamed.c_str(), path.c_str()) != 0) return ErrnoError("rename to", path, errno);
    if (is_new) ++written_.new_fragments;
  }
  unnamed_.clear();
  if (::fsync(fd.get()) != 0) return ErrnoError("sync", directory, errno);
  return {};
}

}  // namespace

Result<WrittenFragments> WriteFragments(const store::Store::Snapshot& snapshot,
                                        const FragmentWriterOptions& options) {
  FragmentWriter writer(options);
  Result<WrittenFragments> written = WrittenFragments();
  const auto run = [&] { written = writer.Run(snapshot); };
  std::thread worker = StartIdleThread(run);
  if (!worker.joinable()) return Fail(ErrorCode::kUnavailable, "publishing: cannot start a thread");
  worker.join();
  return written;
}

}  // namespace fieldcost::publish
