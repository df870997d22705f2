#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/wire/batch.h"

namespace fieldcost::wire {

// Requests of an agent to the aggregator other than sending batches. All are signed by the agent's
// key; BATCHES.md describes requests and responses.

inline constexpr char kBatchesPath[] = "/v1/batches";
inline constexpr char kEnrolmentsPath[] = "/v1/enrolments";
inline constexpr char kWithdrawalsPath[] = "/v1/withdrawals";

inline constexpr char kTokenHeader[] = "Fieldcost-Token";      // enrolment token
inline constexpr char kReceiptHeader[] = "Fieldcost-Receipt";  // of the withdrawn batch
// In the response to a batch (401), states that this server accepts batches only from enrolled
// agents. An agent then enrols and sends the batch again.
inline constexpr char kEnrolmentHeader[] = "Fieldcost-Enrolment";
inline constexpr char kEnrolmentRequired[] = "required";

// The bytes that an agent signs to enrol: domain text, 0 byte, public key (32), epoch (u64 little
// endian), sha256 of the token (32; without a token, of the empty text), the service's id.
std::string EnrolmentSigningInput(std::string_view service, std::string_view agent_public_key,
                                  Epoch epoch, std::string_view token_sha256);

// The bytes that an agent signs to withdraw a batch: as BatchSigningInput(), with another domain.
std::string WithdrawalSigningInput(std::string_view service, std::string_view agent_public_key,
                                   Epoch epoch, Sequence sequence, std::string_view body_sha256);

// The aggregator's response to a withdrawal, the body of a 200 (JSON). A repeated withdrawal gets
// the same response.
struct WithdrawalAnswer {
  std::uint32_t withdrawn_rows = 0;  // 0 if the batch had never arrived
  bool operator==(const WithdrawalAnswer&) const = default;
};
std::string EncodeWithdrawalAnswer(const WithdrawalAnswer& answer);
// kCorrupt or kTooLarge unless it is such a response. Unknown members are ignored.
Result<WithdrawalAnswer> DecodeWithdrawalAnswer(std::string_view untrusted_json);

}  // namespace fieldcost::wire
