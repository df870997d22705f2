#pragma once

#include <cstddef>

#include "common/wire/limits.h"

namespace fieldcost::wire {

inline constexpr std::size_t kMaxPprofLabels = 4 * kMaxPprofEntries;  // of all samples

// Keys of the sample labels that name a thread; see PprofThread.
inline constexpr char kThreadLabel[] = "thread";
inline constexpr char kTidLabel[] = "tid";
inline constexpr char kProcessLabel[] = "process";
inline constexpr char kPidLabel[] = "pid";

}  // namespace fieldcost::wire
