#include "tools/cli/json_output.h"

#include "tools/cli/json_parts.h"

namespace fieldcost::cli {

std::string ErrorJson(const Error& error) {
  return Print({{"error", Text(Name(error.code))}, {"message", Text(error.message)}});
}

}  // namespace fieldcost::cli
