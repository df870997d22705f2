#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "aggregator/ingest/abuse_log.h"
#include "aggregator/ingest/address_share.h"
#include "aggregator/ingest/admission.h"
#include "aggregator/ingest/counters.h"
#include "aggregator/ingest/envelope.h"
#include "aggregator/ingest/limits.h"
#include "aggregator/ingest/options.h"
#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/ingest/rate_limit.h"
#include "aggregator/ingest/receipt.h"
#include "aggregator/ingest/revocation.h"
#include "aggregator/ingest/service_names.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/http/message.h"

namespace fieldcost::ingest {

// What agents ask: to add a batch, to take one away, to enrol. Thread-safe; each thread keeps its
// own decoder and buffers.
class Ingest {
 public:
  // Names of the abuse log are forgotten at the end of the process without `names`.
  // REQUIRES: `store` and `clock` outlive this.
  Ingest(store::Store& store, const Clock& clock, Pseudonyms pseudonyms, Receipts receipts,
         Admission admission, IngestOptions options = {},
         std::optional<AbuseNames> names = std::nullopt)
      : store_(store),
        clock_(clock),
        pseudonyms_(std::move(pseudonyms)),
        receipts_(std::move(receipts)),
        admission_(std::move(admission)),
        options_(std::move(options)),
        names_(options_.names),
        rate_(options_.batches_per_agent_per_hour),
        withdrawal_rate_(options_.batches_per_agent_per_hour),
        held_share_(options_.held_bytes_per_address),
        abuse_log_(names ? std::move(*names) : AbuseNames::InMemory(clock.Now())) {}

  // Whether Handle() answers at this address.
  static bool IsTarget(std::string_view untrusted_target);

  // 200 with the answer (to the same request the same bytes), or what README.md lists. Blocks for a
  // disk sync.
  http::Response Handle(const http::Request& untrusted_request);

  // The answer for a request there is no room for: 503 with Retry-After.
  http::Response Overloaded();

  // The id under which the store knows the agent.
  std::string IdOf(const crypto::PublicKey& agent) const;

  // Turns an agent's batches away from now on, durably, drops those held on probation, and, if that
  // is asked for, takes out all others; or says what that would change. Errors as FindAgent(). kIo:
  // this process turns them away, but may not remember it.
  Result<RevocationReport> Revoke(const RevocationRequest& untrusted_request,
                                  std::uint32_t threshold = 0,
                                  const store::Store::Progress& progress = {});

  // What agents may call this service from now on.
  void SetNames(std::vector<std::string> names) { names_.Set(std::move(names)); }

  // Reads the token files again, for enrolments from now on. After an error (as TokenSet::Load())
  // the tokens are those of before.
  Status ReloadTokens();

  // "" if batches of now are taken; else why not: what is deleted as too old, for good, is younger.
  // Everybody is then answered 503, and keeps what he has.
  std::string WhyNothingIsAccepted() const;

  const Counters& counters() const { return counters_; }

 private:
  struct Workspace;
  static Workspace& ThreadWorkspace();

  // Nothing if it is for this service; else the refusal.
  std::optional<http::Response> CheckService(const Sender& untrusted_sender);
  http::Response HandleEnrolment(const http::Request& untrusted_request);
  // Envelope, signature and admission, then decodes; afterwards one of the two below.
  http::Response HandleBody(const http::Request& untrusted_request, Purpose purpose);
  // `request` has the body that has been decoded.
  http::Response AddBatch(const BatchIdentity& batch, const std::string& agent_id,
                          const http::Request& request, Workspace& workspace);
  http::Response WithdrawBatch(const BatchIdentity& batch, const std::string& agent_id,
                               std::string_view untrusted_receipt, Workspace& workspace);
  // What was accepted of the decoded batch, in `workspace`; kInvalidArgument: it cannot have been.
  static Result<const store::AcceptedRows*> AcceptedRowsOf(const ReceiptContent& receipt,
                                                           Workspace& workspace);
  // Whether the batch would be taken, should it come after its withdrawal. Errors are the store's.
  Result<bool> MayCome(const BatchIdentity& batch, const std::string& agent_id) const;
  http::Response RefuseWithdrawal(const Error& error, const std::string& agent_id);
  void CountWithdrawn(const store::WithdrawResult& result, bool may_come);
  // Nothing if the agent's batches are taken; else the refusal.
  std::optional<http::Response> CheckAdmission(const BatchIdentity& batch,
                                               const std::string& agent_id);
  std::mutex& LockOf(std::string_view agent_id) {
    return agent_locks_[static_cast<std::uint8_t>(agent_id[0]) % kAgentStripes];
  }
  http::Response RefuseRevoked(const std::string& agent_id);
  Status CheckEpoch(wire::Epoch untrusted_epoch) const;
  // Nothing if batches of the epoch are taken now; else the refusal.
  std::optional<http::Response> RefuseEpoch(wire::Epoch untrusted_epoch);
  std::optional<http::Response> CheckRate(AgentRate& rate, const std::string& agent_id);
  // Nothing if there is room on the disk for new batches.
  std::optional<http::Response> CheckRoom();
  // Sorts the decoded rows into accepted and refused ones. Errors are the store's. REQUIRES: the
  // agent's lock is held until the store has them.
  Status CheckRows(const std::string& agent_id, wire::Epoch epoch, Workspace& workspace);
  void CountAccepted(const store::AcceptResult& result, const std::string& agent_id,
                     const Workspace& workspace);
  http::Response RefuseByStore(const Error& error, const std::string& agent_id);
  http::Response RefuseStoreFailure();

  store::Store& store_;
  const Clock& clock_;
  const Pseudonyms pseudonyms_;
  const Receipts receipts_;
  Admission admission_;
  const IngestOptions options_;
  ServiceNames names_;
  Counters counters_;
  AgentRate rate_;
  AgentRate withdrawal_rate_;              // apart: who has sent much may take as much back at once
  std::atomic<bool> disk_is_full_{false};  // when a batch last came
  AddressShare held_share_;
  AbuseLog abuse_log_;
  std::array<std::mutex, kAgentStripes> agent_locks_;  // one batch of an agent at a time
};

}  // namespace fieldcost::ingest
