#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/probe/types.h"

namespace fieldcost::probe {

// The body of POST /v1/probes: a zstd frame around the message of probe.proto. Pure functions,
// thread-safe.

// kInvalidArgument if it violates a rule of CheckBatch(); kTooLarge if it exceeds a limit
// (probe_limits.h).
Result<std::string> EncodeBatch(const Batch& batch);

// Rejects everything that EncodeBatch() would reject: kCorrupt, kTooLarge, kUnsupported (another
// format version), kInvalidArgument.
Result<Batch> DecodeBatch(std::string_view untrusted_body);

// The rules: indices in range; texts of valid UTF-8 within their bounds, without control
// characters; labels not empty; times in [kLeastNs, kMostNs); runs and sessions not 0; no duplicate
// run or event; no event that ends before it begins; and each hit's event in `events`. A run's hits
// may be in any order.
Status CheckBatch(const Batch& untrusted_batch);

}  // namespace fieldcost::probe
