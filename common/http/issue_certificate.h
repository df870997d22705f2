#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::http {

// A server's certificate with its key and authority, each in PEM form.
struct IssuedCertificate {
  std::string authority;  // the certificate that clients must trust
  std::string certificate;
  std::string private_key;
};

// Issues a certificate for these host names and addresses, valid from a day before `now` (clocks
// differ) for `lifetime`. Its authority is created only for it and the authority's key is
// discarded, so that no other certificate can be issued in its name, not even by us.
// kInvalidArgument: no names, or one that is neither a host name (a leading "*." stands for one
// label) nor an address.
Result<IssuedCertificate> IssueCertificate(const std::vector<std::string>& names,
                                           std::chrono::sys_seconds now,
                                           std::chrono::days lifetime);

}  // namespace fieldcost::http
