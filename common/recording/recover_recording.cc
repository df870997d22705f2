#include "common/recording/recover_recording.h"

#include <algorithm>
#include <system_error>

#include "common/recording/frame_file.h"
#include "common/recording/mapped_file.h"
#include "common/recording/recording.h"

namespace fieldcost::recording {
namespace {

// The frames before the stop and the first problem, except those of a tree whose end is missing.
std::size_t GoodFrames(const std::vector<IndexEntry>& frames, std::uint64_t end,
                       const Recording& recording) {
  std::size_t good = 0;
  std::size_t whole = 0;  // up to there, all trees are complete
  for (; good < frames.size() && frames[good].offset < end; ++good) {
    if (frames[good].type == FrameType::kTree) {
      const auto frame = recording.Frame(static_cast<std::uint32_t>(good));
      const auto part = frame ? ReadTreePart(frame->payload) : frame.error();
      if (!part || part->part + 1 != part->parts) continue;
    } else if (whole != good) {
      continue;
    }
    whole = good + 1;
  }
  return whole;
}

}  // namespace

Result<RecoverReport> Recover(const std::filesystem::path& from, const std::filesystem::path& to) {
  FIELDCOST_ASSIGN(const MappedFile file, MappedFile::Open(from));
  std::error_code ignored;
  if (std::filesystem::equivalent(from, to, ignored)) {
    return Fail(ErrorCode::kInvalidArgument, "recover {}: source and destination are the same file",
                from.string());
  }
  RecoverReport report;
  auto found = Verify(file.bytes());
  if (!found) return Within(found.error(), "read " + from.string());
  report.found = std::move(*found);
  FIELDCOST_ASSIGN(const Recording recording, Recording::WithoutIndex(file.bytes()));
  const Contents& contents = recording.contents();
  std::uint64_t end = report.found.stop.offset;
  report.reason = report.found.stop.reason;
  if (!report.found.problems.empty()) {
    end = std::min(end, report.found.problems.front().offset);
    report.reason = report.found.problems.front().what;
  }
  FIELDCOST_ASSIGN(FrameFile out, FrameFile::Create(to, contents.anchors));
  std::vector<IndexEntry> index(contents.frames.begin(),
                                contents.frames.begin() + static_cast<std::ptrdiff_t>(GoodFrames(
                                                              contents.frames, end, recording)));
  std::uint64_t end_of_last = kHeaderBytes;
  for (std::size_t i = 0; i < index.size(); ++i) {
    FIELDCOST_ASSIGN(const FileFrame frame, recording.Frame(static_cast<std::uint32_t>(i)));
    FIELDCOST_ASSIGN(index[i].offset, out.Append(frame.type, frame.payload));
    end_of_last = frame.end();
    report.kept_samples += index[i].samples;
  }
  report.kept_bytes = out.size();
  // A file without problems loses at most its index.
  report.lost_bytes = report.reason.empty() ? 0 : file.bytes().size() - end_of_last;
  FIELDCOST_TRY(out.Append(FrameType::kIndex, EncodeIndex(index, out.size())));
  FIELDCOST_TRY(out.Sync());
  return report;
}

}  // namespace fieldcost::recording
