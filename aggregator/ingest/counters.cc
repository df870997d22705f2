#include "aggregator/ingest/counters.h"

#include <fmt/format.h>

namespace fieldcost::ingest {

std::string Counters::Summary() const {
  return fmt::format(
      "accepted {} batches with {} rows, refused {} rows in them, answered {} replays; withdrew {} "
      "batches with {} rows, {} before they came, answered {} repeated withdrawals; {} enrolments; "
      "refused requests: {} unknown target, {} wrong method, {} wrong content type, {} too large, "
      "{} bad envelope, {} bad signature, {} malformed, {} bad sequence, {} not enrolled, {} bad "
      "token, {} revoked, {} bad receipt, {} not withdrawable, {} overloaded, {} store failed",
      accepted_batches.load(), accepted_rows.load(), rejected_rows.load(), replayed_batches.load(),
      withdrawn_batches.load(), withdrawn_rows.load(), withdrawn_before_arrival.load(),
      repeated_withdrawals.load(), enrolments.load(), unknown_target.load(), wrong_method.load(),
      wrong_content_type.load(), too_large.load(), bad_envelope.load(), bad_signature.load(),
      malformed.load(), bad_sequence.load(), not_enrolled.load(), bad_token.load(), revoked.load(),
      bad_receipt.load(), not_withdrawable.load(), overloaded.load(), store_failed.load());
}

}  // namespace fieldcost::ingest
