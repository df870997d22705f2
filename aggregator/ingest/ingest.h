#pragma once

#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/ingest/abuse_log.h"
#include "aggregator/ingest/address_share.h"
#include "aggregator/ingest/admission.h"
#include "aggregator/ingest/counters.h"
#include "aggregator/ingest/envelope.h"
#include "aggregator/ingest/ingest_limits.h"
#include "aggregator/ingest/ingest_options.h"
#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/ingest/rate_limit.h"
#include "aggregator/ingest/receipt.h"
#include "aggregator/ingest/revocation.h"
#include "aggregator/ingest/row_check.h"
#include "aggregator/ingest/service_names.h"
#include "aggregator/store/batch_stages.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/http/http_message.h"
#include "common/wire/batch.h"

namespace fieldcost::ingest {

// Handles the requests of agents: adding a batch, withdrawing one, enrolling. Thread-safe; each
// thread has its own decoder and buffers.
class Ingest {
 public:
  // Without `names`, names in the abuse log cannot be resolved after the process has ended.
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
        roots_(options_.roots),
        rate_(options_.batches_per_agent_per_hour),
        withdrawal_rate_(options_.batches_per_agent_per_hour),
        row_rate_(options_.rows_per_agent_per_hour),
        held_share_(options_.held_bytes_per_address),
        abuse_log_(names ? std::move(*names) : AbuseNames::InMemory(clock.Now())) {}

  // Whether Handle() serves this path.
  static bool IsTarget(std::string_view untrusted_target);

  // Returns 200 (the same bytes for a repeated request), or a refusal listed in README.md. Blocks
  // for a disk sync. Ends the stages from kVerify on, as far as the request gets.
  http::Response Handle(const http::Request& untrusted_request, store::StageTimes& stages);
  http::Response Handle(const http::Request& untrusted_request);

  // The response to a request that cannot be queued: 503 with Retry-After.
  http::Response Overloaded();

  // The id under which the store knows the agent.
  std::string IdOf(const crypto::PublicKey& agent) const;

  // Refuses an agent's batches from now on, durably, drops its held batches and, if requested,
  // withdraws all others; with `dry_run`, only reports what would change. Errors as FindAgent().
  // kIo: this process refuses the batches, but the revocation may not survive a restart.
  Result<RevocationReport> Revoke(const RevocationRequest& untrusted_request,
                                  std::uint32_t threshold = 0,
                                  const store::Store::Progress& progress = {});

  // Sets the host names under which agents may address this service.
  void SetNames(std::vector<std::string> names) { names_.Set(std::move(names)); }
  // Adds roots that agents of this service may have pinned, by their fingerprints.
  void AddRoots(const std::vector<std::string>& fingerprints) { roots_.Add(fingerprints); }

  // Records in the abuse log which agents have contributed to the rows, regardless of class and
  // week. For kinds other than kInconsistentRow, only agents that have contributed to at least half
  // as many of them as the agent with the most. Reads the contributions of all agents. Errors are
  // the store's.
  Status NoteContributors(Abuse kind, const std::vector<stats::RowKey>& rows);

  // Reads the token files again, for enrolments from now on. After an error (as TokenSet::Load())
  // the tokens remain as they were.
  Status ReloadTokens();

  // Empty if current batches are accepted; otherwise the reason: the bound for expired data, which
  // never goes back, is ahead of the clock. Every agent then gets 503 and keeps its batches.
  std::string WhyNothingIsAccepted() const;

  const Counters& counters() const { return counters_; }

 private:
  struct Workspace;
  static Workspace& ThreadWorkspace();

  // nullopt if the request is for this service; otherwise the refusal.
  std::optional<http::Response> CheckService(const Sender& untrusted_sender);
  http::Response HandleEnrolment(const http::Request& untrusted_request);
  // nullopt if the agent has enrolled with this token; otherwise the refusal.
  std::optional<http::Response> Enrol(const std::string& agent_id, wire::Epoch epoch,
                                      std::string_view untrusted_token);
  // Checks envelope, signature and admission, decodes, and calls one of the two below.
  http::Response HandleBody(const http::Request& untrusted_request, Purpose purpose,
                            store::StageTimes& stages);
  // `request` contains the decoded body.
  http::Response AddBatch(const BatchIdentity& batch, const std::string& agent_id,
                          const http::Request& request, Workspace& workspace,
                          store::StageTimes& stages);
  http::Response WithdrawBatch(const BatchIdentity& batch, const std::string& agent_id,
                               std::string_view untrusted_receipt, Workspace& workspace);
  // Puts the accepted rows of the decoded batch into `workspace`; kInvalidArgument: they cannot
  // have been accepted.
  static Result<const store::AcceptedRows*> AcceptedRowsOf(
      const std::vector<std::uint32_t>& refused, Workspace& workspace);
  // Whether the batch would be accepted if it arrived after its withdrawal. Errors are the store's.
  Result<bool> WouldBeAccepted(const BatchIdentity& batch, const std::string& agent_id) const;
  http::Response RefuseWithdrawal(const Error& error, const std::string& agent_id);
  void CountWithdrawn(const store::WithdrawResult& result, bool may_come);
  // nullopt if the agent's batches are accepted; otherwise the refusal.
  std::optional<http::Response> CheckAdmission(const BatchIdentity& batch,
                                               const std::string& agent_id);
  Mutex& LockOf(std::string_view agent_id) {
    return agent_locks_[static_cast<std::uint8_t>(agent_id[0]) % kAgentStripes];
  }
  http::Response RefuseRevoked(const std::string& agent_id);
  Status CheckEpoch(wire::Epoch untrusted_epoch) const;
  // nullopt unless the agent's key has been used in another epoch, where it may have contributed.
  // REQUIRES: the agent's lock is held until the store has accepted the batch.
  std::optional<http::Response> CheckOneEpoch(wire::Epoch epoch, const std::string& agent_id);
  // nullopt if batches of the epoch are accepted now; otherwise the refusal.
  std::optional<http::Response> RefuseEpoch(wire::Epoch untrusted_epoch);
  std::optional<http::Response> CheckRate(AgentRate& rate, const std::string& agent_id);
  // nullopt unless the agent has sent too many rows this hour, not counting this batch.
  std::optional<http::Response> CheckRowRate(const wire::BatchDecoder& decoder,
                                             const std::string& agent_id);
  // nullopt if there is room on the disk for new batches; otherwise the refusal.
  std::optional<http::Response> CheckDiskRoom();
  // Sorts the decoded rows into accepted and refused ones. Errors are the store's. REQUIRES: the
  // agent's lock is held until the store has accepted the batch.
  Status CheckRows(const std::string& agent_id, wire::Epoch epoch, Workspace& workspace,
                   store::StageTimes& stages);
  // Returns why the row with these totals is too large for the stored row, if so. Errors are the
  // store's.
  Result<std::optional<RowRefusal>> CheckSumsFit(const stats::RowKey& key,
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
  AgentRate withdrawal_rate_;  // separate: an agent may withdraw as much as it has sent
  AgentRate row_rate_;
  std::atomic<bool> disk_is_full_{false};  // according to the last batch
  AddressShare held_share_;
  AbuseLog abuse_log_;
  std::array<Mutex, kAgentStripes> agent_locks_;  // one batch of an agent at a time
};

}  // namespace fieldcost::ingest
