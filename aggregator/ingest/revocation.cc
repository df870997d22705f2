#include "aggregator/ingest/revocation.h"

#include <set>

#include "common/base/text.h"

namespace fieldcost::ingest {
namespace {

RevocationReport ReportOf(const store::RemovalEffect& effect) {
  RevocationReport report;
  report.numbers = {{"batches", effect.batches},
                    {"held_batches", effect.held_batches},
                    {"not_kept", effect.not_kept},
                    {"rows", effect.rows},
                    {"contributions", effect.contributions},
                    {"calls", effect.calls},
                    {"below_threshold", effect.below_threshold}};
  for (const store::ApiChange& change : effect.most_changed) {
    report.changes.push_back(fmt::format("{}: calls {} -> {}, contributions {} -> {}",
                                         stats::DisplayName(change.api), change.calls_before,
                                         change.calls_after, change.contributions_before,
                                         change.contributions_after));
  }
  return report;
}

}  // namespace

Status CheckForm(const RevocationRequest& untrusted_request) {
  if (AbuseNames::IsName(untrusted_request.agent)) return {};
  if (crypto::ParsePublicKey(untrusted_request.agent)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "an agent is a name from the log (16 hex digits) or a public key (64)");
}

Result<std::string> FindAgent(std::string_view untrusted_agent, const store::Store& store,
                              const Pseudonyms& pseudonyms, const AbuseNames::Reader& names) {
  FIELDCOST_TRY(CheckForm({.agent = std::string(untrusted_agent)}));
  if (!AbuseNames::IsName(untrusted_agent)) {
    FIELDCOST_ASSIGN(const crypto::PublicKey key, crypto::ParsePublicKey(untrusted_agent));
    return pseudonyms.IdOf(key);
  }
  std::vector<std::string> found;
  FIELDCOST_TRY(store.ForEachAgent([&](std::string_view agent_id) -> Status {
    if (names.IsNamed(agent_id, untrusted_agent)) found.emplace_back(agent_id);
    return {};
  }));
  if (found.empty()) {
    return Fail(ErrorCode::kNotFound,
                "no agent that has delivered anything was called {} in the last {} days",
                untrusted_agent, AbuseNames::kDaysNamesAreKnown);
  }
  if (found.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument,
                "{} agents were called {} in the last {} days; none was revoked", found.size(),
                untrusted_agent, AbuseNames::kDaysNamesAreKnown);
  }
  return std::move(found.front());
}

Result<RevocationReport> RevokeAgent(store::Store& store, std::string_view agent_id,
                                     const RevocationRequest& request, std::uint32_t threshold,
                                     const store::Store::Progress& progress) {
  if (request.dry_run) {
    FIELDCOST_ASSIGN(const store::RemovalEffect effect,
                     store.EffectOfRemoving(agent_id, threshold));
    return ReportOf(effect);
  }
  FIELDCOST_ASSIGN(const store::AgentBatches before, store.BatchesOf(agent_id));
  FIELDCOST_TRY(store.Revoke(agent_id));
  RevocationReport report;
  if (!request.withdraw) {
    report.numbers = {{"held_batches", before.held}};
    return report;
  }
  FIELDCOST_ASSIGN(const store::RemovalReport removed, store.RemoveAll(agent_id, progress));
  report.numbers = {{"batches", removed.batches},
                    {"held_batches", before.held},
                    {"rows", removed.rows},
                    {"not_taken", removed.not_taken},
                    {"not_kept", removed.not_kept}};
  return report;
}

}  // namespace fieldcost::ingest
