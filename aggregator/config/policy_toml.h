#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/wire/policy.h"

namespace fieldcost::aggregator {

// A policy in the operator's text form; deploy/config/policy.toml explains each key.
struct PolicyText {
  wire::PolicyMetadata policy;  // without version and times; passes wire::ValidatePolicy()
  std::chrono::days lifetime{90};
};

// kInvalidArgument, with file, line, column and key, for any invalid content.
Result<PolicyText> LoadPolicyText(const std::filesystem::path& path);

// A policy as the text of a file that LoadPolicyText() accepts, with a leading comment.
std::string ShowPolicy(const wire::PolicyMetadata& policy, WallTime now);
// The same as one JSON object and a newline.
std::string ShowPolicyJson(const wire::PolicyMetadata& policy, WallTime now);

}  // namespace fieldcost::aggregator
