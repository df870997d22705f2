#include "agent/symbols/symbols.h"

#include <fmt/format.h>

#include <utility>

#include "agent/symbols/name_helper.h"
#include "common/tree/identity.h"

namespace fieldcost::symbols {
namespace {

// A path that opens the same file again, even if it was deleted.
std::filesystem::path PathOf(const UniqueFd& fd) {
  return fmt::format("/proc/self/fd/{}", fd.get());
}

}  // namespace

Symbols::Kept& Symbols::Keep(const std::filesystem::path& path, const std::string& build_id,
                             const std::shared_ptr<const UniqueFd>& opened) {
  const std::filesystem::path file = opened == nullptr ? path : PathOf(*opened);
  // The two kinds of keys differ: a build-id contains no slash, a mapping's path begins with one.
  auto& kept = kept_[build_id.empty() ? "/" + file.string() : build_id];
  if (kept != nullptr) return *kept;
  kept = std::make_unique<Kept>();
  auto module =
      OpenModule({.path = file, .build_id = build_id, .debug_directories = debug_directories_});
  kept->module.build_id = build_id;
  if (module) {
    kept->dwarf = std::move(*module);
    kept->module.readable = true;
    kept->module.soname = kept->dwarf->soname();
    kept->module.build_id = kept->dwarf->build_id();
  }
  kept->module.name =
      tree::ModuleName(kept->module.soname.empty() ? path.string() : kept->module.soname);
  return *kept;
}

const Symbols::Module& Symbols::ModuleOf(const std::filesystem::path& path,
                                         const std::string& build_id,
                                         const std::shared_ptr<const UniqueFd>& opened) {
  return Keep(path, build_id, opened).module;
}

const std::vector<SourceFrame>& Symbols::FramesAt(const std::filesystem::path& path,
                                                  const std::string& build_id,
                                                  std::uint64_t address,
                                                  const std::shared_ptr<const UniqueFd>& opened) {
  static const std::vector<SourceFrame> kNone;
  Kept& kept = Keep(path, build_id, opened);
  if (kept.dwarf == nullptr) return kNone;
  if (const auto found = kept.frames.find(address); found != kept.frames.end())
    return found->second;
  if (addresses_ >= kMostAddresses) {
    for (auto& [key, other] : kept_) other->frames.clear();
    addresses_ = 0;
  }
  ++addresses_;
  return kept.frames.emplace(address, kept.dwarf->FramesAt(address)).first->second;
}

}  // namespace fieldcost::symbols
