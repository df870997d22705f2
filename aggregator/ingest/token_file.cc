// A token in a file of mode 0600: 1 to 256 printable characters of ASCII ["\n"].
#include "aggregator/ingest/token_file.h"

#include <algorithm>

#include "aggregator/ingest/server_secret.h"
#include "common/base/secret_file.h"
#include "common/crypto/sha256.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::ingest {

Result<std::string> ReadTokenFile(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(std::string token, ReadSecretFile("token file", path, wire::kMaxTokenBytes + 1));
  if (token.ends_with('\n')) token.pop_back();
  const bool printable =
      std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (token.empty() || token.size() > wire::kMaxTokenBytes || !printable) {
    return Fail(ErrorCode::kInvalidArgument,
                "token file {} does not hold one line of 1 to {} printable characters",
                path.string(), wire::kMaxTokenBytes);
  }
  return token;
}

Result<TokenSet> TokenSet::Load(const std::vector<std::filesystem::path>& files) {
  TokenSet tokens;
  for (const std::filesystem::path& file : files) {
    FIELDCOST_ASSIGN(const std::string token, ReadTokenFile(file));
    tokens.hashes_.push_back(crypto::Sha256(token));
  }
  return tokens;
}

bool TokenSet::Contains(std::string_view untrusted_token) const {
  const std::string hash = crypto::Sha256(untrusted_token);
  bool found = false;
  for (const std::string& known : hashes_) found = EqualInConstantTime(hash, known) || found;
  return found;
}

}  // namespace fieldcost::ingest
