#include "common/catalog/catalog_sync.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/base/time_text.h"
#include "common/catalog/catalog_schema.h"
#include "common/catalog/metadata_update.h"
#include "common/catalog/name_search.h"
#include "common/catalog/rotation.h"
#include "common/catalog/witness.h"
#include "common/crypto/random.h"
#include "common/wire/fragment.h"

namespace fieldcost::catalog {
namespace {

constexpr std::size_t kMaxResponseBytes =
    std::max(wire::kMaxMetadataBytes, wire::kMaxFragmentBytes);

// Free space that a sync leaves on the disk at least, apart from what it fetches.
constexpr std::uint64_t kSpareBytes = kMiB;

// Size of a rebuilt search index in the log (measured with a million names of 26 characters). It
// reuses the file's pages.
constexpr std::uint64_t kSearchBytesPerApi = 100;

std::int64_t DayOf(WallTime time) {
  return std::chrono::floor<std::chrono::days>(time).time_since_epoch().count();
}

// Allows one syncing process at a time; a second one gets an error. The descriptor holds the lock.
Result<UniqueFd> LockForSync(const std::filesystem::path& catalog_file) {
  FIELDCOST_TRY(MakeDirectories(catalog_file.parent_path(), 0755));
  std::filesystem::path lock_file = catalog_file;
  lock_file += ".sync-lock";
  UniqueFd lock(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return ErrnoError("open", lock_file, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return ErrnoError("lock", lock_file, errno);
    return Fail(ErrorCode::kUnavailable, "another sync of {} is running", catalog_file.string());
  }
  return lock;
}

struct WantedFragment {
  std::string sha256;
  std::uint64_t size_bytes = 0;
};

// A fragment to be fetched.
struct Step {
  std::uint32_t fragment = 0;
  std::optional<std::uint64_t> next_cursor;  // afterwards, if it belongs to the day's share
};

// The servers of a sync.
struct Sources {
  Mirrors& mirrors;
  MirrorConnection& first;
  const http::ClientOptions& options;
  StopSignal& stop;
};

std::string NameOf(std::uint32_t fragment) { return fmt::format("fragment {}", fragment); }

// A sync in progress.
class Syncer {
 public:
  Syncer(const SyncOptions& options, const Clock& clock, sqlite::Database database, SyncState state)
      : options_(options),
        clock_(clock),
        today_(DayOf(clock.Now())),
        database_(std::move(database)),
        state_(std::move(state)) {}

  Result<SyncReport> Run();

 private:
  Result<SyncReport> Fetch();
  // Stores the outcome, on top of what was stored before: progress of a failed fragment is dropped.
  Status NoteOutcome(const Result<SyncReport>& outcome);
  Status CheckRoom(const std::vector<Step>& steps) const;
  Status AdoptSnapshot(const wire::SnapshotMetadata& snapshot);
  Result<std::vector<bool>> Stale() const;
  Result<std::optional<wire::SnapshotMetadata>> Update(MirrorConnection& mirror);
  Status FetchAll(const Sources& sources);
  // Decodes a fragment, and verifies that its rows belong to it.
  Result<std::vector<stats::StatRow>> Decode(std::uint32_t fragment,
                                             const std::string& untrusted_bytes) const;
  Result<std::vector<ParallelDownload::File>> FilesOf(const std::vector<Step>& steps) const;
  Status FetchAndStore(const std::vector<Step>& steps, ParallelDownload& download);
  // Returns the error of an outcome that is one, after keeping what was received.
  Status StoreFetched(std::uint32_t fragment, ParallelDownload::Outcome outcome);
  Status Store(std::uint32_t fragment, const WantedFragment& wanted,
               const std::vector<stats::StatRow>& rows);
  Result<WantedFragment> Wanted(std::uint32_t fragment) const;
  Result<std::uint32_t> FragmentOfWantedApi() const;
  Status SaveProgress();
  // Makes what was stored by this or an interrupted sync known to searches.
  Status Rank();
  // Adds the current snapshot to the witness file, if one is wanted.
  Status AddToWitness();

  const SyncOptions& options_;
  const Clock& clock_;
  const std::int64_t today_;
  sqlite::Database database_;
  SyncState state_;
  SyncReport report_;
  std::uint32_t steps_total_ = 0;
};

Status Syncer::AdoptSnapshot(const wire::SnapshotMetadata& snapshot) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  FIELDCOST_ASSIGN(const std::uint64_t known, database_.QueryInt("SELECT count(*) FROM fragments"));
  if (static_cast<std::size_t>(known) != snapshot.fragments.size()) {
    // The number of fragments has changed. Rows stay, found by their hash, until the fragment that
    // covers them arrives.
    FIELDCOST_TRY(database_.Execute("DELETE FROM fragments"));
  }
  sqlite::Statement upsert = database_.Prepare(
      "INSERT INTO fragments (fragment, wanted_sha256, wanted_bytes) VALUES (?1, ?2, ?3) "
      "ON CONFLICT (fragment) DO UPDATE SET wanted_sha256 = ?2, wanted_bytes = ?3");
  for (std::size_t i = 0; i < snapshot.fragments.size(); ++i) {
    const wire::FragmentReference& reference = snapshot.fragments[i];
    if (reference.size_bytes > wire::kMaxFragmentBytes) {
      return Fail(ErrorCode::kTooLarge, "fragment {} has {} bytes", i, reference.size_bytes);
    }
    upsert.Int(static_cast<std::uint64_t>(i))
        .Blob(reference.sha256)
        .Int(static_cast<std::uint64_t>(reference.size_bytes));
    FIELDCOST_TRY(upsert.Run());
  }
  FIELDCOST_TRY(RemoveOldParts(database_));
  state_.fragment_bits = snapshot.fragment_bits;
  FIELDCOST_TRY(SaveState(database_, state_));
  return transaction.Commit();
}

Result<std::vector<bool>> Syncer::Stale() const {
  sqlite::Statement select = database_.Prepare(
      "SELECT fragment, sha256 IS NOT wanted_sha256 "
      "FROM fragments ORDER BY fragment");
  std::vector<bool> stale(std::size_t{1} << state_.fragment_bits, true);
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) return stale;
    stale.at(static_cast<std::size_t>(select.ColumnInt(0))) = select.ColumnInt(1) != 0;
  }
}

