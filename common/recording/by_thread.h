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

// More threads, or processes, than this are only known by their names; of more names than
// kMostThreadNames the last ones of the recording's table are one: "[other threads]".
inline constexpr std::size_t kMostNumberedThreads = 100;
inline constexpr std::size_t kMostThreadNames = 1'000;

// A count of recordings of which only the threads are known: all samples are at the begin.
inline constexpr char kSamplesWithoutTime[] = "samples without a time";

// The same recording, in memory, with the thread or process of each sample as the first frame of
// its path: "[thread gzip/worker 1236]", "[process make 77]"; "[several threads]" of kNoThread. So
// whatever is asked of it is divided by threads, and their values add up to those of the whole, as
// integers. Equal names are one, without numbers, if `by_name`, if there are several runs, or too
// many. A path at the greatest depth is folded into its caller. Depends on the table of threads and
// the paths alone, so that parts of the time are divided alike.
// kInvalidArgument if no thread is known; errors of reading.
Result<Recording> DividedByThread(const Recording& recording, DivideBy by, bool by_name);

// The thread that a first frame of DividedByThread() stands for, or the process. What differs
// between several threads of one frame, and numbers that the frame does not have, are 0.
struct ThreadFrame {
  std::string label;  // the frame's function: "[thread gzip/worker 1236]"
  Thread thread;      // of "[several threads]": Thread()
  bool operator==(const ThreadFrame&) const = default;
};
// One for each label, in the order of the recording's table; empty if no thread is known.
std::vector<ThreadFrame> ThreadFramesOf(const Recording& recording, DivideBy by, bool by_name);

}  // namespace fieldcost::recording
