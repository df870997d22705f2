#include "agent/perf/module_list.h"

#include <fmt/format.h>

#include <utility>

namespace fieldcost::perf {

void ModuleList::SetFrames(unwind::ModuleMap& map, const unwind::Stack& stack,
                           std::vector<SampledFrame>& frames) {
  frames.clear();
  for (const unwind::Frame& frame : stack.frames) frames.push_back(FrameOf(map, frame));
}

SampledFrame ModuleList::FrameOf(unwind::ModuleMap& map, const unwind::Frame& frame) {
  const std::uint64_t address = frame.lookup_address();
  SampledFrame result{.module = 0, .address = address, .guessed = frame.guessed};
  const unwind::Mapping* const mapping = map.Find(address);
  SampledModule module;
  if (mapping == nullptr) {
    module.kind = SampledModule::Kind::kUnknown;
  } else if (mapping->table != nullptr) {
    result.address = address - mapping->bias;
    const auto known = module_of_table_.find(mapping->table);
    if (known != module_of_table_.end()) {
      result.module = known->second;
      return result;
    }
    module = {.kind = SampledModule::Kind::kFile,
              .path = mapping->path,
              .build_id = mapping->table->build_id(),
              .pid = 0,
              .table = mapping->table,
              .opened = mapping->opened};
    result.module = ModuleOf(std::move(module));
    module_of_table_.emplace(mapping->table, result.module);
    return result;
  } else if (!mapping->path.empty()) {
    module = {.kind = SampledModule::Kind::kRaw, .path = mapping->path, .build_id = {}, .pid = 0};
    result.address = address - mapping->start + mapping->file_offset;
  } else {
    module = {
        .kind = SampledModule::Kind::kGenerated, .path = {}, .build_id = {}, .pid = map.pid()};
  }
  result.module = ModuleOf(std::move(module));
  return result;
}

std::uint32_t ModuleList::ModuleOf(SampledModule module) {
  // Without a build-id, the same path may have referred to different files.
  const void* const file = module.build_id.empty() ? module.table : nullptr;
  const std::string key = fmt::format("{}/{}/{}/{}/{}", static_cast<int>(module.kind), module.pid,
                                      module.build_id, fmt::ptr(file), module.path);
  const auto [found, is_new] =
      module_of_.try_emplace(key, static_cast<std::uint32_t>(modules_.size()));
  if (is_new) modules_.push_back(std::move(module));
  return found->second;
}

}  // namespace fieldcost::perf
