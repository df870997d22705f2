#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/ingest/token_file.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"

namespace fieldcost::ingest {

enum class EnrolmentMode {
  kOpen,   // every agent's batches are taken
  kToken,  // only those of agents that have enrolled with one of our tokens
};

// Who may send batches. Immutable but for what it writes to the store; thread-safe.
class Admission {
 public:
  // Reads the files' tokens (errors as TokenSet::Load()) and the store's list of revoked agents.
  static Result<Admission> Load(EnrolmentMode mode,
                                const std::vector<std::filesystem::path>& token_files,
                                const store::Store& store);

  EnrolmentMode mode() const { return mode_; }
  bool IsRevoked(const std::string& agent_id) const { return revoked_.contains(agent_id); }
  // Takes the same time for every wrong token of a length.
  bool IsToken(std::string_view untrusted_token) const { return tokens_.Contains(untrusted_token); }

 private:
  EnrolmentMode mode_ = EnrolmentMode::kOpen;
  TokenSet tokens_;
  std::set<std::string> revoked_;
};

}  // namespace fieldcost::ingest
