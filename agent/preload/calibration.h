#pragma once

namespace fieldcost::preload {

// Measures what a thunk itself takes, on functions of known time: process.bias_ticks (part of
// every measured time) and .bias_spread_ticks, .timed_call_ps and .untimed_call_ps (what the host
// pays). For the constructor, before there are picks and cells. REQUIRES: process.ticks_to_ns,
// threads.
void Calibrate();

}  // namespace fieldcost::preload
