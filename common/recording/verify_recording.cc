#include "common/recording/verify_recording.h"

#include <algorithm>

#include "common/recording/block.h"
#include "common/recording/mapped_file.h"
#include "common/recording/path_sums.h"
#include "common/recording/recording.h"
#include "common/stats/uint128.h"
#include "common/tree/codec.h"

namespace fieldcost::recording {
namespace {

// Checks the samples, sums and trees of one file.
class Verifier {
 public:
  Verifier(const Recording& recording, VerifyReport& report)
      : recording_(recording), contents_(recording.contents()), report_(report) {}

  void Run() {
    for (std::size_t i = 0; i < contents_.streams.size(); ++i) {
      CheckSamples(contents_.streams[i]);
      // One metric at a time, so that memory is needed only for all paths of one metric.
      for (std::size_t metric = 0; metric < contents_.streams[i].metrics(); ++metric) {
        CheckSums(contents_.streams[i], metric);
      }
    }
    CheckTrees();
  }

 private:
  void Found(std::uint32_t frame, std::string_view what) {
    const IndexEntry& entry = contents_.frames[frame];
    report_.problems.push_back(
        {.offset = entry.offset, .what = fmt::format("{}: {}", Name(entry.type), what)});
  }

  void CheckSamples(const StreamIndex& stream) {
    for (const StreamIndex::Block& entry : stream.blocks()) {
      const auto block = recording_.Block(entry.frame, stream.metrics());
      if (!block) {
        Found(entry.frame, block.error().message);
        continue;
      }
      std::uint64_t before_ns = block->head.first_ns;
      bool ascends = block->time_ns(0) == before_ns;
      bool is_known = true;
      for (std::uint32_t i = 0; i < block->head.samples; ++i) {
        ascends = ascends && block->time_ns(i) >= before_ns;
        before_ns = block->time_ns(i);
        is_known = is_known && block->path(i) < block->head.paths &&
                   block->thread(i) < contents_.descriptions.threads.size();
      }
      if (!ascends || before_ns != block->head.last_ns) Found(entry.frame, "times do not ascend");
      if (!is_known) Found(entry.frame, "a sample has an unknown path or thread");
    }
  }

  // Compares the sums in a frame with those of its samples.
  void Compare(std::uint32_t frame, const Result<Sums>& sums, const SumsOfPaths& actual) {
    if (!sums) return Found(frame, sums.error().message);
    std::size_t at = 0;
    bool is_equal = true;
    const bool is_good =
        ForEachSum(*sums, recording_.dictionary().paths.size(), [&](std::uint32_t id, auto value) {
          is_equal = is_equal && at < actual.ids.size() && actual.ids[at] == id &&
                     actual.values[0][at] == value;
          ++at;
        });
    if (!is_good || !is_equal || at != actual.ids.size())
      Found(frame, "its sums are not those of the samples");
  }

  void CheckSums(const StreamIndex& stream, std::size_t metric) {
    const std::size_t paths = recording_.dictionary().paths.size();
    PathSums of_block(1);
    PathSums of_group(1);
    of_block.Reserve(paths);
    of_group.Reserve(paths);
    std::vector<std::uint64_t> all(paths);
    stats::Uint128 total = 0;
    auto vector = stream.vectors().begin();
    for (std::size_t i = 0; i < stream.blocks().size(); ++i) {
      const std::uint32_t frame = stream.blocks()[i].frame;
      const auto block = recording_.Block(frame, stream.metrics());
      if (!block) return;  // already reported; everything after it would differ
      for (std::uint32_t sample = 0; sample < block->head.samples; ++sample) {
        const std::uint32_t path = block->path(sample);
        if (path >= paths) return;
        const std::uint64_t value = block->columns[metric][sample];
        of_block.Touch(path);
        of_block.Add(0, path, value);
        total += value;
      }
      if (total > UINT64_MAX) return Found(frame, "the stream's sum is 2^64 or more");
      const SumsOfPaths sums = of_block.Take();
      if (block->head.sum_entries > 0) {
        Compare(frame, block->SumsOf(static_cast<std::uint32_t>(metric)), sums);
      }
      AddTo(sums, of_group, all);
      if ((i + 1) % kGroupBlocks != 0) continue;
      CheckGroup(stream, i / kGroupBlocks, metric, of_group.Take());
      if (vector != stream.vectors().end() && vector->blocks == i + 1) {
        CheckVector(vector->frames[metric], all);
        ++vector;
      }
    }
  }

