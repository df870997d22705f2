#include "common/recording/by_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/recording/recording_writer.h"

namespace fieldcost::recording {
namespace {

std::string_view WordOf(DivideBy by) { return by == DivideBy::kThread ? "thread" : "process"; }

// Empty if unknown.
std::string NameOf(const Thread& thread, DivideBy by) {
  const bool is_process = by == DivideBy::kProcess;
  std::string name = is_process || thread.name.empty() ? thread.process : thread.name;
  if (!is_process && !thread.process.empty() && thread.process != thread.name &&
      !thread.name.empty()) {
    name = thread.process + "/" + name;
  }
  return name;
}

std::string LabelOf(const Thread& thread, DivideBy by, bool with_number) {
  const std::uint32_t number = by == DivideBy::kThread ? thread.tid : thread.pid;
  std::string label = NameOf(thread, by);
  if (with_number && number != 0) label += (label.empty() ? "" : " ") + std::to_string(number);
  return fmt::format("[{} {}]", WordOf(by), label.empty() ? "without a name" : label);
}

std::string SeveralOf(DivideBy by, std::string_view how) {
  return fmt::format("[{} {}]", how, by == DivideBy::kThread ? "threads" : "processes");
}

std::vector<std::string> LabelsOf(const std::vector<Thread>& threads, DivideBy by,
                                  bool with_numbers) {
  std::vector<std::string> labels = {SeveralOf(by, "several")};
  std::set<std::string> different;
  for (std::size_t i = 1; i < threads.size(); ++i) {
    labels.push_back(LabelOf(threads[i], by, with_numbers));
    if (different.contains(labels.back())) continue;
    if (different.size() == kMostThreadNames) {
      labels.back() = SeveralOf(by, "other");
    } else {
      different.insert(labels.back());
    }
  }
  return labels;
}

bool HasMoreThan(std::size_t most, const std::vector<std::string>& labels) {
  return std::set<std::string>(labels.begin(), labels.end()).size() > most;
}

struct Labels {
  std::vector<std::string> texts;  // [thread]
  bool with_numbers = false;
};

Labels ChooseLabels(const Descriptions& about, DivideBy by, bool by_name) {
  if (!by_name && about.runs.size() <= 1) {
    Labels numbered{.texts = LabelsOf(about.threads, by, true), .with_numbers = true};
    if (!HasMoreThan(kMostNumberedThreads, numbered.texts)) return numbered;
  }
  return {.texts = LabelsOf(about.threads, by, false), .with_numbers = false};
}

// The parts of a thread that a label contains.
Thread ThreadIn(const std::string& label, Thread thread, DivideBy by, bool with_numbers) {
  const std::string other = SeveralOf(by, "other");
  if (label == other) return {.name = other.substr(1, other.size() - 2)};
  if (!with_numbers) thread.pid = thread.tid = 0;
  if (by == DivideBy::kProcess) {
    thread.tid = 0;
    thread.name.clear();
  }
  return thread;
}

// Prefixes paths with the frame of a thread.
class ThreadPaths {
 public:
  ThreadPaths(const tree::Dictionary& from, tree::Dictionary& to) : from_(from), to_(to) {}

  // Adds a frame per label, after all existing frames.
  Status Prepare(const std::vector<std::string>& labels) {
    for (std::uint32_t i = 0; i < from_.frames.size(); ++i) {
      FIELDCOST_ASSIGN(const tree::FrameId frame,
                       to_.frames.Intern(from_.frames.frame(tree::FrameId(i))));
      frames_.push_back(frame);
    }
    for (const std::string& label : labels) {
      FIELDCOST_ASSIGN(const tree::FrameId frame, to_.frames.Intern(tree::SpecialFrame(label)));
      FIELDCOST_ASSIGN(const tree::PathId root, to_.paths.Intern(tree::kRootPath, frame));
      roots_.push_back(root);
    }
    return {};
  }

  Result<tree::PathId> Of(std::uint32_t path, ThreadId thread) {
    const tree::PathId root = roots_[thread.value()];
    std::vector<std::uint32_t> missing;  // innermost first
    tree::PathId at = root;
    for (; path != tree::kRootPath.value(); path = from_.paths.parents()[path]) {
      if (const auto known = known_.find(Key(path, root)); known != known_.end()) {
        at = known->second;
        break;
      }
      missing.push_back(path);
    }
    for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
      const Result<tree::PathId> made = to_.paths.Intern(at, frames_[from_.paths.frames()[*next]]);
      // Too deep, or too many paths: fold it into its caller.
      if (!made && made.error().code != ErrorCode::kTooLarge) return made.error();
      if (made) at = *made;
      known_.emplace(Key(*next, root), at);
    }
    return at;
  }

