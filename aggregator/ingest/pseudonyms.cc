#include "aggregator/ingest/pseudonyms.h"

#include <span>

#include "aggregator/ingest/limits.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/random.h"
#include "common/crypto/sha256.h"

namespace fieldcost::ingest {

Result<Pseudonyms> Pseudonyms::LoadOrCreate(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (error) return ErrnoError("look for", path, error.value());
    const std::string secret = crypto::RandomBytes(kSecretBytes);
    const std::string hex =
        HexEncode({reinterpret_cast<const std::uint8_t*>(secret.data()), secret.size()});
    FIELDCOST_TRY(WriteFileAtomically(path, hex + "\n", 0600));
  }
  FIELDCOST_ASSIGN(std::string text, ReadFile(path, 4 * kSecretBytes));
  if (text.ends_with('\n')) text.pop_back();
  auto secret = HexDecode(text);
  if (!secret || secret->size() != kSecretBytes) {
    return Fail(ErrorCode::kCorrupt, "secret file {} does not hold {} hex digits", path.string(),
                2 * kSecretBytes);
  }
  return Pseudonyms(std::move(*secret));
}

std::string Pseudonyms::IdOf(const crypto::PublicKey& agent) const {
  return crypto::HmacSha256(secret_, agent.view());
}

std::string Pseudonyms::Fingerprint() const {
  return crypto::HmacSha256(secret_, "fieldcost agent pseudonyms");
}

}  // namespace fieldcost::ingest