Result<WantedFragment> Syncer::Wanted(std::uint32_t fragment) const {
  sqlite::Statement select = database_.Prepare(
      "SELECT wanted_sha256, wanted_bytes FROM fragments "
      "WHERE fragment = ?1");
  select.Int(fragment);
  FIELDCOST_TRY(select.Step());
  return WantedFragment{select.ColumnText(0), select.ColumnInt(1)};
}

Result<std::uint32_t> Syncer::FragmentOfWantedApi() const {
  const std::string_view name = options_.wanted_api;
  const std::size_t mark = name.find('!');
  if (mark == 0 || mark == std::string_view::npos || mark + 1 == name.size()) {
    return Fail(ErrorCode::kInvalidArgument, "'{}' is not of the form soname!symbol", name);
  }
  return wire::FragmentIndexOf(name.substr(0, mark), name.substr(mark + 1), state_.fragment_bits);
}

Result<std::vector<stats::StatRow>> Syncer::Decode(std::uint32_t fragment,
                                                   const std::string& untrusted_bytes) const {
  const std::string what = NameOf(fragment);
  auto rows = wire::DecodeFragment(untrusted_bytes);
  if (!rows) return Within(rows.error(), what);
  for (const stats::StatRow& row : *rows) {
    const stats::ApiKey& api = row.key.api;
    if (wire::FragmentIndexOf(api.soname, api.symbol, state_.fragment_bits) != fragment) {
      return Fail(ErrorCode::kCorrupt, "{} holds {}, which belongs to another fragment", what,
                  stats::DisplayName(api));
    }
  }
  return rows;
}