 private:
  static std::uint64_t Key(std::uint32_t path, tree::PathId root) {
    return std::uint64_t{root.value()} << 32 | path;
  }

  const tree::Dictionary& from_;
  tree::Dictionary& to_;
  std::vector<tree::FrameId> frames_;  // [frame]
  std::vector<tree::PathId> roots_;    // [thread]
  std::unordered_map<std::uint64_t, tree::PathId> known_;
};

Status CopyStream(const Recording& from, StreamId stream, ThreadPaths& paths, Writer& writer) {
  Status status;
  FIELDCOST_TRY(from.ForEachThreadSample(
      stream, {}, [&](std::uint64_t time_ns, std::uint32_t path, ThreadId thread, auto values) {
        if (!status) return;
        const Result<tree::PathId> divided = paths.Of(path, thread);
        status = divided ? writer.Append(stream, time_ns, *divided, values, thread)
                         : Status(divided.error());
      }));
  return status;
}

Status CopyDescriptions(const Descriptions& about, Writer& writer) {
  for (const tree::Metric& metric : about.metrics) FIELDCOST_TRY(writer.AddMetric(metric));
  for (const Stream& stream : about.streams) FIELDCOST_TRY(writer.AddStream(stream));
  for (std::size_t i = 1; i < about.threads.size(); ++i) {
    FIELDCOST_TRY(writer.AddThread(about.threads[i]));
  }
  for (const Run& run : about.runs) {
    FIELDCOST_ASSIGN(const std::uint32_t number,
                     writer.BeginRun(run.begin_ns, run.command, run.environment_hash));
    if (run.has_ended) FIELDCOST_TRY(writer.EndRun(number, run.end_ns, run.exit_status));
  }
  for (const Count& count : about.counts) FIELDCOST_TRY(writer.SetCount(count.name, count.value));
  return {};
}

}  // namespace

Result<Recording> DividedByThread(const Recording& recording, DivideBy by, bool by_name) {
  const Descriptions& about = recording.contents().descriptions;
  if (about.threads.size() == 1) {
    return Fail(ErrorCode::kInvalidArgument, "it names no threads: it cannot be divided by {}",
                WordOf(by));
  }
  tree::Dictionary dictionary;
  ThreadPaths paths(recording.dictionary(), dictionary);
  FIELDCOST_TRY(paths.Prepare(ChooseLabels(about, by, by_name).texts));
  Writer writer = Writer::InMemory(dictionary, recording.contents().anchors);
  FIELDCOST_TRY(CopyDescriptions(about, writer));
  for (std::size_t i = 0; i < about.streams.size(); ++i) {
    FIELDCOST_TRY(CopyStream(recording, StreamId(static_cast<std::uint16_t>(i)), paths, writer));
  }
  FIELDCOST_ASSIGN(std::string bytes, writer.TakeBytes());
  return Recording::Of(std::move(bytes));
}

std::vector<std::string> ThreadLabelsOf(const Recording& recording, DivideBy by, bool by_name) {
  return ChooseLabels(recording.contents().descriptions, by, by_name).texts;
}

std::vector<ThreadFrame> ThreadFramesOf(const Recording& recording, DivideBy by, bool by_name) {
  const Descriptions& about = recording.contents().descriptions;
  std::vector<ThreadFrame> frames;
  if (about.threads.size() == 1) return frames;
  const Labels labels = ChooseLabels(about, by, by_name);
  std::unordered_map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < labels.texts.size(); ++i) {
    const std::string& label = labels.texts[i];
    const Thread thread = ThreadIn(label, about.threads[i], by, labels.with_numbers);
    const auto [place, is_new] = known.try_emplace(label, frames.size());
    if (is_new) {
      frames.push_back({.label = label, .thread = thread});
      continue;
    }
    Thread& common = frames[place->second].thread;
    if (common.pid != thread.pid) common.pid = 0;
    if (common.tid != thread.tid) common.tid = 0;
  }
  return frames;
}

}  // namespace fieldcost::recording
