#pragma once

namespace fieldcost::preload {

// Measures the thunk's own cost with functions of known duration. Sets process.bias_ticks (included
// in every measured time) and .bias_spread_ticks, and .timed_call_ps and .untimed_call_ps (the
// host's cost per call). Called by the constructor, before there are picks and cells. REQUIRES:
// process.ticks_to_ns, threads.
void Calibrate();

}  // namespace fieldcost::preload