Status Syncer::StoreFetched(std::uint32_t fragment, ParallelDownload::Outcome outcome) {
  FIELDCOST_ASSIGN(const WantedFragment wanted, Wanted(fragment));
  if (!outcome.bytes) {
    // Only saves a download: a full disk must not hide why the sync has failed.
    const Status kept = SavePart(database_, wanted.sha256, outcome.untrusted_part);
    const Error& why = outcome.bytes.error();
    if (kept) return why;
    return Fail(why.code, "{}; the part that was received could not be kept: {}", why.message,
                kept.error().message);
  }
  report_.bytes_fetched += outcome.bytes->size();
  FIELDCOST_ASSIGN(const std::vector<stats::StatRow> rows, Decode(fragment, *outcome.bytes));
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  FIELDCOST_TRY(Store(fragment, wanted, rows));
  FIELDCOST_TRY(SaveState(database_, state_));
  FIELDCOST_TRY(transaction.Commit());
  ++report_.fragments_fetched;
  if (options_.progress) options_.progress(report_.fragments_fetched, steps_total_);
  return {};
}

Result<std::vector<ParallelDownload::File>> Syncer::FilesOf(const std::vector<Step>& steps) const {
  FIELDCOST_ASSIGN(auto parts, LoadParts(database_));
  std::vector<ParallelDownload::File> files;
  for (const Step& step : steps) {
    FIELDCOST_ASSIGN(const WantedFragment wanted, Wanted(step.fragment));
    std::string part = std::move(parts[wanted.sha256]);
    if (part.size() > wanted.size_bytes) part.clear();
    files.push_back({.file = {.path = wire::FragmentPath(wanted.sha256),
                              .size_bytes = wanted.size_bytes,
                              .sha256 = wanted.sha256,
                              .what = NameOf(step.fragment),
                              .named_by = "snapshot"},
                     .untrusted_part = std::move(part)});
  }
  return files;
}

Status Syncer::FetchAndStore(const std::vector<Step>& steps, ParallelDownload& download) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    ParallelDownload::Outcome outcome = download.Next();
    // Progress is stored with the fragment: if that fails, this sync ends and forgets it.
    const SyncState before = state_;
    if (steps[i].next_cursor) {
      state_.cursor = *steps[i].next_cursor;
      ++state_.share_done;
    }
    const bool was_fetched = outcome.bytes.has_value();
    const Status stored = StoreFetched(steps[i].fragment, std::move(outcome));
    if (stored) continue;
    if (was_fetched) {
      download.Stop();
      return stored;
    }
    // The files that other connections fetch are stored and belong to today's share, but the next
    // sync begins with the one that failed.
    download.Finish();
    state_ = before;
    for (++i; i < steps.size(); ++i) {
      auto left = download.Left(i);
      if (!left) continue;
      const bool has_come = left->bytes.has_value();
      if (has_come && steps[i].next_cursor) ++state_.share_done;
      if (!StoreFetched(steps[i].fragment, std::move(*left)) && has_come) break;
    }
    return stored;
  }
  return {};
}