  static void AddTo(const SumsOfPaths& sums, PathSums& of_group, std::vector<std::uint64_t>& all) {
    for (std::size_t i = 0; i < sums.ids.size(); ++i) {
      of_group.Touch(sums.ids[i]);
      of_group.Add(0, sums.ids[i], sums.values[0][i]);
      all[sums.ids[i]] += sums.values[0][i];
    }
  }

  void CheckGroup(const StreamIndex& stream, std::size_t group, std::size_t metric,
                  const SumsOfPaths& actual) {
    if (group >= stream.groups().size() || stream.groups()[group].frame == 0) return;
    const std::uint32_t number = stream.groups()[group].frame;
    const auto frame = recording_.Frame(number);
    if (!frame) return Found(number, frame.error().message);
    const auto head = ReadGroupHead(frame->payload);
    if (!head || head->metrics != stream.metrics()) return Found(number, "it has other metrics");
    Compare(number, ReadGroup(frame->payload, static_cast<std::uint32_t>(metric)), actual);
  }

  void CheckVector(std::uint32_t number, const std::vector<std::uint64_t>& all) {
    const auto frame = recording_.Frame(number);
    if (!frame) return Found(number, frame.error().message);
    const auto column = ReadVector(frame->payload);
    if (!column || column->count > all.size()) return Found(number, "it has unknown paths");
    std::vector<std::uint64_t> vector(all.size());
    SetAll(*column, vector);
    if (vector != all) Found(number, "it is not the sum of the blocks before it");
  }

  void CheckTrees() {
    const auto trees = recording_.Trees();
    const auto first =
        std::find_if(contents_.frames.begin(), contents_.frames.end(),
                     [](const auto& entry) { return entry.type == FrameType::kTree; });
    const auto number = static_cast<std::uint32_t>(first - contents_.frames.begin());
    if (!trees) return Found(number, trees.error().message);
    report_.trees = trees->size();
    for (const std::string& bytes : *trees) {
      const auto tree = tree::DecodeTree(bytes);
      if (!tree && !tree::DecodeMeanTree(bytes)) Found(number, tree.error().message);
    }
  }

  const Recording& recording_;
  const Contents& contents_;
  VerifyReport& report_;
};

void CompareIndex(std::string_view file, const Contents& contents, VerifyReport& report) {
  const auto index = FindIndex(file);
  report.has_index = index.has_value();
  // If reading stopped early, the index contains frames that were not read.
  if (!index || !contents.stop.reason.empty()) return;
  if (DecodeIndex(*index) != contents.frames) {
    report.problems.push_back({.offset = index->offset, .what = "index: it lists other frames"});
  }
}

}  // namespace

Result<VerifyReport> Verify(std::string_view untrusted_file) {
  FIELDCOST_ASSIGN(const Recording recording, Recording::WithoutIndex(untrusted_file));
  const Contents& contents = recording.contents();
  VerifyReport report{.bytes = untrusted_file.size(), .stop = contents.stop};
  for (const IndexEntry& entry : contents.frames) ++report.frames[std::string(Name(entry.type))];
  for (const StreamIndex& stream : contents.streams) report.samples += stream.samples();
  report.paths = recording.dictionary().paths.size();
  report.runs = contents.descriptions.runs.size();
  for (const Run& run : contents.descriptions.runs) report.open_runs += run.has_ended ? 0 : 1;
  Verifier(recording, report).Run();
  CompareIndex(untrusted_file, contents, report);
  std::stable_sort(report.problems.begin(), report.problems.end(),
                   [](const Problem& a, const Problem& b) { return a.offset < b.offset; });
  if (report.problems.size() > kMaxProblems) report.problems.resize(kMaxProblems);
  return report;
}

Result<VerifyReport> VerifyFile(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(const MappedFile file, MappedFile::Open(path));
  auto report = Verify(file.bytes());
  if (!report) return Within(report.error(), "read " + path.string());
  return report;
}

}  // namespace fieldcost::recording
