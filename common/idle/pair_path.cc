#include "common/idle/pair_path.h"

#include <algorithm>

#include "common/tree/frame.h"

namespace fieldcost::idle {
namespace {

Status Add(const std::vector<tree::FrameId>& part, tree::Dictionary& dictionary,
           tree::PathId& path) {
  for (const tree::FrameId frame : part) {
    FIELDCOST_ASSIGN(path, dictionary.paths.Intern(path, frame));
  }
  return {};
}

Status AddSpecial(const char* name, tree::Dictionary& dictionary, tree::PathId& path) {
  FIELDCOST_ASSIGN(const tree::FrameId frame, dictionary.frames.Intern(tree::SpecialFrame(name)));
  FIELDCOST_ASSIGN(path, dictionary.paths.Intern(path, frame));
  return {};
}

}  // namespace

Result<tree::PathId> InternPair(const PairPath& pair, tree::Dictionary& dictionary) {
  tree::PathId path = tree::kRootPath;
  FIELDCOST_TRY(Add(pair.to, dictionary, path));
  FIELDCOST_TRY(AddSpecial(kUntil, dictionary, path));
  FIELDCOST_TRY(Add(pair.from, dictionary, path));
  if (pair.waker.empty()) return path;
  FIELDCOST_TRY(AddSpecial(kWokenBy, dictionary, path));
  FIELDCOST_TRY(Add(pair.waker, dictionary, path));
  return path;
}

PairPath SplitPair(const tree::Dictionary& dictionary, tree::PathId path) {
  std::vector<tree::FrameId> frames;
  for (; path != tree::kRootPath; path = dictionary.paths.parent(path))
    frames.push_back(dictionary.paths.frame(path));
  std::ranges::reverse(frames);
  PairPath pair;
  std::vector<tree::FrameId>* part = &pair.to;
  for (const tree::FrameId id : frames) {
    const tree::Frame& frame = dictionary.frames.frame(id);
    const bool is_special = frame.kind == tree::FrameKind::kSpecial;
    if (is_special && part == &pair.to && frame.function == kUntil) {
      part = &pair.from;
    } else if (is_special && part == &pair.from && frame.function == kWokenBy) {
      part = &pair.waker;
    } else {
      part->push_back(id);
    }
  }
  return pair;
}

}  // namespace fieldcost::idle
