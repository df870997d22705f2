#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/tree/dictionary.h"

namespace fieldcost::idle {

// A pair as one path, so that it is stored, named, added and compared as any other:
//
//   pair := to "[until]" from [ "[woken by]" waker ]
//
// Each part is outermost frame first. `to` ends with the frame of a Why (schema.h), `from` with
// that of what the thread had waited for, so the frame before "[until]" says why. Parts that are
// unknown are one special frame. A waker without a stack is one special frame, too.
inline constexpr char kUntil[] = "[until]";
inline constexpr char kWokenBy[] = "[woken by]";

// Instead of `from`: nobody of whom that is known went on there.
inline constexpr char kNobody[] = "[nobody]";
// A thread that had not run before.
inline constexpr char kNewThread[] = "[new thread]";
// Wakers without a stack.
inline constexpr char kInterrupt[] = "[interrupt]";         // a timer, a device
inline constexpr char kOtherProcess[] = "[other process]";  // not monitored
inline constexpr char kKernelThread[] = "[kernel thread]";

// How many innermost frames of each part are kept; what is cut off is "[cut]" at its beginning.
inline constexpr std::size_t kPartFrames = 128;

struct PairPath {
  std::vector<tree::FrameId> to;
  std::vector<tree::FrameId> from;
  std::vector<tree::FrameId> waker;  // empty: not known
};

// kTooLarge if the dictionary is full. REQUIRES: frames of its; each part at most kPartFrames + 2
// long.
Result<tree::PathId> InternPair(const PairPath& pair, tree::Dictionary& dictionary);

// Takes any path apart; a part that is not there is empty.
PairPath SplitPair(const tree::Dictionary& dictionary, tree::PathId path);

}  // namespace fieldcost::idle
