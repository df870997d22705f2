#include "common/recording/contents.h"

#include <utility>

#include "common/recording/block.h"
#include "common/recording/recording_dictionary.h"
#include "common/recording/recording_limits.h"

namespace fieldcost::recording {
namespace {

// Builds contents frame by frame.
class Builder {
 public:
  // Adds a frame. The payload may be missing for blocks, groups and vectors.
  Status Take(IndexEntry entry, std::string_view untrusted_payload) {
    FIELDCOST_TRY(TakeContent(entry, untrusted_payload));
    contents_.frames.push_back(entry);
    return {};
  }

  Contents Finish(const ClockAnchors& anchors) {
    for (StreamIndex& stream : contents_.streams) stream.Finish();
    contents_.anchors = anchors;
    contents_.dictionary = std::make_shared<const tree::Dictionary>(std::move(dictionary_));
    return std::move(contents_);
  }

  Contents& contents() { return contents_; }

 private:
  Status TakeContent(IndexEntry& entry, std::string_view untrusted_payload) {
    Descriptions& descriptions = contents_.descriptions;
    switch (entry.type) {
      case FrameType::kDictionary:
        return DecodeIncrement(untrusted_payload, dictionary_.frames, dictionary_.paths);
      case FrameType::kMetrics:
        return TakeMetrics(untrusted_payload);
      case FrameType::kRun:
        return DecodeRun(untrusted_payload, descriptions);
      case FrameType::kThreads:
        return DecodeThreads(untrusted_payload, descriptions.threads);
      case FrameType::kCount:
        return DecodeCount(untrusted_payload, descriptions);
      case FrameType::kBlock:
      case FrameType::kGroup:
      case FrameType::kVector:
        if (entry.stream >= contents_.streams.size()) {
          return Fail(ErrorCode::kCorrupt, "a {} of an unknown stream", Name(entry.type));
        }
        FIELDCOST_TRY(CheckPaths(entry.type, untrusted_payload));
        return contents_.streams[entry.stream].Add(
            entry, static_cast<std::uint32_t>(contents_.frames.size()));
      case FrameType::kTree:
      case FrameType::kIndex:
        break;
    }
    return {};
  }

  // Compares a frame's number of paths with the number known so far. Without a payload (when
  // reading by the index), this check is done when the frame is used.
  Status CheckPaths(FrameType type, std::string_view untrusted_payload) const {
    std::optional<std::uint32_t> paths;
    if (type == FrameType::kBlock && !untrusted_payload.empty()) {
      FIELDCOST_ASSIGN(const BlockHead head, ReadBlockHead(untrusted_payload));
      paths = head.paths;
    } else if (type == FrameType::kVector && !untrusted_payload.empty()) {
      FIELDCOST_ASSIGN(const VectorHead head, ReadVectorHead(untrusted_payload));
      paths = head.paths;
    }
    if (paths && *paths != dictionary_.paths.size()) {
      return Fail(ErrorCode::kCorrupt, "a {} has another number of paths", Name(type));
    }
    return {};
  }

  Status TakeMetrics(std::string_view untrusted_payload) {
    Descriptions grown = contents_.descriptions;
    FIELDCOST_TRY(DecodeMetrics(untrusted_payload, grown));
    for (std::size_t i = contents_.streams.size(); i < grown.streams.size(); ++i) {
      contents_.streams.emplace_back(grown.streams[i].metrics.size());
    }
    contents_.descriptions = std::move(grown);
    return {};
  }

