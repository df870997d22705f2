#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
#include "aggregator/ingest/row_check.h"
#include "aggregator/ingest/service_names.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/http/message.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

// Answers what agents ask: to add a batch, to withdraw one, to enrol. Thread-safe; each thread
// keeps its own decoder and buffers.
class Ingest {
 public:
  // Without `names`, names of the abuse log are forgotten when the process ends. REQUIRES: `store`
  // and `clock` outlive this.
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
        roots_(options_.roots),
        rate_(options_.batches_per_agent_per_hour),
        withdrawal_rate_(options_.batches_per_agent_per_hour),
        row_rate_(options_.rows_per_agent_per_hour),
        held_share_(options_.held_bytes_per_address),
        abuse_log_(names ? std::move(*names) : AbuseNames::InMemory(clock.Now())) {}

  // Whether Handle() answers at this address.
  static bool IsTarget(std::string_view untrusted_target);

  // 200 with the answer (to the same request the same bytes), or a refusal that README.md lists.
  // Blocks for a disk sync.
  http::Response Handle(const http::Request& untrusted_request);

  // The answer for a request there is no room for: 503 with Retry-After.
  http::Response Overloaded();

  // The id under which the store knows the agent.
  std::string IdOf(const crypto::PublicKey& agent) const;

  // Refuses an agent's batches from now on, durably, drops those held on probation and, if asked,
  // withdraws all others; or says what that would change. Errors as FindAgent(). kIo: this process
  // refuses them, but may not remember it.
  Result<RevocationReport> Revoke(const RevocationRequest& untrusted_request,
                                  std::uint32_t threshold = 0,
                                  const store::Store::Progress& progress = {});

  // Sets the names under which agents may know this service.
  void SetNames(std::vector<std::string> names) { names_.Set(std::move(names)); }
  // Adds roots that agents of this service may have pinned, by their fingerprints.
  void AddRoots(const std::vector<std::string>& fingerprints) { roots_.Add(fingerprints); }

  // Notes in the abuse log which agents have contributed to the rows, whatever class and week they
  // named. Of a kind but kInconsistentRow: each that has contributed to at least half as many as
  // the one with the most. Reads what all agents have contributed to. Errors are the store's.
  Status NoteContributors(Abuse kind, const std::vector<stats::RowKey>& rows);

  // Reads the token files again, for enrolments from now on. After an error (as TokenSet::Load())
  // the tokens remain as they were.
  Status ReloadTokens();

  // Empty if current batches are accepted; otherwise why not: what is deleted as too old, for good,
  // is newer than the clock. Every agent is then answered 503, and keeps its batches.
  std::string WhyNothingIsAccepted() const;

  const Counters& counters() const { return counters_; }

 private:
  struct Workspace;
  static Workspace& ThreadWorkspace();

  // nullopt if it is for this service; otherwise the refusal.
  std::optional<http::Response> CheckService(const Sender& untrusted_sender);
  http::Response HandleEnrolment(const http::Request& untrusted_request);
  // nullopt if the agent has enrolled with this token; otherwise the refusal.
  std::optional<http::Response> Enrol(const std::string& agent_id, wire::Epoch epoch,
                                      std::string_view untrusted_token);
  // Checks envelope, signature and admission, decodes, and calls one of the two below.
  http::Response HandleBody(const http::Request& untrusted_request, Purpose purpose);
  // `request` has the body that has been decoded.
  http::Response AddBatch(const BatchIdentity& batch, const std::string& agent_id,
                          const http::Request& request, Workspace& workspace);
  http::Response WithdrawBatch(const BatchIdentity& batch, const std::string& agent_id,
                               std::string_view untrusted_receipt, Workspace& workspace);
  // The rows of the decoded batch that were accepted, in `workspace`; kInvalidArgument: they cannot
  // have been.
  static Result<const store::AcceptedRows*> AcceptedRowsOf(
      const std::vector<std::uint32_t>& refused, Workspace& workspace);
  // Whether the batch would be accepted if it came after its withdrawal. Errors are the store's.
  Result<bool> WouldBeAccepted(const BatchIdentity& batch, const std::string& agent_id) const;
  http::Response RefuseWithdrawal(const Error& error, const std::string& agent_id);
  void CountWithdrawn(const store::WithdrawResult& result, bool may_come);
  // nullopt if the agent's batches are accepted; otherwise the refusal.
  std::optional<http::Response> CheckAdmission(const BatchIdentity& batch,
                                               const std::string& agent_id);
  std::mutex& LockOf(std::string_view agent_id) {
    return agent_locks_[static_cast<std::uint8_t>(agent_id[0]) % kAgentStripes];
  }
  http::Response RefuseRevoked(const std::string& agent_id);
  Status CheckEpoch(wire::Epoch untrusted_epoch) const;
  // nullopt unless the agent's key has been used in another epoch, where it may have contributed.
  // REQUIRES: the agent's lock is held until the store has the batch.
  std::optional<http::Response> CheckOneEpoch(wire::Epoch epoch, const std::string& agent_id);
  // nullopt if batches of the epoch are accepted now; otherwise the refusal.
  std::optional<http::Response> RefuseEpoch(wire::Epoch untrusted_epoch);
  std::optional<http::Response> CheckRate(AgentRate& rate, const std::string& agent_id);
  // nullopt unless the agent has sent too many rows in this hour, before this batch.
  std::optional<http::Response> CheckRowRate(const wire::BatchDecoder& decoder,
                                             const std::string& agent_id);
  // nullopt if there is room on the disk for new batches; otherwise the refusal.
  std::optional<http::Response> CheckRoom();
  // Sorts the decoded rows into accepted and refused ones. Errors are the store's. REQUIRES: the
  // agent's lock is held until the store has them.
  Status CheckRows(const std::string& agent_id, wire::Epoch epoch, Workspace& workspace);
  // Why the row with these totals is too large for what is stored of it. Errors are the
  // store's.
  Result<std::optional<RowRefusal>> CheckRoomOf(const stats::RowKey& key,
                                                const stats::Bucket& totals) const;
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
  ServiceRoots roots_;
  Counters counters_;
  AgentRate rate_;
  AgentRate withdrawal_rate_;  // separate: an agent that has sent much may withdraw as much at once
  AgentRate row_rate_;
  std::atomic<bool> disk_is_full_{false};  // as of the last batch
  AddressShare held_share_;
  AbuseLog abuse_log_;
  std::array<std::mutex, kAgentStripes> agent_locks_;  // one batch of an agent at a time
};

}  // namespace fieldcost::ingest
