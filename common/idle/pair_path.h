#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::idle {

// Stores a pair as one path, so that it is stored, named, added and compared like any other:
//
//   pair := to "[until]" from [ "[woken by]" waker ]
//
// Each part has its outermost frame first. `to` ends with the frame of a Why (idle_schema.h),
// `from` with that of the thread's previous wait, so the frame before "[until]" is the reason. An
// unknown part is a single special frame, and so is a waker without a stack.
inline constexpr char kUntil[] = "[until]";
inline constexpr char kWokenBy[] = "[woken by]";

// Replaces `from` if no thread is known to have resumed there.
inline constexpr char kNobody[] = "[nobody]";
// A thread that has not run before.
inline constexpr char kNewThread[] = "[new thread]";
// Wakers without a stack.
inline constexpr char kInterrupt[] = "[interrupt]";         // by a timer or device
inline constexpr char kOtherProcess[] = "[other process]";  // not monitored
inline constexpr char kKernelThread[] = "[kernel thread]";

// How many innermost frames of each part are kept; a truncated part begins with "[cut]".
inline constexpr std::size_t kPartFrames = 128;

struct PairPath {
  std::vector<tree::FrameId> to;
  std::vector<tree::FrameId> from;
  std::vector<tree::FrameId> waker;  // empty: unknown
};

// kTooLarge if the dictionary is full. REQUIRES: the frames belong to the dictionary; each part has
// at most kPartFrames + 2 frames.
Result<tree::PathId> InternPair(const PairPath& pair, tree::Dictionary& dictionary);

// Splits any path into its parts; a missing part is empty.
PairPath SplitPair(const tree::Dictionary& dictionary, tree::PathId path);

}  // namespace fieldcost::idle