  tree::Dictionary dictionary_;
  Contents contents_;
};

bool IsOfStream(FrameType type) {
  return type == FrameType::kBlock || type == FrameType::kGroup || type == FrameType::kVector;
}

// Reads contents by the index. On an error, because it does not match the file, the frames are
// read.
Result<Contents> ByIndex(std::string_view untrusted_file, const ClockAnchors& anchors,
                         const FileFrame& index) {
  Builder builder;
  std::uint64_t end = kHeaderBytes;
  bool is_exact = true;  // else the last frame was not examined
  for (const IndexEntry& entry : DecodeIndex(index)) {
    if (entry.offset >= index.offset || entry.offset < end || (is_exact && entry.offset != end)) {
      return Fail(ErrorCode::kCorrupt, "the index lists frames where there are none");
    }
    is_exact = !IsOfStream(entry.type);
    std::string_view payload;
    end = entry.offset + kFrameHeadBytes;
    if (is_exact) {
      FIELDCOST_ASSIGN(const FileFrame frame,
                       FrameAt(untrusted_file.substr(0, index.offset), entry.offset));
      if (frame.type != entry.type || frame.number != builder.contents().frames.size()) {
        return Fail(ErrorCode::kCorrupt, "the index names another frame");
      }
      payload = frame.payload;
      end = frame.end();
    }
    FIELDCOST_TRY(builder.Take(entry, payload));
  }
  builder.contents().has_index = true;
  builder.contents().stop.offset = untrusted_file.size();
  return builder.Finish(anchors);
}

// Takes the frame at `offset`, which must have this number. Returns where it ends.
Result<std::uint64_t> TakeFrame(std::string_view untrusted_file, std::uint64_t offset,
                                std::uint32_t number, Builder& builder) {
  FIELDCOST_ASSIGN(const FileFrame frame, FrameAt(untrusted_file, offset));
  if (frame.number != number) return Fail(ErrorCode::kCorrupt, "a frame is missing");
  FIELDCOST_ASSIGN(const IndexEntry entry, EntryOf(frame));
  if (frame.type != FrameType::kIndex) {
    FIELDCOST_TRY(builder.Take(entry, frame.payload));
  } else if (frame.end() != untrusted_file.size()) {
    return Fail(ErrorCode::kCorrupt, "something follows the index");
  }
  return frame.end();
}

}  // namespace

Result<IndexEntry> EntryOf(const FileFrame& untrusted_frame) {
  IndexEntry entry{.offset = untrusted_frame.offset, .type = untrusted_frame.type};
  if (entry.type == FrameType::kBlock) {
    FIELDCOST_ASSIGN(const BlockHead head, ReadBlockHead(untrusted_frame.payload));
    entry.first_ns = head.first_ns;
    entry.last_ns = head.last_ns;
    entry.samples = head.samples;
    entry.sum_entries = head.sum_entries;
    entry.stream = head.stream;
  } else if (entry.type == FrameType::kGroup) {
    FIELDCOST_ASSIGN(const GroupHead head, ReadGroupHead(untrusted_frame.payload));
    entry.ordinal = head.first_block;
    entry.sum_entries = head.sum_entries;
    entry.stream = head.stream;
  } else if (entry.type == FrameType::kVector) {
    FIELDCOST_ASSIGN(const VectorHead head, ReadVectorHead(untrusted_frame.payload));
    entry.ordinal = head.blocks;
    entry.stream = head.stream;
    entry.metric = head.metric;
  }
  return entry;
}

Result<Contents> ReadContents(std::string_view untrusted_file) {
  FIELDCOST_ASSIGN(const ClockAnchors anchors, DecodeHeader(untrusted_file));
  if (const auto index = FindIndex(untrusted_file)) {
    auto contents = ByIndex(untrusted_file, anchors, *index);
    if (contents) return contents;
  }
  return ReadContentsWithoutIndex(untrusted_file);
}

Result<Contents> ReadContentsWithoutIndex(std::string_view untrusted_file) {
  FIELDCOST_ASSIGN(const ClockAnchors anchors, DecodeHeader(untrusted_file));
  Builder builder;
  Stop stop{.offset = kHeaderBytes, .reason = {}};
  for (std::uint32_t number = 0; stop.offset < untrusted_file.size(); ++number) {
    const auto end = TakeFrame(untrusted_file, stop.offset, number, builder);
    if (!end) {
      stop.reason = end.error().message;
      break;
    }
    stop.offset = *end;
  }
  Contents contents = builder.Finish(anchors);
  contents.stop = std::move(stop);
  return contents;
}

}  // namespace fieldcost::recording
