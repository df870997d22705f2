// Look-ups in a catalogue with many APIs. Each API has its own name and one to three versions with
// two metrics (four rows on average). Its measurements are drawn from a pool, because encoding a
// million different ones would take longer than everything else.
//   bench_catalog_lookup FILE APIS    creates FILE unless it exists; prints a line per number:
//                                     name, p50 and p99 of CPU time, p50 and p99 of wall time, in
//                                     microseconds; wall time depends on the machine's other load
// Every look-up is for another API, in random order. Look-ups alternate with the floor's: the same
// rows from a prepared statement on a separate connection, not decoded.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "common/base/check.h"
#include "common/catalog/catalog.h"
#include "common/catalog/catalog_schema.h"
#include "common/catalog/name_search.h"
#include "common/wire/fragment.h"

namespace {

using namespace fieldcost;

constexpr int kPool = 4096;
constexpr int kLookUps = 20'000;
constexpr int kSearches = 2000;
constexpr int kSlowSearches = 5;  // those that read all names
constexpr std::size_t kPrefixLimit = 50;
constexpr std::uint64_t kBatch = 10'000;

struct ApiName {
  std::string soname;
  std::string symbol;
};

// Names share beginnings, as real function names do.
constexpr const char* kVerbs[] = {"open", "read",  "write", "close", "get", "set",
                                  "init", "parse", "find",  "make",  "new", "free"};
constexpr const char* kNouns[] = {"_stream", "_buffer", "_context", "_node", "_table", "_key",
                                  "_value",  "_entry",  "_file",    "_page", "_list"};
ApiName NameOf(std::uint64_t i) {
  const std::uint64_t library = i % 2000;
  return {"lib" + std::to_string(library) + ".so.1",
          "l" + std::to_string(library) + "_" + kVerbs[i / 2000 % 12] + kNouns[i / 24000 % 11] +
              "_" + std::to_string(i / 2000)};
}

std::vector<stats::StatRow> RowsOf(const ApiName& name, std::mt19937_64& random) {
  std::vector<stats::StatRow> rows;
  const std::uint64_t versions = 1 + random() % 3;
  for (std::uint64_t version = 0; version < versions; ++version) {
    for (const stats::Metric metric : {stats::Metric::kWallTime, stats::Metric::kAllocInclusive}) {
      stats::StatRow row;
      row.key.api = {name.soname, "1." + std::to_string(version), "00ff", name.symbol, ""};
      row.key.metric = metric;
      std::lognormal_distribution<double> cost(5 + static_cast<double>(random() % 7), 1);
      for (int machine = 0; machine < 8; ++machine) {
        stats::CostHistogram one;
        for (int call = 0; call < 100; ++call) one.Add(static_cast<std::uint64_t>(cost(random)));
        row.histogram.Merge(one);
        row.scalars.Merge(stats::ScalarsOf(one));
        row.weights.Merge(stats::WeightsOf(one));
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void Check(const Status& status) {
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  FIELDCOST_CHECK(status.has_value());
}

double Now(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// Prints the seconds of CPU time that this takes, and the bytes per API that it adds to the file.
void RankNames(const std::filesystem::path& file, sqlite::Database& database,
               catalog::SyncState& state) {
  Check(database.Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  const auto before = std::filesystem::file_size(file);
  const double began = Now(CLOCK_THREAD_CPUTIME_ID);
  auto transaction = sqlite::Transaction::Begin(database).value();
  Check(catalog::RebuildNameSearch(database));
  state.is_ranked = true;
  Check(catalog::SaveState(database, state));
  Check(transaction.Commit());
  Check(database.Execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  std::fprintf(stderr, "search index: %.2f s of CPU time, %.1f bytes per API\n",
               (Now(CLOCK_THREAD_CPUTIME_ID) - began) / 1e6,
               static_cast<double>(std::filesystem::file_size(file) - before) /
                   static_cast<double>(state.api_count));
}

void MakeCatalogue(const std::filesystem::path& file, std::uint64_t apis) {
  std::mt19937_64 random(10);
  std::vector<std::string> encoded;
  std::vector<std::uint64_t> totals;
  std::vector<std::uint64_t> counts;
  for (int i = 0; i < kPool; ++i) {
    const std::vector<stats::StatRow> rows = RowsOf(NameOf(random() % apis), random);
    encoded.push_back(wire::EncodeFragment(rows).value());
    totals.push_back(catalog::TotalColumn(rows));
    counts.push_back(rows.size());
  }
  auto database = catalog::OpenForWriting(file).value();
  catalog::SyncState state = catalog::LoadState(database).value();
  state.snapshot_version = 1;
  auto insert = database.Prepare(
      "INSERT INTO apis (symbol, soname, hash, row_count, total, rows) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  for (std::uint64_t i = 0; i < apis;) {
    auto transaction = sqlite::Transaction::Begin(database).value();
    for (const std::uint64_t end = std::min(apis, i + kBatch); i < end; ++i) {
      const ApiName name = NameOf(i);
      const std::size_t chosen = random() % kPool;
      insert.Text(name.symbol).Text(name.soname);
      insert.Int(wire::FragmentIndexOf(name.soname, name.symbol, wire::kMaxFragmentBits));
      insert.Int(counts[chosen]).Int(totals[chosen] + i).Blob(encoded[chosen]);
      Check(insert.Run());
      ++state.api_count;
      state.row_count += counts[chosen];
    }
    Check(catalog::SaveState(database, state));
    Check(transaction.Commit());
  }
  RankNames(file, database, state);
}

// The durations of many runs, in microseconds.
class Times {
 public:
  void Add(const std::function<void()>& work) {
    const double wall = Now(CLOCK_MONOTONIC);
    const double cpu = Now(CLOCK_THREAD_CPUTIME_ID);
    work();
    cpu_.push_back(Now(CLOCK_THREAD_CPUTIME_ID) - cpu);
    wall_.push_back(Now(CLOCK_MONOTONIC) - wall);
  }
  void Print(const std::string& name) {
    std::printf("%s", name.c_str());
    for (std::vector<double>* times : {&cpu_, &wall_}) {
      std::sort(times->begin(), times->end());
      std::printf(" %.2f %.2f", (*times)[times->size() / 2], (*times)[times->size() * 99 / 100]);
    }
    std::printf("\n");
  }

 private:
  std::vector<double> cpu_;
  std::vector<double> wall_;
};

// Interleaved; the two alternate in going first.
void Compare(const char* name, const std::function<void(std::uint64_t)>& look_up,
             const std::function<void(std::uint64_t)>& floor, std::uint64_t apis) {
  std::mt19937_64 random(11);
  Times ours;
  Times floors;
  for (int i = 0; i < kLookUps; ++i) {
    const std::uint64_t one = random() % apis;
    const std::uint64_t other = random() % apis;
    ours.Add([&] { look_up(i % 2 == 0 ? one : other); });
    floors.Add([&] { floor(i % 2 == 0 ? other : one); });
  }
  ours.Print(name);
  floors.Print(std::string(name) + "_floor");
}

std::string PrefixOf(std::uint64_t i) {
  const std::string symbol = NameOf(i).symbol;
  return symbol.substr(0, symbol.find('_') + 1 + i % 8);
}

// A text that no name contains: two nouns, whose trigrams are all frequent, or a mistyped name.
std::string MissingPart(std::uint64_t i, std::uint64_t apis) {
  if (i % 2 == 0) return kNouns[i / 2 % 11] + std::string(kNouns[(i / 22 + 1) % 11]);
  std::string symbol = NameOf(i * 7919 % apis).symbol;
  symbol[symbol.size() / 2] = '#';
  return symbol;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 64;
  const std::filesystem::path file = arguments[1];
  const std::uint64_t apis = std::strtoull(arguments[2], nullptr, 10);
  if (!std::filesystem::exists(file)) MakeCatalogue(file, apis);
  const auto catalog = catalog::Catalog::Open(file);
  FIELDCOST_CHECK(catalog.has_value());
  const auto raw = sqlite::Database::Open(file, sqlite::Database::Access::kRead).value();

  auto get = raw.Prepare("SELECT rows FROM apis WHERE symbol = ?1 AND soname = ?2");
  std::size_t bytes = 0;
  Compare(
      "exact",
      [&](std::uint64_t i) {
        const ApiName name = NameOf(i);
        FIELDCOST_CHECK(!catalog->Find(name.symbol, name.soname).value().empty());
      },
      [&](std::uint64_t i) {
        const ApiName name = NameOf(i);
        FIELDCOST_CHECK(get.Text(name.symbol).Text(name.soname).Step().value());
        bytes += get.ColumnView(0).size();
        get.Reset();
      },
      apis);
  auto range = raw.Prepare(
      "SELECT soname, symbol FROM apis WHERE symbol >= ?1 ORDER BY symbol, soname LIMIT ?2");
  Compare(
      "prefix",
      [&](std::uint64_t i) {
        FIELDCOST_CHECK(!catalog->FindPrefix(PrefixOf(i), kPrefixLimit).value().empty());
      },
      [&](std::uint64_t i) {
        range.Text(PrefixOf(i)).Int(kPrefixLimit);
        while (range.Step().value()) bytes += range.ColumnView(1).size();
        range.Reset();
      },
      apis);
  Times none;
  Times some;
  for (std::uint64_t i = 0; i < kSearches; ++i) {
    const std::string missing = MissingPart(i, apis);
    none.Add([&] { FIELDCOST_CHECK(catalog->Search({.pattern = missing})->empty()); });
    const std::string part = kVerbs[i % 12] + std::string(kNouns[i % 11]);
    some.Add([&] { FIELDCOST_CHECK(!catalog->Search({.pattern = part})->empty()); });
  }
  Times short_none;
  Times near;
  Times fresh;
  for (int i = 0; i < kSlowSearches; ++i) {
    short_none.Add([&] { FIELDCOST_CHECK(catalog->Search({.pattern = "zq"})->empty()); });
    near.Add([&] { FIELDCOST_CHECK(catalog->Nearest("l77_opn_stream_3", 8).has_value()); });
    fresh.Add([&] { FIELDCOST_CHECK(catalog->GetFreshness().has_value()); });
  }
  none.Print("search_without_match");
  some.Print("search_with_matches");
  short_none.Print("search_of_two_letters");
  near.Print("nearest");
  fresh.Print("freshness");
  return bytes == 0 ? 1 : 0;
}
