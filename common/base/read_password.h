#pragma once

#include <string>

#include "common/base/result.h"

namespace fieldcost {

// Asks for a password at the terminal, without echo; without a terminal, reads the first line of
// standard input. kInvalidArgument: the password is missing.
Result<std::string> ReadPassword(const std::string& user);

// Asks for a new password twice at the terminal, without echo; without a terminal, reads the first
// line of standard input. kInvalidArgument: the two differ, or the password is missing.
Result<std::string> ReadNewPassword(const std::string& user);

}  // namespace fieldcost
