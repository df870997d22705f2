#pragma once

#include <cstddef>

#include "common/wire/wire_limits.h"
#include "tools/exchange/exchange_limits.h"

namespace fieldcost::exchange {

inline constexpr std::size_t kMaxPprofLabels = 4 * kMaxPprofEntries;  // of all samples

// Keys of the sample labels that name a thread; see PprofThread.
inline constexpr char kThreadLabel[] = "thread";
inline constexpr char kTidLabel[] = "tid";
inline constexpr char kProcessLabel[] = "process";
inline constexpr char kPidLabel[] = "pid";

}  // namespace fieldcost::exchange
