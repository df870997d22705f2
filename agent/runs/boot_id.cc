#include "agent/runs/boot_id.h"

#include "common/base/file.h"

namespace fieldcost::runs {
namespace {

constexpr char kFile[] = "/proc/sys/kernel/random/boot_id";
constexpr std::size_t kMaxBytes = 256;

}  // namespace

std::string BootId() {
  const auto text = ReadFile(kFile, kMaxBytes);
  return text ? text->substr(0, text->find('\n')) : std::string();
}

}  // namespace fieldcost::runs
