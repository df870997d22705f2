#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::publish {

// How long files stay that are no longer listed: clients may have read an older timestamp. They
// stay in the list of deletions for the same time again, for copies of the tree.
inline constexpr std::chrono::hours kUnlistedLifetime{48};

struct StaticTreeOptions {
  std::filesystem::path data_dir;
  std::filesystem::path directory;  // created if absent
  // Called after every file: done, total. May be empty.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

struct StaticTreeReport {
  std::uint64_t version = 0;  // of the publication
  std::uint64_t root_version = 0;
  std::uint64_t files = 0;    // listed by the publication
  std::uint64_t written = 0;  // of these, new, changed or repaired
  std::uint64_t bytes_written = 0;
  std::uint64_t waiting = 0;  // no longer listed; stay for kUnlistedLifetime
  std::uint64_t deleted = 0;
};

// Writes the newest publication as files that any web server can serve (TREE.md), without making a
// new one. If it is interrupted at any moment, the tree is that of the last publication or of the
// new one, and running it again completes it. Only one run at a time, else kAlreadyExists.
// kNotFound: nothing is published; kUnauthenticated: the publication has expired;
// kInvalidArgument: the directory belongs to another service, holds a newer publication, or
// overlaps with the data directory.
Result<StaticTreeReport> WriteStaticTree(const StaticTreeOptions& options, const Clock& clock);

}  // namespace fieldcost::publish