// Replaces everything that hashes into the fragment's range, regardless of its original fragment.
Status Syncer::Store(std::uint32_t fragment, const WantedFragment& wanted,
                     const std::vector<stats::StatRow>& rows) {
  using Name = std::pair<std::string_view, std::string_view>;  // symbol, soname
  const auto name_of = [](const stats::StatRow* row) {
    return Name(row->key.api.symbol, row->key.api.soname);
  };
  std::vector<const stats::StatRow*> by_name;
  for (const stats::StatRow& row : rows) by_name.push_back(&row);
  std::stable_sort(by_name.begin(), by_name.end(),
                   [&](const auto* a, const auto* b) { return name_of(a) < name_of(b); });

  const unsigned shift = wire::kMaxFragmentBits - state_.fragment_bits;
  sqlite::Statement remove = database_.Prepare("DELETE FROM apis WHERE hash BETWEEN ?1 AND ?2");
  sqlite::Statement insert = database_.Prepare(
      "INSERT INTO apis (symbol, soname, hash, row_count, total, rows) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  sqlite::Statement mark =
      database_.Prepare("UPDATE fragments SET sha256 = ?2, fetched_day = ?3 WHERE fragment = ?1");
  const std::uint64_t first = std::uint64_t{fragment} << shift;
  const std::uint64_t last = ((std::uint64_t{fragment} + 1) << shift) - 1;
  sqlite::Statement count = database_.Prepare(
      "SELECT count(*), coalesce(sum(row_count), 0) FROM apis WHERE hash BETWEEN ?1 AND ?2");
  FIELDCOST_TRY(count.Int(first).Int(last).Step());
  state_.is_ranked = false;
  state_.api_count -= std::min(state_.api_count, count.ColumnInt(0));
  state_.row_count -= std::min(state_.row_count, count.ColumnInt(1));
  FIELDCOST_TRY(remove.Int(first).Int(last).Run());
  std::vector<stats::StatRow> group;
  for (auto begin = by_name.begin(); begin != by_name.end();) {
    group.clear();
    auto end = begin;
    while (end != by_name.end() && name_of(*end) == name_of(*begin)) group.push_back(**end++);
    const auto [symbol, soname] = name_of(*begin);
    FIELDCOST_ASSIGN(const std::string encoded, wire::EncodeFragment(group));
    FIELDCOST_TRY(insert.Text(symbol)
                      .Text(soname)
                      .Int(wire::FragmentIndexOf(soname, symbol, wire::kMaxFragmentBits))
                      .Int(static_cast<std::uint64_t>(group.size()))
                      .Int(TotalColumn(group))
                      .Blob(encoded)
                      .Run());
    ++state_.api_count;
    state_.row_count += group.size();
    begin = end;
  }
  FIELDCOST_TRY(database_.Prepare("DELETE FROM parts WHERE sha256 = ?1").Blob(wanted.sha256).Run());
  return mark.Int(fragment).Blob(wanted.sha256).Int(static_cast<std::uint64_t>(today_)).Run();
}

// Fails before anything is fetched rather than in the middle. Everything is written twice: to the
// write-ahead log, and then to the file.
Status Syncer::CheckRoom(const std::vector<Step>& steps) const {
  std::uint64_t needed_bytes = kSpareBytes;
  if (!steps.empty()) needed_bytes += kSearchBytesPerApi * state_.api_count;
  for (const Step& step : steps) {
    FIELDCOST_ASSIGN(const WantedFragment wanted, Wanted(step.fragment));
    needed_bytes += 2 * wanted.size_bytes;
  }
  std::error_code error;
  const auto room = std::filesystem::space(options_.catalog_file.parent_path(), error);
  if (error || room.available >= needed_bytes) return {};
  return Fail(ErrorCode::kIo,
              "fetch {} fragments: {} has {} KiB free, at least {} KiB are needed; free some space",
              steps.size(), options_.catalog_file.parent_path().string(), room.available / kKiB,
              needed_bytes / kKiB);
}

Result<std::optional<wire::SnapshotMetadata>> Syncer::Update(MirrorConnection& mirror) {
  for (;;) {
    auto snapshot = UpdateMetadata(mirror, database_, state_, options_.root_file, clock_.Now());
    if (snapshot || !IsOfMirror(snapshot.error())) return snapshot;
    FIELDCOST_TRY(mirror.SkipMirror(snapshot.error()));
  }
}

Status Syncer::FetchAll(const Sources& sources) {
  FIELDCOST_ASSIGN(std::vector<bool> stale, Stale());
  const auto count = static_cast<std::uint32_t>(stale.size());
  const std::vector<std::uint32_t> order = FragmentOrder(state_.seed, count);

  std::vector<Step> wanted;
  if (!options_.wanted_api.empty()) {
    FIELDCOST_ASSIGN(const std::uint32_t fragment, FragmentOfWantedApi());
    if (stale[fragment]) wanted.push_back({.fragment = fragment, .next_cursor = {}});
    stale[fragment] = false;
  }
  if (state_.share_day != today_) {
    state_.share_day = today_;
    state_.share_done = 0;
  }
  const std::uint64_t share =
      options_.fragments_per_day != 0 ? options_.fragments_per_day : DefaultShare(count);
  std::uint64_t limit = share > state_.share_done ? share - state_.share_done : 0;
  if (state_.share_complete_day == today_) limit = 0;
  // The first sync fetches everything, since a part of a catalogue misleads.
  if (options_.full || !state_.is_complete) limit = count;
  const std::vector<std::uint32_t> positions = NextStale(order, stale, state_.cursor, limit);

  std::vector<Step> steps = std::move(wanted);
  for (const std::uint32_t position : positions) {
    steps.push_back(
        {.fragment = order[position], .next_cursor = (std::uint64_t{position} + 1) % count});
  }
  steps_total_ = static_cast<std::uint32_t>(steps.size());
  FIELDCOST_TRY(CheckRoom(steps));
  FIELDCOST_ASSIGN(std::vector<ParallelDownload::File> files, FilesOf(steps));
  ParallelDownload download(sources.mirrors, sources.first, sources.options, sources.stop,
                            std::move(files), options_.connections);
  FIELDCOST_TRY(FetchAndStore(steps, download));
  state_.share_complete_day = today_;
  state_.is_complete = state_.is_complete || limit == count;
  return {};
}

Status Syncer::SaveProgress() {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  FIELDCOST_TRY(SaveState(database_, state_));
  return transaction.Commit();
}

Status Syncer::Rank() {
  FIELDCOST_ASSIGN(state_, LoadState(database_));
  if (state_.is_ranked) return {};
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database_));
  FIELDCOST_TRY(RebuildNameSearch(database_));
  state_.is_ranked = true;
  FIELDCOST_TRY(SaveState(database_, state_));
  return transaction.Commit();
}

