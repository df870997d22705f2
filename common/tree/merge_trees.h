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

// One run, or interval, as one recorder saw it.
struct Measured {
  std::shared_ptr<const Dictionary> dictionary;
  std::vector<Metric> metrics;
  RunValues values;  // a column for each metric
};

struct MergeOptions {
  std::string divided = "wall";                           // the events' metric that samples divide
  std::vector<std::string> weights = {"cpu", "off-cpu"};  // the samples' metrics that tell how
};

struct MergedRun {
  Measured run;  // the events' metrics, then those of the samples
  // Sampled stacks with frames between two that have events, and the number of these frames, which
  // are not in the result.
  std::uint64_t stacks_with_dropped = 0;
  std::uint64_t dropped_frames = 0;
  std::vector<std::string> remarks;  // a line for each metric of the samples that is left out
};

// Events and samples of one run in one tree. A stack's frames are followed from outside: where the
// node of the events reached so far has a child of that frame, it goes on there; else, if one path
// alone leads on to that frame over at most three others, there: these ended by calling the next
// one, and are not on the stack. What follows the last such frame hangs below, and frames between
// are dropped. Events decide, samples divide: what
// a node of the events has itself of `divided` is shared among its stacks in proportion to their
// weights, by largest remainder (of equal ones the first in canonical order), so that the inclusive
// value of every node of the events stays what it was. Without a stack a node keeps it. A metric of
// both is that of the events. kInvalidArgument if a metric of the options is missing (of the
// weights: all), kTooLarge beyond limits or 64 bits.
Result<MergedRun> MergeEventsAndSamples(const Measured& events, const Measured& samples,
                                        const MergeOptions& options = {});

}  // namespace fieldcost::tree
