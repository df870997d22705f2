#pragma once

namespace fieldcost::perf {

// The stream of samples of CPU time in a recording, and the counts of samples whose stacks are cut.
inline constexpr char kSamplesStream[] = "samples";
inline constexpr char kCutSamples[] = "cut stacks";
inline constexpr char kCutWaits[] = "cut stacks of waits";
inline constexpr char kCutCounters[] = "cut stacks of counters";

}  // namespace fieldcost::perf
