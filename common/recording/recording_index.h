#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/recording/descriptions.h"
#include "common/recording/file_format.h"
#include "common/recording/recording_limits.h"

namespace fieldcost::recording {

// The summary of a frame for readers. The index has one entry per preceding frame, so that a long
// recording can be opened without reading all of it.
struct IndexEntry {
  std::uint64_t offset = 0;
  std::uint64_t first_ns = 0;  // for a block
  std::uint64_t last_ns = 0;
  std::uint64_t ordinal = 0;  // block: its number in its stream; group: first block; vector: blocks
  FrameType type{};
  std::uint32_t samples = 0;      // for a block
  std::uint32_t sum_entries = 0;  // for a block or group
  std::uint16_t stream = 0;
  std::uint16_t metric = 0;  // for a vector: index into the stream's metrics
  bool operator==(const IndexEntry&) const = default;
};
static_assert(sizeof(IndexEntry) == 48, "it is in the file as it is here");

//   index := entry* offset:u64      ; of the index frame itself: the file's last eight bytes
std::string EncodeIndex(std::span<const IndexEntry> entries, std::uint64_t offset);

// The last frame of a file, if it is an index with one entry per frame. Does not check the entries.
std::optional<FileFrame> FindIndex(std::string_view untrusted_file);
std::vector<IndexEntry> DecodeIndex(const FileFrame& index);

// The blocks, groups and vectors of one stream, built entry by entry.
class StreamIndex {
 public:
  struct Block {
    std::uint32_t frame = 0;  // its number in the file
    std::uint32_t samples = 0;
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
    std::uint32_t sum_entries = 0;
  };
  struct Group {
    std::uint32_t frame = 0;  // 0: none (blocks precede it, so 0 is never valid)
    std::uint32_t sum_entries = 0;
  };
  struct Vector {
    std::uint64_t blocks = 0;
    std::vector<std::uint32_t> frames;  // per metric
  };

  explicit StreamIndex(std::size_t metrics) : metrics_(metrics) {}

  // Adds a block, group or vector. kCorrupt unless it follows from its predecessors. Sets the
  // number of a block's entry if it has none yet. `frame` is its number in the file.
  Status Add(IndexEntry& untrusted_entry, std::uint32_t frame);
  // Must be called after the last entry and before Cost().
  void Finish();

  const std::vector<Block>& blocks() const { return blocks_; }
  // Indexed by block / kGroupBlocks; may be shorter than the blocks require.
  const std::vector<Group>& groups() const { return groups_; }
  const std::vector<Vector>& vectors() const { return vectors_; }  // ascending
  std::size_t metrics() const { return metrics_; }
  std::uint64_t samples() const { return samples_; }

  // The approximate number of additions for the sums of blocks [begin, end).
  std::uint64_t Cost(std::size_t begin, std::size_t end) const;

  // Visits blocks [begin, end), by their groups where possible: on_group(Group),
  // on_block(Block), until one returns an error.
  template <typename OnGroup, typename OnBlock>
  Status Visit(std::size_t begin, std::size_t end, OnGroup&& on_group, OnBlock&& on_block) const {
    while (begin < end) {
      const std::size_t group = begin / kGroupBlocks;
      if (begin % kGroupBlocks == 0 && end - begin >= kGroupBlocks && group < groups_.size() &&
          groups_[group].frame != 0) {
        FIELDCOST_TRY(on_group(groups_[group]));
        begin += kGroupBlocks;
      } else {
        FIELDCOST_TRY(on_block(blocks_[begin]));
        ++begin;
      }
    }
    return {};
  }

 private:
  Status AddBlock(IndexEntry& entry, std::uint32_t frame);
  Status AddGroup(const IndexEntry& entry, std::uint32_t frame);
  Status AddVector(const IndexEntry& entry, std::uint32_t frame);

  std::size_t metrics_;
  std::uint64_t samples_ = 0;
  std::vector<Block> blocks_;
  std::vector<Group> groups_;
  std::vector<Vector> vectors_;
  std::vector<std::uint64_t> block_costs_;  // cumulative costs of the blocks before the i-th
  std::vector<std::uint64_t> group_costs_;  // of those before block i * kGroupBlocks, using groups
};

// The cost of adding the sums of a block or group, or its samples if it has no sums.
std::uint64_t CostOf(const StreamIndex::Block& block);

}  // namespace fieldcost::recording
