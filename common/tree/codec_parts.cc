// The common beginning of all encoded trees, after format version and kind. Numbers are LEB128 in
// their shortest form.
//
//   names     := count metric*  count string*  count frame*  count path*
//   metric    := size name unit per_sample             ; ascending by name
//   string    := shared size rest                      ; ascending; the first `shared` bytes are
//                                                      ; those of the previous string
//   frame     := kind module function file build_id offset   ; ascending; names are numbers of
//                                                      ; strings, from 1; 0 is the empty string
//   path      := up frame                              ; depth first, siblings ascending by frame;
//                                                      ; its parent is `up` above the previous path
#include "common/tree/codec_parts.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/stats/varint.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

using stats::AppendVarint;
using stats::Uint128;

constexpr std::uint64_t kFirstString = 1;  // 0 is the empty string

void AppendMetrics(const std::vector<Metric>& metrics, std::string& bytes) {
  AppendVarint(metrics.size(), bytes);
  for (const Metric& metric : metrics) {
    AppendVarint(metric.name.size(), bytes);
    bytes += metric.name;
    AppendVarint(static_cast<std::uint8_t>(metric.unit), bytes);
    AppendVarint(metric.per_sample, bytes);
  }
}

using Strings = std::map<std::string_view, std::uint64_t>;

// Each shares the longest possible prefix with the previous one.
void AppendStrings(Strings& strings, std::string& bytes) {
  AppendVarint(strings.size(), bytes);
  std::string_view before;
  std::uint64_t number = kFirstString;
  for (auto& [text, index] : strings) {
    const auto shared = static_cast<std::size_t>(
        std::mismatch(before.begin(), before.end(), text.begin(), text.end()).first -
        before.begin());
    AppendVarint(shared, bytes);
    AppendVarint(text.size() - shared, bytes);
    bytes += text.substr(shared);
    before = text;
    index = number++;
  }
}

void AppendFrames(const std::vector<const Frame*>& frames, std::string& bytes) {
  Strings strings;
  for (const Frame* frame : frames) {
    for (const std::string* text :
         {&frame->module, &frame->function, &frame->file, &frame->build_id}) {
      if (!text->empty()) strings.emplace(*text, 0);
    }
  }
  AppendStrings(strings, bytes);
  const auto append = [&](const std::string& text) {
    AppendVarint(text.empty() ? 0 : strings.at(text), bytes);
  };
  AppendVarint(frames.size(), bytes);
  for (const Frame* frame : frames) {
    AppendVarint(static_cast<std::uint8_t>(frame->kind), bytes);
    append(frame->module);
    append(frame->function);
    append(frame->file);
    append(frame->build_id);
    AppendVarint(frame->offset, bytes);
  }
}

Result<std::vector<Metric>> TakeMetrics(Reader& reader) {
  FIELDCOST_ASSIGN(const std::size_t count, reader.Count(kMaxMetrics, 4, "metrics"));
  std::vector<Metric> metrics(count);
  for (std::size_t i = 0; i < count; ++i) {
    Metric& metric = metrics[i];
    FIELDCOST_ASSIGN(const std::uint64_t size, reader.Number(kMaxMetricNameBytes));
    FIELDCOST_ASSIGN(metric.name, reader.Bytes(size));
    FIELDCOST_ASSIGN(const std::uint64_t unit, reader.Number(UINT8_MAX));
    metric.unit = static_cast<Unit>(unit);
    FIELDCOST_ASSIGN(metric.per_sample, reader.Number());
    if (!Validate(metric)) return Malformed("a metric");
    if (i != 0 && metrics[i - 1].name >= metric.name) return Malformed("order of metrics");
  }
  return metrics;
}

