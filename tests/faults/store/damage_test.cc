// The store against damage at rest: a flipped bit, a truncated, missing or swapped file anywhere in
// it, after a kill or a clean shutdown. The damage must be found and named, or be harmless. See
// ../README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <vector>

#include "tests/faults/network/fault_run.h"
#include "tests/faults/store/child.h"
#include "tests/faults/store/fault_file_system.h"
#include "tests/faults/store/fleet.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::faults {
namespace {

constexpr unsigned kAgents = 4;
constexpr int kCasesOfAStore = 25;
constexpr std::uint64_t kShortSeeds = 8;
constexpr std::uint64_t kLongSeeds = 400;
constexpr std::chrono::seconds kLimit{300};

using Files = std::map<std::string, std::string>;  // by path relative to a directory

Files ReadTree(const std::filesystem::path& directory) {
  Files files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    const std::filesystem::path folder = entry.path().parent_path();
    files[entry.path().lexically_relative(directory).string()] =
        ReadImage(folder)[entry.path().filename().string()];
  }
  return files;
}

void WriteTree(const Files& files, const std::filesystem::path& directory) {
  for (const auto& [name, bytes] : files) {
    const std::filesystem::path path = directory / name;
    WriteImage({{path.filename().string(), bytes}}, path.parent_path());
  }
}

// The damage done to a file.
struct Damage {
  std::string file;
  std::string other;  // the other file of a swap
  std::string what;
};

std::string EndOf(const std::string& name) {
  const std::string file = std::filesystem::path(name).filename().string();
  if (file.starts_with("MANIFEST")) return file.ends_with(".synced") ? ".list.synced" : ".list";
  return std::filesystem::path(file).extension().string();
}

Damage DamageOne(Files& files, Random& random) {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files) names.push_back(name);
  // Chooses each kind of file equally often, regardless of how many there are.
  const std::string kind = EndOf(names[random() % names.size()]);
  std::erase_if(names, [&](const std::string& name) { return EndOf(name) != kind; });
  Damage damage{.file = names[random() % names.size()]};
  std::string& bytes = files[damage.file];
  const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
  switch (random() % 10) {
    case 0:
      files.erase(damage.file);
      damage.what = "missing";
      return damage;
    case 1:
      bytes.resize(at);
      damage.what = "cut at " + std::to_string(at);
      return damage;
    case 2:
      for (std::size_t i = at; i < std::min(at + 512, bytes.size()); ++i) bytes[i] = '\0';
      damage.what = "zeros at " + std::to_string(at);
      return damage;
    case 3:
      damage.other = names[random() % names.size()];
      if (damage.other == damage.file) break;
      std::swap(bytes, files[damage.other]);
      damage.what = "exchanged with " + damage.other;
      return damage;
    default:
      break;
  }
  if (bytes.empty()) return damage;
  const unsigned bit = static_cast<unsigned>(random() % 8);
  bytes[at] = static_cast<char>(bytes[at] ^ (1U << bit));
  damage.what = "bit " + std::to_string(bit) + " of byte " + std::to_string(at);
  return damage;
}

struct Counts {
  unsigned found = 0;
  unsigned harmless = 0;
};

bool IsTable(const std::string& name) { return name.ends_with(".sst"); }

bool Names(const std::string& message, const Damage& damage) {
  const auto named = [&](const std::string& name) {
    return !name.empty() &&
           message.find(std::filesystem::path(name).filename().string()) != std::string::npos;
  };
  return named(damage.file) || named(damage.other);
}

// Checks the store of `options`, which has this damage.
Status CheckStore(const store::StoreOptions& options, const Damage& damage, const Fleet& fleet,
                  Counts& counts) {
  const Files before = ReadTree(options.data_dir / "store");
  const auto report = store::Store::VerifyStopped(options);
  if (ReadTree(options.data_dir / "store") != before) {
    return Fail(ErrorCode::kInternal, "inspecting it has changed it");
  }
  const bool found = !report || !report->ok();
  const std::string message = !report ? report.error().message : report->first_problem;
  // The engine cannot always name a damaged table, in particular an intact table in the wrong
  // place.
  const bool is_some_table =
      IsTable(damage.file) && message.find("one of the .sst files") != std::string::npos;
  if (found && !is_some_table && !Names(message, damage)) {
    return Fail(ErrorCode::kInternal, "it is not named: {}", message);
  }
  ++(found ? counts.found : counts.harmless);
  auto store = store::Store::Open(options);
  if (!store) {
    if (found) return {};
    return Fail(ErrorCode::kInternal, "good, and does not start: {}", store.error().message);
  }
  // The server reads only the parts of tables that it needs.
  if (found && IsTable(damage.file)) return {};
  Fleet same(fleet);
  Status status = same.Check(**store);
  if (!status) return Within(std::move(status).error(), found ? "found, but starts" : "not found");
  return status;
}

