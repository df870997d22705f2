#include "aggregator/ingest/counters.h"

#include <fmt/format.h>

namespace fieldcost::ingest {

std::string Counters::Summary() const {
  return fmt::format(
      "accepted {} batches with {} rows, refused {} rows in them, answered {} replays; refused "
      "batches: {} unknown target, {} wrong method, {} wrong content type, {} too large, {} bad "
      "envelope, {} bad signature, {} malformed, {} bad sequence, {} overloaded, {} store failed",
      accepted_batches.load(), accepted_rows.load(), rejected_rows.load(), replayed_batches.load(),
      unknown_target.load(), wrong_method.load(), wrong_content_type.load(), too_large.load(),
      bad_envelope.load(), bad_signature.load(), malformed.load(), bad_sequence.load(),
      overloaded.load(), store_failed.load());
}

}  // namespace fieldcost::ingest
