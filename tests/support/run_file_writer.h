#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/shm/run_file.h"

namespace fieldcost::testing {

struct WrittenPick {
  std::string soname = "libvictim.so.1";
  std::string symbol = "victim_call";
  std::string symbol_version;
  std::string build_id = "\x01\x02\x03\x04";  // raw bytes
  std::string module_path;
  shm::MetricSet metrics = shm::kTimeMetrics;  // the same number of metrics for every pick
};

struct RunFileOptions {
  std::vector<WrittenPick> picks = {WrittenPick{}};
  std::uint32_t pick_capacity = 0;  // 0 = as many as there are picks
  bool forced = false;
  bool asked = false;
  bool living = false;  // locked like a running program's file, until End()
  std::uint64_t start_unix_ns = 0;
  std::uint64_t request_id = 0;
};

// Writes a run file as described in common/shm/run_file.h, without a measured program. The
// destructor releases the lock and keeps the file. Not thread-safe.
class RunFileWriter {
 public:
  RunFileWriter(const std::filesystem::path& path, const RunFileOptions& options);
  ~RunFileWriter();
  RunFileWriter(const RunFileWriter&) = delete;
  RunFileWriter& operator=(const RunFileWriter&) = delete;

  // Adds one call's value to the cell of (thread slot, pick, index of the metric in the pick's
  // set).
  void Add(std::uint64_t value, std::uint32_t slot = 0, std::uint32_t pick = 0,
           std::uint32_t metric_index = 0, std::uint64_t weight = 1);
  // The same, but "killed" after the commit: the update is staged, and the bucket half written.
  void AddAndDie(std::uint64_t value, std::uint64_t weight = 1);
  // Adds a pick of a later phase. REQUIRES: there is capacity.
  void AddPick(const WrittenPick& pick);
  // Simulates the program's end: releases the lock; the file can still be changed.
  void End();

  shm::RunHeader& header() { return *static_cast<shm::RunHeader*>(mapped_); }
  shm::Pick& pick(std::uint32_t index);
  shm::Cell& cell(std::uint32_t slot = 0, std::uint32_t pick = 0, std::uint32_t metric_index = 0);
  shm::CallCounter& counter(std::uint32_t slot = 0, std::uint32_t pick = 0);
  const std::filesystem::path& path() const { return path_; }

 private:
  void Map(int fd);

  std::filesystem::path path_;
  void* mapped_ = nullptr;
  std::size_t size_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t metrics_ = 0;
};

}  // namespace fieldcost::testing
