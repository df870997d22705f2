#include "common/recording/recording_dictionary.h"

#include <map>
#include <vector>

#include "common/base/check.h"
#include "common/recording/bytes.h"
#include "common/recording/recording_limits.h"

namespace fieldcost::recording {
namespace {

using tree::Frame;
using tree::FrameId;
using tree::PathId;

Error Malformed(std::string_view what) { return Corrupt(fmt::format("dictionary: {}", what)); }

// Texts that frames share; each is stored once per increment.
class TextTable {
 public:
  std::size_t Intern(std::string_view text) {
    const auto [found, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) {
      ByteWriter(bytes_).Text(text);
    }
    return found->second;
  }
  std::size_t count() const { return numbers_.size(); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::map<std::string_view, std::size_t> numbers_;
  std::string bytes_;
};

void AppendCodeFrame(const Frame& frame, TextTable& texts, std::string& out) {
  ByteWriter bytes(out);
  bytes.Varint(static_cast<std::uint64_t>(frame.kind));
  bytes.Varint(texts.Intern(frame.module));
  bytes.Varint(texts.Intern(frame.file));
  bytes.Varint(texts.Intern(frame.build_id));
  bytes.Text(frame.function);
  bytes.Varint(frame.offset);
}

std::string_view TextOf(ByteReader& bytes, const std::vector<std::string_view>& texts) {
  const std::uint64_t number = bytes.Varint();
  if (number >= texts.size()) bytes.Fail();
  return bytes.ok() ? texts[number] : std::string_view();
}

Status DecodeFrames(ByteReader& bytes, tree::FrameTable& frames) {
  const std::uint64_t text_count = bytes.Varint();
  if (text_count > bytes.left()) return Malformed("more texts than bytes");
  std::vector<std::string_view> texts;
  texts.reserve(text_count);
  for (std::uint64_t i = 0; i < text_count; ++i) {
    texts.push_back(bytes.Text(tree::kMaxNameBytes));
  }
  const std::uint64_t frame_count = bytes.Varint();
  for (std::uint64_t i = 0; i < frame_count && bytes.ok(); ++i) {
    Frame frame;
    const std::uint64_t kind = bytes.Varint();
    if (kind > UINT8_MAX) bytes.Fail();
    frame.kind = static_cast<tree::FrameKind>(kind);
    frame.module = TextOf(bytes, texts);
    frame.file = TextOf(bytes, texts);
    frame.build_id = TextOf(bytes, texts);
    frame.function = bytes.Text(tree::kMaxNameBytes);
    frame.offset = bytes.Varint();
    if (!bytes.ok()) break;
    const std::size_t expected = frames.size();
    FIELDCOST_ASSIGN(const FrameId id, frames.Intern(frame));
    if (id.value() != expected) return Malformed("a frame is in it twice");
  }
  if (!bytes.ok()) return Malformed("frames are not well-formed");
  return {};
}

Status DecodePaths(ByteReader& bytes, const tree::FrameTable& frames, tree::PathTable& paths) {
  const std::uint64_t count = bytes.Varint();
  if (count > bytes.left() / 2) return Malformed("more paths than bytes");
  paths.Reserve(paths.size() + count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t expected = paths.size();
    const std::uint64_t distance = bytes.Varint();
    const std::uint64_t frame = bytes.Varint();
    if (!bytes.ok() || distance == 0 || distance > expected) {
      return Malformed("a path's parent is not before it");
    }
    if (frame >= frames.size()) return Malformed("a path's frame is not known");
    const PathId parent(static_cast<std::uint32_t>(expected - distance));
    FIELDCOST_ASSIGN(const PathId id,
                     paths.Intern(parent, FrameId(static_cast<std::uint32_t>(frame))));
    if (id.value() != expected) return Malformed("a path is in it twice");
  }
  return {};
}

}  // namespace

std::string EncodeIncrement(const tree::FrameTable& frames, const tree::PathTable& paths,
                            DictionarySize& size) {
  FIELDCOST_CHECK(size.frames <= frames.size() && size.paths <= paths.size());
  const DictionarySize before = size;
  TextTable texts;
  std::string frame_bytes;
  for (;
       size.frames < frames.size() && frame_bytes.size() + texts.bytes().size() < kDictionaryBytes;
       ++size.frames) {
    AppendCodeFrame(frames.frame(FrameId(static_cast<std::uint32_t>(size.frames))), texts,
                    frame_bytes);
  }
  std::string path_bytes;
  ByteWriter path_writer(path_bytes);
  // Paths follow once all frames that they may need have been written.
  const bool has_frames = size.frames == frames.size();
  for (; has_frames && size.paths < paths.size() && path_bytes.size() < kDictionaryBytes;
       ++size.paths) {
    const PathId path(static_cast<std::uint32_t>(size.paths));
    path_writer.Varint(size.paths - paths.parent(path).value());
    path_writer.Varint(paths.frame(path).value());
  }
  std::string out;
  ByteWriter bytes(out);
  bytes.Varint(before.frames);
  bytes.Varint(before.paths);
  bytes.Varint(texts.count());
  out += texts.bytes();
  bytes.Varint(size.frames - before.frames);
  out += frame_bytes;
  bytes.Varint(size.paths - before.paths);
  out += path_bytes;
  return out;
}

Status DecodeIncrement(std::string_view untrusted_payload, tree::FrameTable& frames,
                       tree::PathTable& paths) {
  ByteReader bytes(untrusted_payload);
  const std::uint64_t first_frame = bytes.Varint();
  const std::uint64_t first_path = bytes.Varint();
  if (first_frame != frames.size() || first_path != paths.size()) {
    return Malformed("an increment is missing before this one");
  }
  FIELDCOST_TRY(DecodeFrames(bytes, frames));
  FIELDCOST_TRY(DecodePaths(bytes, frames, paths));
  if (!bytes.at_end()) return Malformed("bytes after an increment");
  return {};
}

}  // namespace fieldcost::recording
