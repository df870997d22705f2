#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/recording/recording.h"
#include "common/recording/threads.h"

namespace fieldcost::recording {

// How samples are divided.
enum class DivideBy : std::uint8_t { kThread, kProcess };

// If there are more threads or processes than this, they are merged by name. Beyond
// kMostThreadNames names, the last ones in the recording's table become "[other threads]".
inline constexpr std::size_t kMostNumberedThreads = 100;
inline constexpr std::size_t kMostThreadNames = 1'000;

// The name of the count of samples that have a thread but no time. All such samples are placed at
// the beginning of the recording.
inline constexpr char kSamplesWithoutTime[] = "samples without a time";

// Returns the same recording, in memory, with the thread or process of each sample as the first
// frame of its path: "[thread gzip/worker 1236]", "[process make 77]"; for kNoThread "[several
// threads]". Every query of the result is therefore divided by thread, and the threads' values add
// up exactly to the totals. Threads of equal names are merged, without ids, if `by_name` is set, if
// there are several runs, or if there are too many threads. A path at the maximum depth is folded
// into its caller. The result depends only on the table of threads and the paths, so that all
// intervals are divided in the same way. kInvalidArgument if no thread is known; errors of reading.
Result<Recording> DividedByThread(const Recording& recording, DivideBy by, bool by_name);

// The thread or process represented by a first frame of DividedByThread(). Fields that differ
// between the threads of a frame, and ids that the frame does not contain, are 0.
struct ThreadFrame {
  std::string label;  // the frame's function: "[thread gzip/worker 1236]"
  Thread thread;      // for "[several threads]": Thread()
  bool operator==(const ThreadFrame&) const = default;
};
// The label of each thread in the recording's table, [thread]; "[several threads]" for kNoThread.
std::vector<std::string> ThreadLabelsOf(const Recording& recording, DivideBy by, bool by_name);
// One per label, in the order of the recording's table; empty if no thread is known.
std::vector<ThreadFrame> ThreadFramesOf(const Recording& recording, DivideBy by, bool by_name);

}  // namespace fieldcost::recording