Result<std::vector<std::string>> TakeStrings(Reader& reader) {
  FIELDCOST_ASSIGN(const std::size_t count, reader.Count(4 * kMaxFrames, 3, "names"));
  std::vector<std::string> strings(1);
  strings.reserve(count + kFirstString);
  std::size_t all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& before = strings.back();
    FIELDCOST_ASSIGN(const std::uint64_t shared, reader.Number(before.size()));
    FIELDCOST_ASSIGN(const std::uint64_t size, reader.Number(kMaxNameBytes));
    FIELDCOST_ASSIGN(const std::string_view rest, reader.Bytes(size));
    // Must be ascending, and share no more with the previous one.
    if (rest.empty() ||
        (shared < before.size() &&
         static_cast<unsigned char>(rest.front()) <= static_cast<unsigned char>(before[shared]))) {
      return Malformed("order of names");
    }
    all += shared + size;
    if (shared + size > kMaxNameBytes || all > kMaxAllNameBytes) {
      return Fail(ErrorCode::kTooLarge, "a tree's names are too long");
    }
    strings.push_back(before.substr(0, shared) + std::string(rest));
  }
  return strings;
}

Status TakeFrames(Reader& reader, FrameTable& frames) {
  FIELDCOST_ASSIGN(const std::vector<std::string> strings, TakeStrings(reader));
  std::vector<bool> used(strings.size());
  used[0] = true;
  FIELDCOST_ASSIGN(const std::size_t count, reader.Count(kMaxFrames, 6, "frames"));
  for (std::size_t i = 0; i < count; ++i) {
    Frame frame;
    FIELDCOST_ASSIGN(const std::uint64_t kind, reader.Number(UINT8_MAX));
    frame.kind = static_cast<FrameKind>(kind);
    for (std::string* text : {&frame.module, &frame.function, &frame.file, &frame.build_id}) {
      FIELDCOST_ASSIGN(const std::uint64_t index, reader.Number(strings.size() - 1));
      used[index] = true;
      *text = strings[index];
    }
    FIELDCOST_ASSIGN(frame.offset, reader.Number());
    if (i != 0 && frames.frame(FrameId(static_cast<std::uint32_t>(i - 1))) >= frame) {
      return Malformed("order of frames");
    }
    const Result<FrameId> id = frames.Intern(frame);
    if (!id.has_value() && id.error().code == ErrorCode::kTooLarge) return id.error();
    if (!id.has_value()) return Malformed("a frame");
  }
  if (std::find(used.begin(), used.end(), false) != used.end()) return Malformed("unused names");
  return {};
}

Status TakePaths(Reader& reader, Dictionary& dictionary, std::vector<bool>& is_leaf) {
  FIELDCOST_ASSIGN(const std::size_t count, reader.Count(kMaxPaths - 1, 2, "call paths"));
  dictionary.paths.Reserve(count + 1);
  is_leaf.assign(count + 1, true);
  std::vector<bool> used(dictionary.frames.size());
  std::vector<PathId> open = {kRootPath};  // the ancestors of the last path, and that path
  std::vector<std::uint64_t> least = {0};  // for each, the minimum of its next child's frame
  for (std::size_t i = 0; i < count; ++i) {
    FIELDCOST_ASSIGN(const std::uint64_t up, reader.Number(open.size() - 1));
    FIELDCOST_ASSIGN(const std::uint64_t frame, reader.Number());
    open.resize(open.size() - up);
    least.resize(open.size());
    if (frame >= used.size() || frame < least.back()) return Malformed("frame of a path");
    used[frame] = true;
    least.back() = frame + 1;
    is_leaf[open.back().value()] = false;
    FIELDCOST_ASSIGN(
        const PathId path,
        dictionary.paths.Intern(open.back(), FrameId(static_cast<std::uint32_t>(frame))));
    open.push_back(path);
    least.push_back(0);
  }
  if (std::find(used.begin(), used.end(), false) != used.end()) return Malformed("unused frames");
  return {};
}

}  // namespace

