#include "aggregator/ingest/admission.h"

#include <utility>

namespace fieldcost::ingest {

Result<Admission> Admission::Load(EnrolmentMode mode,
                                  const std::vector<std::filesystem::path>& token_files,
                                  const store::Store& store) {
  Admission admission;
  admission.mode_ = mode;
  admission.token_files_ = token_files;
  FIELDCOST_TRY(admission.ReloadTokens());
  FIELDCOST_ASSIGN(const std::vector<std::string> revoked, store.RevokedAgents());
  {
    Lists& lists = *admission.lists_;
    const WriterLock lock(lists.mutex);
    lists.revoked.insert(revoked.begin(), revoked.end());
  }
  return admission;
}

bool Admission::IsRevoked(const std::string& agent_id) const {
  const ReaderLock lock(lists_->mutex);
  return lists_->revoked.contains(agent_id);
}

void Admission::Revoke(const std::string& agent_id) {
  const WriterLock lock(lists_->mutex);
  lists_->revoked.insert(agent_id);
}

bool Admission::IsToken(std::string_view untrusted_token) const {
  const ReaderLock lock(lists_->mutex);
  return lists_->tokens.Contains(untrusted_token);
}

Status Admission::ReloadTokens() {
  FIELDCOST_ASSIGN(TokenSet tokens, TokenSet::Load(token_files_));
  const WriterLock lock(lists_->mutex);
  lists_->tokens = std::move(tokens);
  return {};
}

}  // namespace fieldcost::ingest
