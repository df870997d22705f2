#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/probe/types.h"

namespace fieldcost::probe {

// The body of POST /v1/probes: a zstd frame around the message of probe.proto. Pure functions,
// thread-safe.

// kInvalidArgument if it breaks a rule of CheckBatch(); kTooLarge if it is beyond a limit
// (limits.h).
Result<std::string> EncodeBatch(const Batch& batch);

// Refuses everything that EncodeBatch() would refuse: kCorrupt, kTooLarge, kUnsupported (another
// format version), kInvalidArgument.
Result<Batch> DecodeBatch(std::string_view untrusted_body);

// The rules: indices in range, texts of valid UTF-8 without control characters within their bounds,
// labels not empty, times in [kLeastNs, kMostNs), runs and sessions not 0, no duplicate run or
// event, no event that ends before it begins, and each hit's event in `events`. A run's hits may be
// in any order.
Status CheckBatch(const Batch& untrusted_batch);

}  // namespace fieldcost::probe
