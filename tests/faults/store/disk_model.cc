#include "tests/faults/store/disk_model.h"

#include <algorithm>

namespace fieldcost::faults {
namespace {

constexpr std::size_t kSectorBytes = 512;
constexpr std::size_t kPageBytes = 4096;

std::size_t UpTo(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit)(random);
}

// Blocks are written in any order: each is present, or reads as zeros or garbage.
std::string SomeBlocks(const DiskModel::File& file, Random& random) {
  const std::size_t block = random() % 2 == 0 ? kSectorBytes : kPageBytes;
  std::string result = file.current.substr(0, file.durable.size());
  std::size_t begin = result.size();
  while (begin < file.current.size()) {
    const std::size_t end = std::min((begin / block + 1) * block, file.current.size());
    switch (random() % 4) {
      case 0:
        result.append(end - begin, '\0');
        break;
      case 1:
        for (std::size_t i = begin; i < end; ++i) result.push_back(static_cast<char>(random()));
        break;
      default:
        result.append(file.current, begin, end - begin);
    }
    begin = end;
  }
  if (random() % 2 == 0) {  // the length is written independently of the blocks
    result.resize(file.durable.size() + UpTo(random, result.size() - file.durable.size()));
  }
  return result;
}

// The model tears the engine's list of files but does not reorder it: the engine would refuse to
// open (../README.md).
bool IsWrittenInOrder(const std::string& name) { return name.starts_with("MANIFEST"); }

std::string AfterLoss(const std::string& name, const DiskModel::File& file, Random& random) {
  const std::string& durable = file.durable;
  if (file.current.size() <= durable.size()) {  // nothing new; at most truncated
    return random() % 2 == 0 ? durable : durable.substr(0, file.current.size());
  }
  switch (random() % (IsWrittenInOrder(name) ? 3 : 4)) {
    case 0:
      return durable;
    case 1:
      return file.current;
    case 2:
      return file.current.substr(
          0, durable.size() + UpTo(random, file.current.size() - durable.size()));
    default:
      return SomeBlocks(file, random);
  }
}

}  // namespace

DiskModel::DiskModel(DiskImage durable) {
  for (auto& [name, bytes] : durable) {
    names_[name] = std::make_shared<File>(File{.current = bytes, .durable = std::move(bytes)});
  }
  durable_names_ = names_;
}

void DiskModel::Apply(const NameChange& change, Names& names) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.file;
}

void DiskModel::Change(NameChange change) {
  Apply(change, names_);
  pending_.push_back(std::move(change));
}

DiskModel::FilePtr DiskModel::Create(const std::string& name) {
  auto file = std::make_shared<File>();
  Change({.to = name, .file = file, .creates = true});
  return file;
}

DiskModel::FilePtr DiskModel::Find(const std::string& name) const {
  const auto place = names_.find(name);
  return place == names_.end() ? nullptr : place->second;
}

void DiskModel::Rename(const std::string& from, const std::string& to) {
  Change({.from = from, .to = to, .file = Find(from)});
}
void DiskModel::Link(const std::string& from, const std::string& to) {
  Change({.to = to, .file = Find(from)});
}
void DiskModel::Remove(const std::string& name) { Change({.from = name}); }

void DiskModel::SyncDirectory() {
  durable_names_ = names_;
  pending_.clear();
}

void DiskModel::Sync(const FilePtr& synced, std::size_t size) {
  File& file = *synced;
  size = std::min(size, file.current.size());
  if (size < file.durable.size()) {
    file.durable.resize(size);
  } else {
    file.durable.append(file.current, file.durable.size(), size - file.durable.size());
  }
  for (const auto& [begin, end] : file.lost) {
    for (std::size_t i = begin; i < std::min(end, file.durable.size()); ++i) file.durable[i] = '\0';
  }
  for (auto change = pending_.begin(); change != pending_.end(); ++change) {
    if (!change->creates || change->file != synced) continue;
    Apply(*change, durable_names_);
    pending_.erase(change);
    return;
  }
}

void DiskModel::FailSync(File& file) {
  if (file.durable.size() < file.current.size()) {
    file.lost.emplace_back(file.durable.size(), file.current.size());
  }
}

DiskImage DiskModel::AfterPowerLoss(Random& random) const {
  Names names = durable_names_;
  const std::uint64_t how = random() % 4;
  const std::size_t prefix = how == 0 ? 0 : UpTo(random, pending_.size());
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    const bool survives = how == 3 ? random() % 2 == 0 : i < prefix;
    if (survives) Apply(pending_[i], names);
  }
  DiskImage image;
  for (const auto& [name, file] : names) image[name] = AfterLoss(name, *file, random);
  return image;
}

DiskImage DiskModel::Current() const {
  DiskImage image;
  for (const auto& [name, file] : names_) image[name] = file->current;
  return image;
}

}  // namespace fieldcost::faults