Status Syncer::AddToWitness() {
  if (options_.witness_file.empty()) return {};
  FIELDCOST_ASSIGN(const Witness before, LoadWitness(options_.witness_file));
  FIELDCOST_ASSIGN(
      const Witness after,
      AppendWitness(options_.witness_file, {.version = state_.snapshot_version,
                                            .published = Rfc3339Text(state_.snapshot_published),
                                            .sha256 = HexEncode(state_.snapshot_sha256)}));
  report_.witnessed_snapshots = after.snapshot_count;
  report_.is_new_in_witness = after.snapshot_count != before.snapshot_count;
  return {};
}

Result<SyncReport> Syncer::Fetch() {
  // A damaged witness is reported before anything is fetched.
  if (!options_.witness_file.empty()) FIELDCOST_TRY(LoadWitness(options_.witness_file));
  const bool done_today = state_.share_complete_day == today_ && state_.is_complete;
  if (done_today && !options_.full && !options_.automatic && options_.wanted_api.empty()) {
    report_.already_done_today = true;
    FIELDCOST_TRY(AddToWitness());
  } else {
    http::ClientOptions server = options_.server;
    server.max_response_bytes = kMaxResponseBytes;
    std::vector<Mirror> list = options_.mirrors;
    if (list.empty()) list.push_back({.url = server.url, .proxy_url = server.proxy_url});
    const std::uint64_t seed =
        options_.mirror_seed != 0 ? options_.mirror_seed : crypto::RandomUint64();
    FIELDCOST_ASSIGN(Mirrors mirrors, Mirrors::Create(std::move(list), seed));
    StopSignal stop(std::move(server.may_go_on));
    server.may_go_on = [&stop] { return stop.MayGoOn(); };
    MirrorConnection mirror(mirrors, server);
    FIELDCOST_ASSIGN(const std::optional<wire::SnapshotMetadata> snapshot, Update(mirror));
    if (snapshot) FIELDCOST_TRY(AdoptSnapshot(*snapshot));
    FIELDCOST_TRY(AddToWitness());
    FIELDCOST_TRY(FetchAll({.mirrors = mirrors, .first = mirror, .options = server, .stop = stop}));
    report_.skipped_mirrors = mirrors.Skipped();
    state_.last_sync = clock_.Now();
    FIELDCOST_TRY(SaveProgress());
  }
  FIELDCOST_ASSIGN(const std::vector<bool> stale, Stale());
  report_.fragments_stale =
      static_cast<std::uint32_t>(std::count(stale.begin(), stale.end(), true));
  report_.snapshot_version = state_.snapshot_version;
  return report_;
}

