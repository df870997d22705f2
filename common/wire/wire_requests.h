#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/wire/batch.h"

namespace fieldcost::wire {

// What an agent asks of the aggregator, beside sending batches. All are signed by the agent's key;
// BATCHES.md has the requests and their answers.

inline constexpr char kBatchesPath[] = "/v1/batches";
inline constexpr char kEnrolmentsPath[] = "/v1/enrolments";
inline constexpr char kWithdrawalsPath[] = "/v1/withdrawals";

inline constexpr char kTokenHeader[] = "Fieldcost-Token";      // enrolment token
inline constexpr char kReceiptHeader[] = "Fieldcost-Receipt";  // of the batch that is withdrawn
// Says, in the answer to a batch (401), that this server accepts batches of enrolled agents only.
// An agent enrols and sends the batch again.
inline constexpr char kEnrolmentHeader[] = "Fieldcost-Enrolment";
inline constexpr char kEnrolmentRequired[] = "required";

// The bytes an agent signs to enrol: domain text, 0 byte, public key (32), epoch (u64 little
// endian), sha256 of the token (32; of the empty text if there is none), the service's id.
std::string EnrolmentSigningInput(std::string_view service, std::string_view agent_public_key,
                                  Epoch epoch, std::string_view token_sha256);

// The bytes an agent signs to withdraw a batch; as BatchSigningInput(), with another domain.
std::string WithdrawalSigningInput(std::string_view service, std::string_view agent_public_key,
                                   Epoch epoch, Sequence sequence, std::string_view body_sha256);

// The aggregator's answer to a withdrawal, the body of a 200 (JSON). The same for a repeated one.
struct WithdrawalAnswer {
  std::uint32_t withdrawn_rows = 0;  // 0 if the batch had never arrived
  bool operator==(const WithdrawalAnswer&) const = default;
};
std::string EncodeWithdrawalAnswer(const WithdrawalAnswer& answer);
// kCorrupt or kTooLarge unless it is such an answer. Unknown members are ignored.
Result<WithdrawalAnswer> DecodeWithdrawalAnswer(std::string_view untrusted_json);

}  // namespace fieldcost::wire
