#include "agent/events/event_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include "agent/reach/preload_variable.h"
#include "agent/runs/liveness.h"
#include "agent/runs/run_file_reader.h"
#include "common/base/file.h"

namespace fieldcost::events {
namespace {

namespace fs = std::filesystem;

std::uint32_t EventsOf(const TraceOptions& options) {
  std::uint32_t events = 0;
  if (options.functions) events |= shm::kTraceFunctions;
  if (options.branches) events |= shm::kTraceBranches;
  if (!options.globs.empty()) events |= shm::kTraceCalls;
  return events;
}

Status WritePlan(const fs::path& directory, const TraceOptions& options) {
  if (!shm::IsTraceArena(options.arena_bytes)) {
    return Fail(ErrorCode::kInvalidArgument,
                "an arena of {} bytes: must be a multiple of {}, to {}", options.arena_bytes,
                shm::kTraceChunkBytes, shm::kTraceMaxChunks * shm::kTraceChunkBytes);
  }
  if (options.tsc_to_ns_multiplier == 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "this machine's time stamp counter is not usable as a clock");
  }
  shm::TracePlanHeader header{};
  const std::size_t size = sizeof header + options.globs.size() + 1;
  if (size > shm::kMaxTracePlanBytes) {
    return Fail(ErrorCode::kTooLarge, "a plan of {} bytes, at most {}", size,
                shm::kMaxTracePlanBytes);
  }
  std::memcpy(header.magic, shm::kTracePlanMagic, sizeof header.magic);
  header.version = shm::kTraceVersion;
  header.events = EventsOf(options);
  header.size_bytes = size;
  header.tsc_to_ns_multiplier = options.tsc_to_ns_multiplier;
  header.arena_bytes = options.arena_bytes;
  header.glob_bytes = static_cast<std::uint32_t>(options.globs.size() + 1);
  header.data_slots = options.data_slots ? 1 : 0;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes += options.globs;
  bytes.push_back('\0');
  return WriteFileAtomically(directory / shm::kTracePlanName, bytes, 0600);
}

}  // namespace

Result<Variables> Prepare(const fs::path& directory, const TraceOptions& options) {
  FIELDCOST_TRY(WritePlan(directory, options));
  return Variables{{"LD_PRELOAD", reach::PreloadWith(options.library)},
                   {shm::kTraceDirectoryVariable, directory.string()}};
}

namespace {

// Clears the open calls of threads that have ended, including all threads of other PID namespaces,
// which cannot be found.
void CloseCallsOfEnded(Arena& arena) {
  for (ArenaThread& thread : arena.threads) {
    std::error_code error;
    if (thread.open_ticks != 0 &&
        !fs::exists(fmt::format("/proc/{}/task/{}", arena.pid, thread.tid), error)) {
      thread.open_ticks = 0;
    }
  }
}

}  // namespace

Result<Arenas> TakeArenas(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == shm::kTraceFileSuffix) paths.push_back(entry.path());
  }
  if (error) return ErrnoError("list", directory, error.value());
  std::sort(paths.begin(), paths.end());
  Arenas taken;
  for (const fs::path& path : paths) {
    const auto bytes = runs::RunFileBytes::Open(path);
    if (!bytes) {
      ++taken.refused;
      continue;
    }
    const bool is_running = runs::IsBeingWritten(bytes->fd());
    Result<Arena> arena = ReadArena(*bytes);
    if (arena) {
      arena->still_runs = is_running;
      CloseCallsOfEnded(*arena);
      taken.arenas.push_back(*std::move(arena));
    } else if (!is_running || arena.error().code != ErrorCode::kUnavailable) {
      ++taken.refused;
    }
    if (!is_running) fs::remove(path, error);
  }
  return taken;
}

}  // namespace fieldcost::events
