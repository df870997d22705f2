#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/result.h"
#include "common/recording/recording.h"

namespace fieldcost::recording {

// How samples are divided.
enum class DivideBy : std::uint8_t { kThread, kProcess };

// More threads, or processes, than this are only known by their names; of more names than
// kMostThreadNames the last ones of the recording's table are one: "[other threads]".
inline constexpr std::size_t kMostNumberedThreads = 100;
inline constexpr std::size_t kMostThreadNames = 1'000;

// The same recording, in memory, with the thread or process of each sample as the first frame of
// its path: "[thread gzip/worker 1236]", "[process make 77]"; "[several threads]" of kNoThread. So
// whatever is asked of it is divided by threads, and their values add up to those of the whole, as
// integers. Equal names are one, without numbers, if `by_name`, if there are several runs, or too
// many. A path at the greatest depth is folded into its caller. Depends on the table of threads and
// the paths alone, so that parts of the time are divided alike.
// kInvalidArgument if no thread is known; errors of reading.
Result<Recording> DividedByThread(const Recording& recording, DivideBy by, bool by_name);

}  // namespace fieldcost::recording
