#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/recording/descriptions.h"
#include "common/recording/frame_file.h"
#include "common/recording/recording_dictionary.h"
#include "common/recording/recording_index.h"
#include "common/recording/stream_writer.h"
#include "common/tree/path.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::recording {

// Writes a recording. Flushed data remains readable however this process ends; after a power loss,
// as far as it had reached the disk. Close() adds the index that makes opening fast.
//
// After the first write failure the file keeps the data flushed before, and every call returns the
// same error. Movable; not thread-safe. Memory: 24 bytes per path for each stream and metric, and
// 48 bytes per block for the index.
class Writer {
 public:
  // Creates the file with mode 0600, replacing an existing one. Frames and paths of `dictionary`
  // are written when samples need them; it may grow meanwhile. REQUIRES: it outlives the writer.
  static Result<Writer> Create(const std::filesystem::path& path,
                               const tree::Dictionary& dictionary, const ClockAnchors& anchors);

  // Writes to memory, for TakeBytes().
  static Writer InMemory(const tree::Dictionary& dictionary, const ClockAnchors& anchors);

  // kInvalidArgument or kTooLarge if it is invalid; nothing is changed then.
  Result<std::uint16_t> AddMetric(const tree::Metric& metric);
  Result<StreamId> AddStream(const Stream& stream);

  // A run begins or ends at this time, in ns since the anchors. Commands are made printable and
  // truncated.
  Result<std::uint32_t> BeginRun(std::uint64_t time_ns, std::string_view command,
                                 std::string_view environment_hash);
  Status EndRun(std::uint32_t run, std::uint64_t time_ns, std::int32_t exit_status);

  // Adds a thread; its samples may follow. Names are made printable and truncated. kTooLarge if
  // there are kMaxThreads already.
  Result<ThreadId> AddThread(Thread thread);
  // Changes a thread's name or ids, also for its earlier samples. REQUIRES: it was added.
  void SetThread(ThreadId number, Thread thread);

  // Sets a count; the last value of a name is valid.
  Status SetCount(std::string_view name, std::uint64_t value);

  // Adds a sample: the cost of `path` in each of the stream's metrics at that time. Samples may
  // come in any order within a block (kBlockNs, or since the last flush). An earlier one gets the
  // end time of the last block and is counted as late: its cost is kept, but its time is lost.
  // kTooLarge if a sum would exceed 64 bits, kInvalidArgument beyond kMaxTimeNs; nothing is changed
  // then. REQUIRES: path is in the dictionary; one value per metric of the stream; the thread was
  // added.
  Status Append(StreamId stream, std::uint64_t time_ns, tree::PathId path,
                std::span<const std::uint64_t> values, ThreadId thread = kNoThread);

  // Stores a tree as encoded by common/tree.
  Status PutTree(std::string_view encoded_tree);

  // Ends open blocks and passes everything to the operating system. Call it about every second.
  Status Flush();
  // The same, then writes the index and waits for the disk. No calls may follow.
  Status Close();
  // Close() for a recording in memory; returns its bytes. REQUIRES: InMemory().
  Result<std::string> TakeBytes();

  std::uint64_t size_bytes() const { return file_.size(); }

 private:
  Writer(FrameFile file, const tree::Dictionary& dictionary)
      : file_(std::move(file)), dictionary_(&dictionary) {}
  Status PutIndex();
  Status Put(std::string_view payload, IndexEntry entry);
  Status Put(FrameType type, std::string_view payload) { return Put(payload, {.type = type}); }
  Status PutDictionary();
  Status PutThreads();
  Status Seal(StreamWriter& stream);

  FrameFile file_;
  const tree::Dictionary* dictionary_;
  DictionarySize in_file_;
  Descriptions descriptions_;
  std::vector<StreamWriter> streams_;
  std::vector<std::uint32_t> changed_threads_;  // since they were last written
  std::vector<IndexEntry> index_;
};

}  // namespace fieldcost::recording
