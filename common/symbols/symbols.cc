#include "common/symbols/symbols.h"

#include <utility>

#include "common/tree/identity.h"

namespace fieldcost::symbols {

Symbols::Kept& Symbols::Keep(const std::filesystem::path& path, const std::string& build_id) {
  // A build-id has no slash in it, a path of a mapping begins with one.
  auto& kept = kept_[build_id.empty() ? "/" + path.string() : build_id];
  if (kept != nullptr) return *kept;
  kept = std::make_unique<Kept>();
  auto opened = DwarfModule::Open(
      {.path = path, .build_id = build_id, .debug_directories = debug_directories_});
  kept->module.build_id = build_id;
  if (opened) {
    kept->dwarf = std::move(*opened);
    kept->module.readable = true;
    kept->module.soname = kept->dwarf->soname();
    kept->module.build_id = kept->dwarf->build_id();
  }
  kept->module.name =
      tree::ModuleName(kept->module.soname.empty() ? path.string() : kept->module.soname);
  return *kept;
}

const Symbols::Module& Symbols::ModuleOf(const std::filesystem::path& path,
                                         const std::string& build_id) {
  return Keep(path, build_id).module;
}

const std::vector<SourceFrame>& Symbols::FramesAt(const std::filesystem::path& path,
                                                  const std::string& build_id,
                                                  std::uint64_t address) {
  static const std::vector<SourceFrame> kNone;
  Kept& kept = Keep(path, build_id);
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
