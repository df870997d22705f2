#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "common/probe/event_store.h"
#include "common/probe/probe_limits.h"
#include "common/sqlite/sqlite.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {

inline constexpr std::uint64_t kMs = 1'000'000;
inline constexpr std::uint64_t kFirstNs = 1'600'000'000'000'000'000;  // 2020-09-13 12:26:40 UTC

// Runs of an editor, each with one event "index_open" of three steps.
struct SomeRuns {
  std::uint64_t first = 1;  // the first run id; times depend on it
  std::size_t count = 10;
  std::string build = "1.2";
  std::vector<std::string> tags = {"warm"};
  std::uint64_t load_ms = 30;  // the second step; the others take 10 and 20
  std::string label = "index_open";
  std::string program = "editor";
};

inline probe::Batch BatchOf(const SomeRuns& runs) {
  probe::Batch batch{.sequence = 1};
  batch.sites = {{runs.label, "Open", "src/index.cc", 12},
                 {"file opened", "Open", "src/index.cc", 14},
                 {"data loaded", "Load", "src/index.cc", 40},
                 {"view ready", "Show", "src/view.cc", 7}};
  batch.frames = {{"Load", runs.program, "src/index.cc", 40},
                  {"main", runs.program, "src/main.cc", 3}};
  batch.stacks = {{.frames = {0, 1}}};
  for (std::size_t i = 0; i < runs.count; ++i) {
    const std::uint64_t id = (runs.first + i) << 32 | 0x77;
    const auto run = static_cast<std::uint32_t>(i);
    const std::uint64_t begin_ns = kFirstNs + (runs.first + i) * 1'000 * kMs;
    batch.runs.push_back({.id = id,
                          .session = 0xab00 + runs.first,
                          .program = runs.program,
                          .build = runs.build,
                          .tags = runs.tags,
                          .start_ns = begin_ns});
    const probe::EventId event{id, 1};
    const std::uint64_t jitter = i % 5 * 100'000;
    const std::uint64_t at[] = {0, 10 * kMs + jitter, (10 + runs.load_ms) * kMs + 2 * jitter,
                                (30 + runs.load_ms) * kMs + 3 * jitter};
    batch.events.push_back({.id = event,
                            .run = run,
                            .label = runs.label,
                            .begin_ns = begin_ns,
                            .end_ns = begin_ns + at[3]});
    for (std::uint32_t site = 0; site < 4; ++site) {
      probe::Hit hit{.event = event,
                     .run = run,
                     .site = site,
                     .kind = site == 0   ? probe::HitKind::kBegin
                             : site == 3 ? probe::HitKind::kEnd
                                         : probe::HitKind::kPoint,
                     .ns = begin_ns + at[site],
                     .thread = site == 2 ? 6u : 5u,
                     .sequence = site + 1};
      if (site == 2) hit.stack = 0;
      if (site == 1) hit.value = 4096;
      batch.hits.push_back(hit);
    }
  }
  return batch;
}

class ProbeCommandTest : public CliTest {
 protected:
  void SetUp() override { std::filesystem::create_directories(home()); }
  std::string Path(const std::string& name) const { return (home() / name).string(); }

  // Adds the batch to that database, which is created if missing.
  void Add(const std::string& file, const probe::Batch& batch) {
    auto database = *sqlite::Database::Open(file, sqlite::Database::Access::kCreate);
    auto store = *probe::EventStore::Create(database);
    auto transaction = *sqlite::Transaction::Begin(database);
    ASSERT_TRUE(store.Add(batch, 0));
    ASSERT_TRUE(transaction.Commit());
  }
  std::string Database(const std::vector<SomeRuns>& some) {
    const std::string file = Path("events.db");
    for (const SomeRuns& runs : some) Add(file, BatchOf(runs));
    return file;
  }

  testing::ProcessResult Probe(const std::string& file, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "probe");
    arguments.insert(arguments.end(), {"--db", file});
    return Cli(arguments);
  }
};

}  // namespace fieldcost::cli
