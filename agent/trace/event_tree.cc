#include "agent/trace/event_tree.h"

#include <map>
#include <string>
#include <utility>

#include "common/tree/identity.h"

namespace fieldcost::trace {
namespace {

struct Described {
  const char* name;
  tree::Unit unit;
};
// By shm::TraceMetric.
constexpr Described kDescribed[shm::kTraceMetrics] = {
    {"allocated", tree::Unit::kBytes},    {"allocations", tree::Unit::kCount},
    {"freed", tree::Unit::kBytes},        {"frees", tree::Unit::kCount},
    {"disk-read", tree::Unit::kBytes},    {"disk-written", tree::Unit::kBytes},
    {"net-received", tree::Unit::kBytes}, {"net-sent", tree::Unit::kBytes},
    {"page-faults", tree::Unit::kCount},  {"context-switches", tree::Unit::kCount}};

constexpr std::size_t kCalls = 0;
constexpr std::size_t kWall = 1;

// Which of the arenas' metrics becomes which column.
struct Columns {
  std::vector<tree::Metric> metrics = {{.name = "calls", .unit = tree::Unit::kCount},
                                       {.name = "wall", .unit = tree::Unit::kNanoseconds}};
  std::vector<std::size_t> of;  // [column - 2] = shm::TraceMetric
};

Columns ColumnsOf(std::span<const Arena> arenas) {
  std::uint32_t measured = (1U << shm::kTraceMetrics) - 1;
  for (const Arena& arena : arenas) measured &= arena.metrics;
  Columns columns;
  for (std::size_t i = 0; i < shm::kTraceMetrics; ++i) {
    if ((measured >> i & 1U) == 0) continue;
    columns.of.push_back(i);
    columns.metrics.push_back({.name = kDescribed[i].name, .unit = kDescribed[i].unit});
  }
  return columns;
}

tree::Frame FrameOfApi(const Arena& arena, const ArenaNode& node) {
  if (node.api == kNone) return tree::SpecialFrame("[unknown API]");
  const ArenaApi& api = arena.apis[node.api];
  tree::RawSymbol symbol{.symbol = api.symbol};
  if (api.module != kNone) {
    const ArenaModule& module = arena.modules[api.module];
    symbol.module = module.soname.empty() ? module.path : module.soname;
  }
  return tree::MakeFrame(symbol);
}

// Frames of one arena's nodes, each place's once.
class Frames {
 public:
  Frames(const Arena& arena, const NameCode& name, tree::FrameTable& table)
      : arena_(arena), name_(name), table_(table) {}

  Result<tree::FrameId> Of(const ArenaNode& node) {
    const auto [at, is_new] = known_.try_emplace(
        {node.kind, node.kind == PlaceKind::kApi ? node.api : node.address}, tree::FrameId{0});
    if (is_new) {
      FIELDCOST_ASSIGN(at->second, table_.Intern(FrameOf(node)));
    }
    return at->second;
  }

 private:
  tree::Frame FrameOf(const ArenaNode& node) const {
    switch (node.kind) {
      case PlaceKind::kApi:
        return FrameOfApi(arena_, node);
      case PlaceKind::kOther:
        return tree::SpecialFrame(tree::kOther);
      case PlaceKind::kCut:
        return tree::SpecialFrame(tree::kCut);
      case PlaceKind::kRoot:
      case PlaceKind::kFunction:
        break;
    }
    return name_(node.module == kNone ? nullptr : &arena_.modules[node.module], node.address);
  }

  const Arena& arena_;
  const NameCode& name_;
  tree::FrameTable& table_;
  std::map<std::pair<PlaceKind, std::uint64_t>, tree::FrameId> known_;
};

// By node: what of its time is not its children's, all of them rounded down.
std::vector<std::uint64_t> SelfNanoseconds(const Arena& arena) {
  const std::size_t count = arena.nodes.size();
  std::vector<std::uint64_t> ticks(count);  // inclusive
  std::vector<std::uint64_t> ns(count);
  for (std::size_t i = count; i-- > 0;) {
    const ArenaNode& node = arena.nodes[i];
    ticks[i] += node.ticks;
    const std::uint64_t inclusive = arena.Nanoseconds(ticks[i]);
    ns[i] += inclusive;  // less its children's
    if (node.parent == kNone) continue;
    ticks[node.parent] += ticks[i];
    ns[node.parent] -= inclusive;
  }
  return ns;
}

Status AddArena(const Arena& arena, const Columns& columns, const NameCode& name,
                tree::Dictionary& dictionary, tree::RunValues& values) {
  Frames frames(arena, name, dictionary.frames);
  const std::vector<std::uint64_t> ns = SelfNanoseconds(arena);
  std::vector<tree::PathId> paths;
  paths.reserve(arena.nodes.size());
  for (std::size_t i = 0; i < arena.nodes.size(); ++i) {
    const ArenaNode& node = arena.nodes[i];
    tree::PathId path = tree::kRootPath;
    if (node.parent != kNone) {
      FIELDCOST_ASSIGN(const tree::FrameId frame, frames.Of(node));
      FIELDCOST_ASSIGN(path, dictionary.paths.Intern(paths[node.parent], frame));
    }
    paths.push_back(path);
    FIELDCOST_TRY(values.Add(kCalls, path, node.calls));
    FIELDCOST_TRY(values.Add(kWall, path, ns[i]));
    for (std::size_t column = 0; column < columns.of.size(); ++column) {
      FIELDCOST_TRY(values.Add(kWall + 1 + column, path, node.values[columns.of[column]]));
    }
  }
  return {};
}

}  // namespace

tree::Frame UnnamedCode(const ArenaModule* module, std::uint64_t address) {
  if (module == nullptr) return tree::MakeFrame({.offset = address});
  return tree::MakeFrame({.module = module->soname.empty() ? module->path : module->soname,
                          .build_id = module->build_id,
                          .offset = module->FileOffsetOf(address)});
}

Result<EventTree> MakeEventTree(std::span<const Arena> arenas, const NameCode& name,
                                tree::Dictionary& dictionary) {
  const Columns columns = ColumnsOf(arenas);
  EventTree events{.metrics = columns.metrics, .values = tree::RunValues(columns.metrics.size())};
  for (const Arena& arena : arenas) {
    FIELDCOST_TRY(AddArena(arena, columns, name, dictionary, events.values));
  }
  return events;
}

}  // namespace fieldcost::trace