Status CheckBackup(const std::filesystem::path& backups, const store::StoreOptions& options,
                   const Damage& damage, const Fleet& fleet, Counts& counts) {
  const Status restored = store::Store::RestoreBackup(backups, options.data_dir);
  if (!restored) {
    ++counts.found;
    if (std::filesystem::exists(options.data_dir / "store")) {
      return Fail(ErrorCode::kInternal, "a store is left behind");
    }
    return {};
  }
  FIELDCOST_TRY(CheckStore(options, damage, fleet, counts));
  return {};
}

// Makes a store of random age and its backup, damages copies of both and checks them.
Status DamageAndCheck(std::uint64_t seed, const std::filesystem::path& dir) {
  Random random(seed);
  const unsigned probation_batches =
      random() % 2 == 0 ? 0 : 1 + static_cast<unsigned>(random() % 12);
  store::StoreOptions options{.data_dir = dir / "data",
                              .checkpoint_rows = 20 + random() % 60,
                              .checkpoint_seconds = random() % 4 == 0 ? 0U : 3600U,
                              .probation_batches = probation_batches};
  const bool clean = random() % 2 == 0;
  Fleet fleet(kAgents, probation_batches);
  Files of_store;
  Files of_backup;
  {
    FaultyDirectory disk(options.data_dir / "store", {});
    store::StoreOptions watched = options;
    watched.file_system = disk.file_system();
    FIELDCOST_ASSIGN(const auto store, store::Store::Open(watched));
    for (int part = 0; part < 2; ++part) {
      FIELDCOST_TRY(fleet.Run(*store, {.seed = random(), .expire = random() % 4 == 0}));
      if (part == 0) FIELDCOST_TRY(store->Backup(dir / "unused"));
    }
    FIELDCOST_TRY(store->Backup(dir / "backups"));
    of_backup = ReadTree(dir / "backups");
    if (clean) FIELDCOST_TRY(store->Checkpoint());
    of_store = disk.Current();  // as after a kill
  }
  if (clean) of_store = ReadTree(options.data_dir / "store");
  Counts counts;
  for (int i = 0; i < kCasesOfAStore; ++i) {
    const bool is_backup = i % 5 == 4;
    Files files = is_backup ? of_backup : of_store;
    const Damage damage = DamageOne(files, random);
    const std::filesystem::path place = dir / ("case" + std::to_string(i));
    options.data_dir = place / "data";
    Status status;
    if (is_backup) {
      WriteTree(files, place / "backups");
      status = CheckBackup(place / "backups", options, damage, fleet, counts);
    } else {
      std::filesystem::create_directories(options.data_dir / "store");
      WriteTree(files, options.data_dir / "store");
      status = CheckStore(options, damage, fleet, counts);
    }
    if (!status) {
      return Fail(status.error().code, "case {}, {} of {}, {}, {}: {}", i, damage.what, damage.file,
                  is_backup ? "backup" : "store", clean ? "ended" : "killed",
                  status.error().message);
    }
    std::filesystem::remove_all(place);
  }
  if (counts.found == 0) return Fail(ErrorCode::kInternal, "nothing was ever found");
  return {};
}

TEST(DamageTest, ItIsFoundAndNamedOrHarmsNothing) {
  const std::uint64_t first = Seed();
  const std::uint64_t seeds = LongForm() ? kLongSeeds : kShortSeeds;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const testing::TempDir dir;
    const ChildResult result = RunInChild([&] { return DamageAndCheck(seed, dir.path()); }, kLimit);
    ASSERT_TRUE(result.good) << "seed " << seed << ": " << result.trouble;
  }
  std::cout << seeds * kCasesOfAStore << " damages found or harmless\n";
}

}  // namespace
}  // namespace fieldcost::faults
