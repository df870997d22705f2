#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::http {

// A server's certificate and what goes with it, each in PEM form.
struct IssuedCertificate {
  std::string authority;  // what clients are told to trust
  std::string certificate;
  std::string private_key;
};

// Issues a certificate for these host names and addresses, valid from a day before `now` (clocks
// differ) for `lifetime`. Its authority is made for it alone, and that one's key is forgotten:
// nobody, we neither, can issue another in its name. kInvalidArgument: no names, or one that is
// neither a host name (a leading "*." stands for one label) nor an address.
Result<IssuedCertificate> IssueCertificate(const std::vector<std::string>& names,
                                           std::chrono::sys_seconds now,
                                           std::chrono::days lifetime);

}  // namespace fieldcost::http
