#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::ingest {

// Reads one token: a line of 1 to wire::kMaxTokenBytes printable ASCII characters.
// kPermissionDenied if others may read or write the file or it belongs to another user;
// kInvalidArgument if it does not contain a token.
Result<std::string> ReadTokenFile(const std::filesystem::path& path);

// The tokens of several such files; only hashes are kept. Immutable.
class TokenSet {
 public:
  static Result<TokenSet> Load(const std::vector<std::filesystem::path>& files);

  // Takes the same time for every wrong token of the same length.
  bool Contains(std::string_view untrusted_token) const;

 private:
  std::vector<std::string> hashes_;
};

}  // namespace fieldcost::ingest
