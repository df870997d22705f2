#pragma once

#include "aggregator/ingest/counters.h"
#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/http/message.h"

namespace fieldcost::ingest {

inline constexpr char kBatchesPath[] = "/v1/batches";

// Takes a batch from the request to the durable answer: envelope, signature (before anything is
// decompressed), decoding, a check of every row, Store::Accept. Refused rows never cost the others.
// Thread-safe; each thread keeps its own decoder and buffers.
class Ingest {
 public:
  // REQUIRES: `store` and `clock` outlive this.
  Ingest(store::Store& store, const Clock& clock, Pseudonyms pseudonyms)
      : store_(store), clock_(clock), pseudonyms_(std::move(pseudonyms)) {}

  // 200 with the answer (for a replay the first one, same bytes); 400, 401, 404, 405, 413, 415 as
  // the request deserves; 503 if the store has failed. Blocks for a disk sync.
  http::Response Handle(const http::Request& untrusted_request);

  // The answer for a request there is no room for: 503 with Retry-After.
  http::Response Overloaded();

  const Counters& counters() const { return counters_; }

 private:
  struct Workspace;
  http::Response HandleBatch(const http::Request& untrusted_request);
  void CheckRows(Workspace& workspace);

  store::Store& store_;
  const Clock& clock_;
  const Pseudonyms pseudonyms_;
  Counters counters_;
};

}  // namespace fieldcost::ingest
