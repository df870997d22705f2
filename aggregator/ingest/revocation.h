#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/ingest/abuse_names.h"
#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"

// Revoking an agent, and withdrawing what it has contributed.

namespace fieldcost::ingest {

struct RevocationRequest {
  std::string agent;      // a name in the abuse log, or a public key in hex
  bool withdraw = false;  // also withdraw what it contributed
  bool dry_run = false;   // change nothing, report what would change; with `withdraw`
};

// The changes made, or those that would be made, for people and programs.
struct RevocationReport {
  std::vector<std::pair<std::string, std::uint64_t>> numbers;  // with their names
  std::vector<std::string> changes;  // the APIs that change most: one line of text each
};

// kInvalidArgument unless the agent is named in one of these two forms.
Status CheckForm(const RevocationRequest& untrusted_request);

// Returns the agent's id. A name is compared with those of all agents in the ledger that have ever
// delivered anything. kNotFound: no agent had it on the days whose names are known;
// kInvalidArgument: several had it (the message states how many).
Result<std::string> FindAgent(std::string_view untrusted_agent, const store::Store& store,
                              const Pseudonyms& pseudonyms, const AbuseNames::Reader& names);

// Revokes the agent, durably, as requested. `threshold` is that of publication.
Result<RevocationReport> RevokeAgent(store::Store& store, std::string_view agent_id,
                                     const RevocationRequest& request, std::uint32_t threshold,
                                     const store::Store::Progress& progress = {});

}  // namespace fieldcost::ingest
