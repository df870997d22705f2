// A secret in a file of mode 0600: 64 hex digits "\n".
#include "aggregator/ingest/server_secret.h"

#include <span>

#include "aggregator/ingest/ingest_limits.h"
#include "common/base/file.h"
#include "common/base/secret_file.h"
#include "common/base/text.h"
#include "common/crypto/random.h"

namespace fieldcost::ingest {

Result<std::string> LoadOrCreateSecret(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    if (error) return ErrnoError("look for", path, error.value());
    const std::string secret = crypto::RandomBytes(kSecretBytes);
    const std::string hex = HexEncode(secret);
    FIELDCOST_TRY(WriteFileAtomically(path, hex + "\n", 0600));
  }
  FIELDCOST_ASSIGN(std::string text, ReadSecretFile("secret file", path, 4 * kSecretBytes));
  if (text.ends_with('\n')) text.pop_back();
  auto secret = HexDecode(text);
  if (!secret || secret->size() != kSecretBytes) {
    return Fail(ErrorCode::kCorrupt, "secret file {} does not hold {} hex digits", path.string(),
                2 * kSecretBytes);
  }
  return std::move(*secret);
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

}  // namespace fieldcost::ingest
