#include "common/recording/recording_index.h"

#include <cstring>

#include "common/recording/bytes.h"

namespace fieldcost::recording {

std::string EncodeIndex(std::span<const IndexEntry> entries, std::uint64_t offset) {
  std::string out(reinterpret_cast<const char*>(entries.data()), entries.size_bytes());
  ByteWriter(out).Fixed(offset);
  return out;
}

std::optional<FileFrame> FindIndex(std::string_view untrusted_file) {
  if (untrusted_file.size() < kHeaderBytes + kFrameHeadBytes + sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  const auto offset =
      LoadAt<std::uint64_t>(untrusted_file.data() + untrusted_file.size() - sizeof(std::uint64_t));
  if (offset < kHeaderBytes || offset >= untrusted_file.size()) return std::nullopt;
  const Result<FileFrame> found = FrameAt(untrusted_file, offset);
  if (!found || found->type != FrameType::kIndex || found->end() != untrusted_file.size()) {
    return std::nullopt;
  }
  const std::uint64_t entries = found->number;
  if (found->payload.size() != entries * sizeof(IndexEntry) + sizeof offset) return std::nullopt;
  return *found;
}

std::vector<IndexEntry> DecodeIndex(const FileFrame& index) {
  std::vector<IndexEntry> entries(index.payload.size() / sizeof(IndexEntry));
  if (!entries.empty()) {
    std::memcpy(entries.data(), index.payload.data(), entries.size() * sizeof(IndexEntry));
  }
  return entries;
}

Status StreamIndex::Add(IndexEntry& untrusted_entry, std::uint32_t frame) {
  switch (untrusted_entry.type) {
    case FrameType::kBlock:
      return AddBlock(untrusted_entry, frame);
    case FrameType::kGroup:
      return AddGroup(untrusted_entry, frame);
    case FrameType::kVector:
      return AddVector(untrusted_entry, frame);
    default:
      return Corrupt("not a frame of a stream");
  }
}

Status StreamIndex::AddBlock(IndexEntry& entry, std::uint32_t frame) {
  if (entry.ordinal != 0 && entry.ordinal != blocks_.size()) return Corrupt("a block is missing");
  if (entry.samples == 0 || entry.samples > kBlockSamples || entry.sum_entries > entry.samples ||
      entry.last_ns < entry.first_ns || entry.last_ns - entry.first_ns >= kBlockNs ||
      entry.last_ns > kMaxTimeNs) {
    return Corrupt("a block is out of range");
  }
  if (!blocks_.empty() && entry.first_ns < blocks_.back().last_ns) {
    return Corrupt("a block begins before the end of the one before");
  }
  entry.ordinal = blocks_.size();
  samples_ += entry.samples;
  blocks_.push_back({.frame = frame,
                     .samples = entry.samples,
                     .first_ns = entry.first_ns,
                     .last_ns = entry.last_ns,
                     .sum_entries = entry.sum_entries});
  return {};
}

Status StreamIndex::AddGroup(const IndexEntry& entry, std::uint32_t frame) {
  if (blocks_.size() % kGroupBlocks != 0 || blocks_.size() < kGroupBlocks ||
      entry.ordinal != blocks_.size() - kGroupBlocks) {
    return Corrupt("a group does not follow its blocks");
  }
  const std::size_t group = entry.ordinal / kGroupBlocks;
  if (group < groups_.size()) return Corrupt("a group comes twice");
  groups_.resize(group + 1);
  groups_[group] = {.frame = frame, .sum_entries = entry.sum_entries};
  return {};
}

Status StreamIndex::AddVector(const IndexEntry& entry, std::uint32_t frame) {
  if (entry.ordinal != blocks_.size() || blocks_.empty() || blocks_.size() % kGroupBlocks != 0) {
    return Corrupt("a vector does not follow its blocks");
  }
  const bool goes_on = !vectors_.empty() && vectors_.back().blocks == entry.ordinal;
  const std::size_t expected = goes_on ? vectors_.back().frames.size() : 0;
  const bool is_whole = goes_on || vectors_.empty() || vectors_.back().frames.size() == metrics_;
  if (!is_whole || entry.metric != expected || entry.metric >= metrics_) {
    return Corrupt("a vector's metrics are not in order");
  }
  if (!goes_on) vectors_.push_back({.blocks = entry.ordinal, .frames = {}});
  vectors_.back().frames.push_back(frame);
  return {};
}

std::uint64_t CostOf(const StreamIndex::Block& block) {
  return block.sum_entries > 0 ? block.sum_entries : block.samples;
}

void StreamIndex::Finish() {
  // A crash may have interrupted writing them.
  if (!vectors_.empty() && vectors_.back().frames.size() < metrics_) vectors_.pop_back();
  block_costs_.assign(1, 0);
  group_costs_.assign(1, 0);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    block_costs_.push_back(block_costs_.back() + CostOf(blocks_[i]));
    if ((i + 1) % kGroupBlocks != 0) continue;
    const std::size_t group = i / kGroupBlocks;
    const bool has_sums = group < groups_.size() && groups_[group].frame != 0;
    const std::uint64_t blocks = block_costs_.back() - block_costs_[i + 1 - kGroupBlocks];
    group_costs_.push_back(group_costs_.back() + (has_sums ? groups_[group].sum_entries : blocks));
  }
}

std::uint64_t StreamIndex::Cost(std::size_t begin, std::size_t end) const {
  const std::size_t first = (begin + kGroupBlocks - 1) / kGroupBlocks;
  const std::size_t last = end / kGroupBlocks;
  if (first >= last) return block_costs_[end] - block_costs_[begin];
  return block_costs_[first * kGroupBlocks] - block_costs_[begin] + group_costs_[last] -
         group_costs_[first] + block_costs_[end] - block_costs_[last * kGroupBlocks];
}

}  // namespace fieldcost::recording
