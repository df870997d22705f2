// A traced program's arena as its reader sees it. It is large and nearly empty, so an input states
// where its bytes go (pieces.h). They change a small valid arena.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "agent/events/arena_reader.h"
#include "agent/events/event_tree.h"
#include "common/base/check.h"
#include "tests/agent/events/arena_bytes.h"
#include "tests/fuzz/pieces.h"

namespace {

namespace shm = fieldcost::shm;
namespace events = fieldcost::events;
using fieldcost::testing::ArenaBytes;

std::uint64_t PlaceOf(unsigned kind, std::uint64_t number) {
  switch (kind % 7) {
    case 1:
      return fieldcost::testing::TraceModuleAt(number % shm::kTraceModules);
    case 2:
      return fieldcost::testing::TraceThreadAt(number % shm::kThreadSlots);
    case 3:
      return fieldcost::testing::TraceChunkAt(number % 4);
    case 4:
      return fieldcost::testing::TraceApiAt(number % shm::kTraceApis);
    case 5:
      return fieldcost::testing::TraceNodeAt(number % (4 * shm::kTraceNodesOfChunk));
    case 6:
      return fieldcost::testing::TraceEdgeAt(number % 4, number / 4 % shm::kTraceEdgesOfChunk);
    default:
      return 0;
  }
}

ArenaBytes FileOf(std::string_view pieces) {
  ArenaBytes file = fieldcost::testing::SmallArena();
  fieldcost::testing::WritePieces(pieces, PlaceOf, file);
  return file;
}

void Check(const events::Arena& arena) {
  std::uint64_t ns = 0;
  for (std::size_t i = 0; i < arena.nodes.size(); ++i) {
    const events::ArenaNode& node = arena.nodes[i];
    FIELDCOST_CHECK(node.parent == events::kNone ? node.kind == events::PlaceKind::kRoot
                                                 : node.parent < i);
    FIELDCOST_CHECK(node.module == events::kNone || node.module < arena.modules.size());
    FIELDCOST_CHECK(node.api == events::kNone || node.api < arena.apis.size());
    ns += arena.Nanoseconds(node.ticks);
  }
  for (const events::ArenaThread& thread : arena.threads) {
    FIELDCOST_CHECK(thread.root < arena.nodes.size() && thread.current < arena.nodes.size());
  }
  fieldcost::tree::Dictionary dictionary;
  const auto values = events::EventValues(arena, events::UnnamedCode, dictionary);
  if (!values) return;
  std::uint64_t in_tree = 0;
  for (const std::uint64_t self : values->column(1)) in_tree += self;
  FIELDCOST_CHECK(in_tree >= ns);  // each is rounded down, the total less often
  events::Arena running = arena;
  running.still_runs = true;
  for (events::ArenaThread& thread : running.threads) thread.open_ticks = 0;
  const auto so_far = events::EventValues(running, events::UnnamedCode, dictionary);
  FIELDCOST_CHECK(so_far);
  for (std::size_t i = 0; i < so_far->column(1).size(); ++i) {
    FIELDCOST_CHECK(so_far->column(1)[i] <= values->column(1)[i]);
  }
  static_cast<void>(events::BranchValues(arena, events::UnnamedCode, dictionary));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto arena = events::ReadArena(FileOf({reinterpret_cast<const char*>(data), size}));
  if (arena) Check(*arena);
  return 0;
}
