#include "common/recording/recording_writer.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/recording/recording_limits.h"

namespace fieldcost::recording {
namespace {

// A command is arbitrary bytes from the user; in a recording it is a single line of limited length.
std::string PrintableCommand(std::string_view command) {
  std::string text(command.substr(0, kMaxCommandBytes));
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace

Result<Writer> Writer::Create(const std::filesystem::path& path, const tree::Dictionary& dictionary,
                              const ClockAnchors& anchors) {
  FIELDCOST_ASSIGN(FrameFile file, FrameFile::Create(path, anchors));
  return Writer(std::move(file), dictionary);
}

Writer Writer::InMemory(const tree::Dictionary& dictionary, const ClockAnchors& anchors) {
  return Writer(FrameFile::InMemory(anchors), dictionary);
}

Status Writer::Put(std::string_view payload, IndexEntry entry) {
  FIELDCOST_ASSIGN(entry.offset, file_.Append(entry.type, payload));
  index_.push_back(entry);
  return {};
}

Result<std::uint16_t> Writer::AddMetric(const tree::Metric& metric) {
  const std::size_t before = descriptions_.metrics.size();
  FIELDCOST_TRY(recording::AddMetric(metric, descriptions_));
  FIELDCOST_TRY(
      Put(FrameType::kMetrics, EncodeMetrics(descriptions_, before, descriptions_.streams.size())));
  return static_cast<std::uint16_t>(before);
}

Result<StreamId> Writer::AddStream(const Stream& stream) {
  const std::size_t before = descriptions_.streams.size();
  FIELDCOST_TRY(recording::AddStream(stream, descriptions_));
  FIELDCOST_TRY(
      Put(FrameType::kMetrics, EncodeMetrics(descriptions_, descriptions_.metrics.size(), before)));
  const StreamId id(static_cast<std::uint16_t>(before));
  streams_.emplace_back(id.value(), stream.metrics.size());
  return id;
}

Result<std::uint32_t> Writer::BeginRun(std::uint64_t time_ns, std::string_view command,
                                       std::string_view environment_hash) {
  const std::size_t run = descriptions_.runs.size();
  Run begun{.begin_ns = time_ns, .command = PrintableCommand(command)};
  begun.environment_hash = environment_hash;
  FIELDCOST_TRY(AddRun(begun, descriptions_));
  FIELDCOST_TRY(Put(FrameType::kRun, EncodeRunBegin(descriptions_, run)));
  return static_cast<std::uint32_t>(run);
}

Status Writer::EndRun(std::uint32_t run, std::uint64_t time_ns, std::int32_t exit_status) {
  FIELDCOST_CHECK(run < descriptions_.runs.size() && !descriptions_.runs[run].has_ended);
  Run& ended = descriptions_.runs[run];
  ended.has_ended = true;
  ended.end_ns = std::max(ended.begin_ns, time_ns);
  ended.exit_status = exit_status;
  return Put(FrameType::kRun, EncodeRunEnd(descriptions_, run));
}

Result<ThreadId> Writer::AddThread(Thread thread) {
  std::vector<Thread>& threads = descriptions_.threads;
  if (threads.size() >= kMaxThreads) {
    return Fail(ErrorCode::kTooLarge, "more than {} threads", kMaxThreads);
  }
  const ThreadId number(static_cast<std::uint32_t>(threads.size()));
  threads.push_back(Printable(std::move(thread)));
  changed_threads_.push_back(number.value());
  return number;
}

void Writer::SetThread(ThreadId number, Thread thread) {
  FIELDCOST_CHECK(number != kNoThread && number.value() < descriptions_.threads.size());
  thread = Printable(std::move(thread));
  if (descriptions_.threads[number.value()] == thread) return;
  descriptions_.threads[number.value()] = std::move(thread);
  const bool is_known =
      std::ranges::find(changed_threads_, number.value()) != changed_threads_.end();
  if (!is_known) changed_threads_.push_back(number.value());
}

Status Writer::SetCount(std::string_view name, std::uint64_t value) {
  const Count count{.name = std::string(name), .value = value};
  const auto& counts = descriptions_.counts;
  if (std::find(counts.begin(), counts.end(), count) != counts.end()) return {};
  FIELDCOST_TRY(recording::SetCount(count, descriptions_));
  return Put(FrameType::kCount, EncodeCount(count));
}

Status Writer::Append(StreamId stream, std::uint64_t time_ns, tree::PathId path,
                      std::span<const std::uint64_t> values, ThreadId thread) {
  FIELDCOST_CHECK(stream.value() < streams_.size() && path.value() < dictionary_->paths.size() &&
                  thread.value() < descriptions_.threads.size());
  StreamWriter& writer = streams_[stream.value()];
  FIELDCOST_CHECK(values.size() == descriptions_.streams[stream.value()].metrics.size());
  if (time_ns > kMaxTimeNs) {
    return Fail(ErrorCode::kInvalidArgument, "a sample at {} ns is beyond the greatest time",
                time_ns);
  }
  if (writer.IsFullFor(time_ns)) FIELDCOST_TRY(Seal(writer));
  return writer.Append(time_ns, path.value(), thread.value(), values);
}

Status Writer::PutTree(std::string_view encoded_tree) {
  const std::size_t parts =
      std::max<std::size_t>(1, (encoded_tree.size() + kTreePartBytes - 1) / kTreePartBytes);
  for (std::size_t i = 0; i < parts; ++i) {
    const TreePart part{.part = static_cast<std::uint32_t>(i),
                        .parts = static_cast<std::uint32_t>(parts),
                        .bytes = encoded_tree.substr(i * kTreePartBytes, kTreePartBytes)};
    FIELDCOST_TRY(Put(FrameType::kTree, EncodeTreePart(part)));
  }
  return {};
}

Status Writer::PutDictionary() {
  while (in_file_.frames < dictionary_->frames.size() ||
         in_file_.paths < dictionary_->paths.size()) {
    FIELDCOST_TRY(Put(FrameType::kDictionary,
                      EncodeIncrement(dictionary_->frames, dictionary_->paths, in_file_)));
  }
  return {};
}

Status Writer::PutThreads() {
  if (changed_threads_.empty()) return {};
  std::sort(changed_threads_.begin(), changed_threads_.end());
  FIELDCOST_TRY(Put(FrameType::kThreads, EncodeThreads(descriptions_.threads, changed_threads_)));
  changed_threads_.clear();
  return {};
}

Status Writer::Seal(StreamWriter& stream) {
  FIELDCOST_TRY(PutDictionary());
  FIELDCOST_TRY(PutThreads());
  return stream.Seal(
      dictionary_->paths.size(),
      [this](std::string_view payload, const IndexEntry& entry) { return Put(payload, entry); });
}

Status Writer::Flush() {
  FIELDCOST_TRY(PutDictionary());
  FIELDCOST_TRY(PutThreads());
  std::uint64_t late = 0;
  for (StreamWriter& stream : streams_) {
    FIELDCOST_TRY(Seal(stream));
    late += stream.late_samples();
  }
  if (late > 0) FIELDCOST_TRY(SetCount(kLateSamples, late));
  return file_.Flush();
}

Status Writer::PutIndex() {
  FIELDCOST_TRY(Flush());
  const std::string index = EncodeIndex(index_, file_.size());
  // Without it, readers build the index themselves.
  if (index.size() <= kMaxFramePayloadBytes) {
    FIELDCOST_TRY(file_.Append(FrameType::kIndex, index));
  }
  return {};
}

Status Writer::Close() {
  FIELDCOST_TRY(PutIndex());
  return file_.Sync();
}

Result<std::string> Writer::TakeBytes() {
  FIELDCOST_TRY(PutIndex());
  return file_.TakeBytes();
}

}  // namespace fieldcost::recording
