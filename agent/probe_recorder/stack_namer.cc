#include "agent/probe_recorder/stack_namer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "agent/probe_recorder/x86_64/probe_recorder_machine.h"
#include "agent/unwind/elf_layout.h"
#include "common/base/build_id.h"
#include "common/base/clean_text.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe {
namespace {

// Whether it is one of our libraries, whose functions are between a point and its caller.
bool IsOurs(const std::string& path) { return FileNameOf(path).starts_with("libfieldcost_"); }

// Adds the module's executable segments at their addresses if its path still has the same build.
void AddCode(const RingModule& module, unwind::ModuleMap& map) {
  const UniqueFd fd(::open(module.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) return;
  if (BuildIdIn(ReaderOf(fd)) != HexEncode(module.build_id)) return;
  const auto layout = unwind::ReadElfLayout(ReaderOf(fd));
  if (!layout) return;
  for (const unwind::ElfSegment& segment : layout->segments) {
    if (!segment.executable) continue;
    const std::uint64_t start = module.base + segment.address;
    map.Add({.start = start,
             .end = start + segment.file_bytes,
             .file_offset = segment.offset,
             .file = {.device_major = ::major(info.st_dev),
                      .device_minor = ::minor(info.st_dev),
                      .inode = info.st_ino},
             .path = module.path});
  }
}

bool IsOfMacro(const Frame& frame) { return frame.file.ends_with("fieldcost/probe.h"); }

}  // namespace

std::string FileNameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

unwind::ModuleMap MapOf(const RingFile& file) {
  const auto pid = static_cast<pid_t>(file.facts().pid);
  if (file.IsBeingWritten()) {
    if (auto map = unwind::ReadModuleMap(pid); map && !map->mappings().empty())
      return *std::move(map);
  }
  unwind::ModuleMap map(pid);
  for (const RingModule& module : file.Modules()) AddCode(module, map);
  return map;
}

NamedStack StackNamer::Name(unwind::ModuleMap& map, const shm::ProbeRegisters& registers,
                            std::span<const std::uint64_t> stack) {
  const std::span<const std::uint8_t> bytes(reinterpret_cast<const std::uint8_t*>(stack.data()),
                                            stack.size_bytes());
  unwind::StackMemory memory(registers.sp, bytes, nullptr);
  unwinder_.Unwind(map, RegistersOf(registers), memory, stack_);
  NamedStack named;
  named.is_cut = stack_.end != unwind::StackEnd::kOutermost;
  for (const unwind::Frame& frame : stack_.frames) AppendFrames(map, frame, named);
  // main's caller is the stub of the automatic point, which cannot be unwound: main is outermost.
  if (!named.frames.empty() && named.frames.back().function == "main") named.is_cut = false;
  // The frames of the point's macro carry no information.
  const auto first = std::ranges::find_if_not(named.frames, IsOfMacro);
  named.frames.erase(named.frames.begin(), first);
  if (named.frames.size() > kMaxStackFrames) {
    named.frames.resize(kMaxStackFrames);
    named.is_cut = true;
  }
  return named;
}

void StackNamer::AppendFrames(unwind::ModuleMap& map, const unwind::Frame& frame,
                              NamedStack& named) {
  const std::uint64_t address = frame.lookup_address();
  const unwind::Mapping* const mapping = map.Find(address);
  if (mapping == nullptr || IsOurs(mapping->path)) return;
  const std::string module = CleanText(FileNameOf(mapping->path), kMaxProgramBytes);
  if (mapping->table == nullptr) {
    named.frames.push_back({.function = {}, .module = module, .file = {}});
    return;
  }
  const auto& found =
      symbols_.FramesAt(mapping->path, mapping->table->build_id(), address - mapping->bias);
  if (found.empty()) named.frames.push_back({.function = {}, .module = module, .file = {}});
  for (const symbols::SourceFrame& source : found) {
    named.frames.push_back({.function = CleanText(source.function, kMaxFunctionBytes),
                            .module = module,
                            .file = CleanPath(source.file, kMaxFileBytes),
                            .line = source.line});
  }
}

}  // namespace fieldcost::probe
