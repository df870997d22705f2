#include "agent/unwind/table_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "common/base/build_id.h"
#include "common/base/read_at.h"

namespace fieldcost::unwind {
namespace {

constexpr char kVdso[] = "[vdso]";

// The kernel maps the same vDSO into every process: reads that of this process.
Result<CfiTable> MakeVdsoTable() {
  FIELDCOST_ASSIGN(const ModuleMap map, ReadModuleMap(::getpid()));
  for (const Mapping& mapping : map.mappings()) {
    if (mapping.path != kVdso) continue;
    return MakeCfiTable(ReaderOf(std::string_view(reinterpret_cast<const char*>(mapping.start),
                                                  mapping.end - mapping.start)));
  }
  return Fail(ErrorCode::kNotFound, "find {}: this process has none", kVdso);
}

bool IsSameFile(const UniqueFd& fd, const Mapping& mapping) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (info.st_ino == mapping.file.inode) return true;
  struct statfs system {};
  return ::fstatfs(fd.get(), &system) == 0 && system.f_type == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace

TableCache::TableCache(Options options) : options_(std::move(options)) {
  if (!options_.open) options_.open = OpenMappedFile;
}

void TableCache::LookUp(pid_t pid, Mapping& mapping) {
  if (mapping.looked_up) return;
  mapping.looked_up = true;
  const CfiTable* table = nullptr;
  if (mapping.path == kVdso) {
    if (!std::exchange(vdso_made_, true)) vdso_ = Keep(MakeVdsoTable());
    table = vdso_;
  } else if (mapping.file != FileIdentity()) {
    const auto [found, is_new] = by_file_.try_emplace(mapping.file, nullptr);
    if (is_new) found->second = Make(pid, mapping);
    table = found->second;
  }
  if (table == nullptr) return;
  const auto bias = LoadBias(table->layout(), mapping.start, mapping.file_offset);
  if (!bias) return;
  mapping.table = table;
  mapping.bias = *bias;
  if (const auto file = files_.find(table); file != files_.end()) mapping.opened = file->second;
}

const CfiTable* TableCache::Make(pid_t pid, const Mapping& mapping) {
  auto fd = options_.open(pid, mapping);
  if (!fd) {
    ++failures_;
    return nullptr;
  }
  const ReadAt read = ReaderOf(*fd);
  const std::string build_id = BuildIdIn(read);
  if (!build_id.empty()) {
    const auto found = by_build_id_.find(build_id);
    if (found != by_build_id_.end()) return found->second;
  }
  const CfiTable* table = Keep(MakeCfiTable(read));
  if (table == nullptr) return nullptr;
  if (!build_id.empty()) by_build_id_.emplace(build_id, table);
  if (files_.size() < kMostOpenFiles) {
    files_.emplace(table, std::make_shared<const UniqueFd>(std::move(*fd)));
  }
  return table;
}

const CfiTable* TableCache::Keep(Result<CfiTable> table) {
  if (!table || memory_bytes_ + table->memory_bytes() > options_.most_bytes) {
    ++failures_;
    return nullptr;
  }
  memory_bytes_ += table->memory_bytes();
  tables_.push_back(std::make_unique<const CfiTable>(std::move(*table)));
  return tables_.back().get();
}

std::unique_ptr<FollowedCode> TableCache::ReadCode(pid_t pid, const Mapping& mapping) const {
  const auto& segments = mapping.table->layout().segments;
  const auto segment = std::find_if(segments.begin(), segments.end(), [&](const ElfSegment& one) {
    const std::uint64_t start = mapping.start - mapping.bias;
    return one.executable && start + mapping.end - mapping.start > one.address &&
           start < one.address + one.file_bytes;
  });
  if (segment == segments.end() || segment->file_bytes > kMostCodeBytes ||
      memory_bytes_ + segment->file_bytes > options_.most_bytes) {
    return nullptr;
  }
  const auto fd = options_.open(pid, mapping);
  if (!fd) return nullptr;
  Code code{.address = segment->address, .bytes = {}, .is_go = mapping.table->layout().is_go};
  code.bytes.resize(segment->file_bytes);
  code.bytes.resize(ReaderOf(*fd)(segment->offset, code.bytes.data(), code.bytes.size()));
  return std::make_unique<FollowedCode>(std::move(code));
}

FollowedCode* TableCache::CodeOf(pid_t pid, const Mapping& mapping) {
  if (mapping.table == nullptr || mapping.table == vdso_) return nullptr;
  const auto [found, is_new] = code_.try_emplace(mapping.table);
  if (is_new) {
    found->second = ReadCode(pid, mapping);
    if (found->second) memory_bytes_ += found->second->code().bytes.size();
  }
  return found->second.get();
}

Result<UniqueFd> OpenMappedFile(pid_t pid, const Mapping& mapping) {
  if (mapping.path.empty() || mapping.path[0] != '/') {
    return Fail(ErrorCode::kNotFound, "open a mapping's file: it has no path");
  }
  for (const std::string& path :
       {fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, mapping.start, mapping.end),
        fmt::format("/proc/{}/root{}", pid, mapping.path), mapping.path,
        fmt::format("/proc/{}/exe", pid)}) {
    // Must not block, no matter what is at that path by now.
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd.valid() && IsSameFile(fd, mapping)) return fd;
  }
  return Fail(ErrorCode::kNotFound, "open {}: it is not the file that is mapped", mapping.path);
}

}  // namespace fieldcost::unwind