Status Syncer::NoteOutcome(const Result<SyncReport>& outcome) {
  FIELDCOST_ASSIGN(state_, LoadState(database_));
  state_.refresh_problem = outcome ? "" : outcome.error().message;
  if (outcome) state_.refresh = RefreshSchedule(state_.refresh).AfterSuccess(clock_.Now());
  return SaveProgress();
}

Result<SyncReport> Syncer::Run() {
  if (options_.automatic) {
    if (!RefreshSchedule(state_.refresh).IsDue(clock_.Now())) return SyncReport{.not_due = true};
    state_.refresh = RefreshSchedule(state_.refresh).AfterFailure(clock_.Now());
    state_.refresh_problem = "interrupted";
    FIELDCOST_TRY(SaveProgress());
  }
  Result<SyncReport> outcome = Fetch();
  if (const Status ranked = Rank(); outcome && !ranked) outcome = ranked.error();
  if (outcome && outcome->already_done_today) return outcome;
  const Status noted = NoteOutcome(outcome);
  if (outcome && !noted) return noted.error();
  return outcome;
}

}  // namespace

Result<SyncReport> Sync(const SyncOptions& options, const Clock& clock) {
  const Result<UniqueFd> lock = LockForSync(options.catalog_file);
  if (!lock && lock.error().code == ErrorCode::kUnavailable && options.automatic) {
    return SyncReport{.not_due = true};
  }
  if (!lock) return lock.error();
  FIELDCOST_ASSIGN(sqlite::Database database, OpenForWriting(options.catalog_file));
  FIELDCOST_ASSIGN(SyncState state, LoadState(database));
  return Syncer(options, clock, std::move(database), std::move(state)).Run();
}

Result<WallTime> NextRefresh(const std::filesystem::path& catalog_file, WallTime now) {
  FIELDCOST_ASSIGN(sqlite::Database database, OpenForWriting(catalog_file));
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
  FIELDCOST_ASSIGN(SyncState state, LoadState(database));
  const auto corrected = RefreshSchedule(state.refresh).Corrected(now);
  if (!corrected) return state.refresh.next_try;
  state.refresh = *corrected;
  FIELDCOST_TRY(SaveState(database, state));
  FIELDCOST_TRY(transaction.Commit());
  return state.refresh.next_try;
}

Status PostponeRefresh(const std::filesystem::path& catalog_file, WallTime now) {
  FIELDCOST_ASSIGN(sqlite::Database database, OpenForWriting(catalog_file));
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
  FIELDCOST_ASSIGN(SyncState state, LoadState(database));
  state.refresh = RefreshSchedule(state.refresh).Postponed(now);
  FIELDCOST_TRY(SaveState(database, state));
  return transaction.Commit();
}

}  // namespace fieldcost::catalog
