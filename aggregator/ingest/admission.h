#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/ingest/token_file.h"
#include "aggregator/store/store.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::ingest {

enum class EnrolmentMode {
  kOpen,   // every agent's batches are accepted
  kToken,  // only those of agents that have enrolled with a valid token
};

// Decides which agents may send batches. Thread-safe except for being moved.
class Admission {
 public:
  // Reads the files' tokens (errors as TokenSet::Load()) and the store's list of revoked agents.
  static Result<Admission> Load(EnrolmentMode mode,
                                const std::vector<std::filesystem::path>& token_files,
                                const store::Store& store);

  EnrolmentMode mode() const { return mode_; }
  bool IsRevoked(const std::string& agent_id) const;
  // Takes effect immediately; the caller must record it in the store.
  void Revoke(const std::string& agent_id);
  // Takes the same time for every wrong token of the same length.
  bool IsToken(std::string_view untrusted_token) const;
  // Reads the same files again. After an error the tokens remain as they were.
  Status ReloadTokens();

 private:
  struct Lists {
    SharedMutex mutex;
    TokenSet tokens FIELDCOST_GUARDED_BY(mutex);
    std::set<std::string> revoked FIELDCOST_GUARDED_BY(mutex);
  };

  EnrolmentMode mode_ = EnrolmentMode::kOpen;
  std::vector<std::filesystem::path> token_files_;
  std::unique_ptr<Lists> lists_ = std::make_unique<Lists>();
};

}  // namespace fieldcost::ingest
