#include "aggregator/operate.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/policy_toml.h"
#include "aggregator/publish/policy_publisher.h"
#include "aggregator/store/store.h"

namespace fieldcost::aggregator {
namespace {

// The store of a stopped server; none is made.
Result<std::unique_ptr<store::Store>> OpenExisting(const Config& config) {
  std::error_code error;
  if (!std::filesystem::is_directory(config.store.data_dir / "store", error)) {
    return Fail(ErrorCode::kNotFound, "there is no store in {}", config.store.data_dir.string());
  }
  return store::Store::Open(config.store);
}

}  // namespace

Result<bool> Verify(const Config& config) {
  FIELDCOST_ASSIGN(const auto store, OpenExisting(config));
  FIELDCOST_ASSIGN(const store::VerifyReport report, store->Verify());
  fmt::print("store sequence={} batches={} rows={} contributions={} invalid={} saturated={}\n",
             report.sequence, report.expected.batches, report.rows, report.found.contributions,
             report.invalid_rows, report.saturated_rows);
  fmt::print("{}\n", report.ok() ? "ok: every row is valid and the rows add up to what was accepted"
                                 : "problem: " + report.first_problem);
  return report.ok();
}

Status SignPolicy(const Config& config, const std::filesystem::path& policy_file, bool json,
                  const Clock& clock) {
  FIELDCOST_ASSIGN(PolicyText text, LoadPolicyText(policy_file));
  FIELDCOST_ASSIGN(
      const wire::PolicyMetadata policy,
      publish::PublishPolicy(config.store.data_dir, std::move(text.policy), text.lifetime, clock));
  fmt::print("{}", json ? ShowPolicyJson(policy, clock.Now()) : ShowPolicy(policy, clock.Now()));
  return {};
}

Status ShowPolicy(const Config& config, bool json, const Clock& clock) {
  FIELDCOST_ASSIGN(const auto policy, publish::PublishedPolicy(config.store.data_dir));
  if (!policy) {
    return Fail(ErrorCode::kNotFound, "no policy is in force in {}",
                config.store.data_dir.string());
  }
  fmt::print("{}", json ? ShowPolicyJson(*policy, clock.Now()) : ShowPolicy(*policy, clock.Now()));
  return {};
}

Status Revoke(const Config& config, std::string_view untrusted_agent_hex) {
  FIELDCOST_ASSIGN(const crypto::PublicKey agent, crypto::ParsePublicKey(untrusted_agent_hex));
  FIELDCOST_ASSIGN(const auto store, OpenExisting(config));
  const std::filesystem::path secret = config.store.data_dir / "keys" / ingest::kPseudonymSecret;
  std::error_code error;
  if (!std::filesystem::exists(secret, error)) {
    return Fail(ErrorCode::kNotFound, "secret file {} is missing", secret.string());
  }
  FIELDCOST_ASSIGN(const auto pseudonyms, ingest::Pseudonyms::LoadOrCreate(secret));
  FIELDCOST_TRY(store->Bind(ingest::kPseudonymSecret, pseudonyms.Fingerprint()));
  FIELDCOST_TRY(store->Revoke(pseudonyms.IdOf(agent)));
  fmt::print("revoked: no more batches of agent {} are taken\n", agent.Hex());
  return {};
}

}  // namespace fieldcost::aggregator