void AppendHead(TreeKind kind, const std::vector<Metric>& metrics, const Dictionary& dictionary,
                const std::vector<PathId>& order, std::string& bytes) {
  bytes += static_cast<char>(kTreeFormatVersion);
  bytes += static_cast<char>(kind);
  AppendMetrics(metrics, bytes);
  const PathTable& paths = dictionary.paths;
  constexpr std::uint32_t kUnused = UINT32_MAX;
  std::vector<std::uint32_t> number(dictionary.frames.size(), kUnused);
  std::vector<FrameId> used;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const FrameId frame = paths.frame(order[i]);
    if (std::exchange(number[frame.value()], 0) == kUnused) used.push_back(frame);
  }
  std::sort(used.begin(), used.end(), [&](FrameId a, FrameId b) {
    return dictionary.frames.frame(a) < dictionary.frames.frame(b);
  });
  std::vector<const Frame*> frames;
  for (std::uint32_t i = 0; i < used.size(); ++i) {
    number[used[i].value()] = i;
    frames.push_back(&dictionary.frames.frame(used[i]));
  }
  AppendFrames(frames, bytes);
  AppendVarint(order.size() - 1, bytes);
  for (std::size_t i = 1; i < order.size(); ++i) {
    AppendVarint(paths.depth(order[i - 1]) + 1 - paths.depth(order[i]), bytes);
    AppendVarint(number[paths.frame(order[i]).value()], bytes);
  }
}

std::vector<bool> HasChildren(const PathTable& paths, const std::vector<PathId>& order) {
  std::vector<bool> has_children(paths.size());
  for (const PathId path : order) {
    if (path != kRootPath) has_children[paths.parent(path).value()] = true;
  }
  return has_children;
}

Result<Uint128> Reader::Wide(Uint128 most) {
  const std::string_view before = rest_;
  Uint128 value = 0;
  if (!stats::TakeVarint(rest_, value)) return Malformed("a number is truncated");
  const std::size_t size = before.size() - rest_.size();
  if (size > 1 && before[size - 1] == 0) return Malformed("a number is too long");
  if (value > most) return Malformed("a number is too large");
  return value;
}

Result<std::uint64_t> Reader::Number(std::uint64_t most) {
  FIELDCOST_ASSIGN(const Uint128 value, Wide(most));
  return static_cast<std::uint64_t>(value);
}

Result<std::size_t> Reader::Count(std::size_t most, std::size_t least_bytes,
                                  std::string_view what) {
  FIELDCOST_ASSIGN(const std::uint64_t count, Number());
  if (count > most)
    return Fail(ErrorCode::kTooLarge, "a tree has {} {}, more than {}", count, what, most);
  if (count > rest_.size() / least_bytes) return Malformed("it is truncated");
  return count;
}

Result<std::string_view> Reader::Bytes(std::size_t size) {
  if (size > rest_.size()) return Malformed("it is truncated");
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

Error Malformed(std::string_view what) {
  return Fail(ErrorCode::kCorrupt, "a tree's bytes are malformed: {}", what);
}

Result<Head> TakeHead(Reader& reader, TreeKind kind) {
  FIELDCOST_ASSIGN(const std::string_view begin, reader.Bytes(2));
  if (static_cast<std::uint8_t>(begin[0]) > kTreeFormatVersion) {
    return Fail(ErrorCode::kUnsupported, "a tree has format {}, newer than {}",
                static_cast<unsigned>(static_cast<std::uint8_t>(begin[0])), kTreeFormatVersion);
  }
  if (begin[0] != kTreeFormatVersion) return Malformed("its version");
  if (begin[1] != static_cast<char>(kind)) return Malformed("it has another kind");
  Head head;
  FIELDCOST_ASSIGN(head.metrics, TakeMetrics(reader));
  auto dictionary = std::make_shared<Dictionary>();
  FIELDCOST_TRY(TakeFrames(reader, dictionary->frames));
  FIELDCOST_TRY(TakePaths(reader, *dictionary, head.is_leaf));
  if (head.metrics.size() * head.is_leaf.size() > reader.left() / 2) {
    return Malformed("it is truncated");
  }
  head.dictionary = std::move(dictionary);
  return head;
}

}  // namespace fieldcost::tree
