#include "agent/upload/agent_keys.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>

#include "common/base/file.h"
#include "common/base/text.h"

namespace fieldcost::upload {
namespace {

constexpr char kDirectoryName[] = "agent_keys";

bool Exists(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

}  // namespace

AgentKeys::AgentKeys(const settings::AgentPaths& paths)
    : directory_(paths.state_dir / kDirectoryName) {}

std::filesystem::path AgentKeys::FileOf(wire::Epoch epoch) const {
  return directory_ / fmt::format("{}", epoch.value());
}

bool AgentKeys::Has(wire::Epoch epoch) const { return Exists(FileOf(epoch)); }

Result<crypto::PrivateKey> AgentKeys::For(wire::Epoch epoch) {
  FIELDCOST_TRY(MakeDirectories(directory_, 0700));
  return crypto::PrivateKey::LoadOrCreate(FileOf(epoch));
}

Status AgentKeys::Keep(const std::vector<wire::Epoch>& epochs) {
  std::error_code error;
  std::filesystem::directory_iterator files(directory_, error);
  if (error) return {};  // none yet
  for (; files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::filesystem::path& path = files->path();
    const std::optional<std::uint64_t> epoch = ParseUint64(path.filename().string());
    if (epoch && std::find(epochs.begin(), epochs.end(), wire::Epoch(*epoch)) != epochs.end()) {
      continue;
    }
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return ErrnoError("remove", path, errno);
  }
  if (error) return ErrnoError("list", directory_, error.value());
  return {};
}

}  // namespace fieldcost::upload
