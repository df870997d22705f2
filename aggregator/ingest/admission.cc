#include "aggregator/ingest/admission.h"

namespace fieldcost::ingest {

Result<Admission> Admission::Load(EnrolmentMode mode,
                                  const std::vector<std::filesystem::path>& token_files,
                                  const store::Store& store) {
  Admission admission;
  admission.mode_ = mode;
  FIELDCOST_ASSIGN(admission.tokens_, TokenSet::Load(token_files));
  FIELDCOST_ASSIGN(const std::vector<std::string> revoked, store.RevokedAgents());
  admission.revoked_.insert(revoked.begin(), revoked.end());
  return admission;
}

}  // namespace fieldcost::ingest
