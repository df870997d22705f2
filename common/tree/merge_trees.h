#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/tree/run_values.h"
#include "common/tree/tree_dictionary.h"
#include "common/tree/tree_metric.h"

namespace fieldcost::tree {

// One run or interval, as measured by one recorder.
struct Measured {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<Metric> metrics;
  RunValues values;  // one column per metric
};

struct MergeOptions {
  std::string divided = "wall";                           // the events' metric that samples divide
  std::vector<std::string> weights = {"cpu", "off-cpu"};  // the samples' metrics that weight them
};

struct MergedRun {
  Measured run;  // the events' metrics, followed by those of the samples
  // Sampled stacks with frames between two frames that have events, and the number of these frames,
  // which are not in the result.
  std::uint64_t stacks_with_dropped = 0;
  std::uint64_t dropped_frames = 0;
  std::vector<std::string> remarks;  // one line per omitted metric of the samples
};

// Combines events and samples of one run in one tree. A stack's frames are followed from the
// outermost one. If the event node reached so far has a child with that frame, it continues there;
// otherwise, if exactly one path leads to that frame over at most three others, it continues at its
// end: the others are functions that ended by calling the next one, and so are not on the stack.
// The frames after the last such frame are added below it, and frames in between are dropped. The
// self value of `divided` of each event node is divided among its stacks in proportion to their
// weights, by largest remainder (among equal ones, the first in canonical order), so that the
// inclusive values of all event nodes stay unchanged. A node without stacks keeps its value. If
// both have a metric, that of the events is used. kInvalidArgument if a metric of the options is
// missing (for the weights: all of them); kTooLarge beyond limits or 64 bits.
Result<MergedRun> MergeEventsAndSamples(const Measured& events, const Measured& samples,
                                        const MergeOptions& options = {});

}  // namespace fieldcost::tree
