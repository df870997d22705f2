#include "agent/settings/system_policy.h"

#include <system_error>

#include "common/config/toml_file.h"

namespace fieldcost::settings {
namespace {

// A dangling link to the file or its directory: the missing file may have forbidden collection.
bool LeadsNowhere(const std::filesystem::path& file) {
  std::error_code error;
  for (const std::filesystem::path& path : {file, file.parent_path()}) {
    if (std::filesystem::is_symlink(path, error) && !std::filesystem::exists(path, error)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<SystemPolicy> LoadSystemPolicy(const std::filesystem::path& file) {
  SystemPolicy policy;
  auto untrusted_file = config::TomlFile::Load(file);
  if (!untrusted_file) {
    const bool is_absent = untrusted_file.error().code == ErrorCode::kNotFound;
    if (is_absent && !LeadsNowhere(file)) return policy;
    return untrusted_file.error();
  }
  untrusted_file->ReadBool("consent.permit", policy.permit);
  untrusted_file->ReadBool("probe.permit", policy.permit_probe);
  FIELDCOST_TRY(untrusted_file->Finish());
  return policy;
}

Status CheckPermitted(const std::filesystem::path& file) {
  const auto policy = LoadSystemPolicy(file);
  if (policy && policy->permit) return {};
  if (policy) {
    return Fail(ErrorCode::kPermissionDenied,
                "fieldcost is not permitted on this machine: {} has permit = false; only the "
                "machine's administrator can change that",
                file.string());
  }
  return Fail(ErrorCode::kPermissionDenied,
              "fieldcost is not permitted on this machine because {} cannot be understood ({}); "
              "only the machine's administrator can change that",
              file.string(), policy.error().message);
}

}  // namespace fieldcost::settings
