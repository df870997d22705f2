#include "agent/events/event_tree.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "common/tree/identity.h"

namespace fieldcost::events {
namespace {

struct Described {
  const char* name;
  tree::Unit unit;
};
// The names and units, indexed by shm::TraceMetric.
constexpr Described kDescribed[shm::kTraceMetrics] = {
    {"allocated", tree::Unit::kBytes},    {"allocations", tree::Unit::kCount},
    {"freed", tree::Unit::kBytes},        {"frees", tree::Unit::kCount},
    {"disk-read", tree::Unit::kBytes},    {"disk-written", tree::Unit::kBytes},
    {"net-received", tree::Unit::kBytes}, {"net-sent", tree::Unit::kBytes},
    {"page-faults", tree::Unit::kCount},  {"context-switches", tree::Unit::kCount}};

constexpr std::size_t kCalls = 0;
constexpr std::size_t kWall = 1;
constexpr std::size_t kFirstOther = 2;

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

// The frames of an arena's nodes; looks up each place once.
class Frames {
 public:
  Frames(const Arena& arena, const NameCode& name, tree::FrameTable& table)
      : arena_(arena), name_(name), table_(table) {}

  Result<tree::FrameId> Of(const ArenaNode& node) {
    const auto [at, is_new] = known_.try_emplace(
        {node.kind, node.kind == PlaceKind::kApi ? node.api : node.address}, tree::FrameId{0});
    if (is_new) {
      FIELDCOST_ASSIGN(const tree::Frame frame, FrameOf(node));
      FIELDCOST_ASSIGN(at->second, table_.Intern(frame));
    }
    return at->second;
  }

 private:
  Result<tree::Frame> FrameOf(const ArenaNode& node) const {
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

// Self times by node: inclusive times minus those of the children, each rounded down.
std::vector<std::uint64_t> SelfNanoseconds(const Arena& arena) {
  const std::size_t count = arena.nodes.size();
  std::vector<std::uint64_t> ticks(count);  // inclusive
  std::vector<std::uint64_t> ns(count);
  for (std::size_t i = count; i-- > 0;) {
    const ArenaNode& node = arena.nodes[i];
    ticks[i] += node.ticks;
    const std::uint64_t inclusive = arena.Nanoseconds(ticks[i]);
    ns[i] += inclusive;  // minus its children's
    if (node.parent == kNone) continue;
    ticks[node.parent] += ticks[i];
    ns[node.parent] -= inclusive;
  }
  return ns;
}

// Self times by node, rounded down, including open calls. Never more than the final result of
// SelfNanoseconds().
std::vector<std::uint64_t> LeastNanoseconds(const Arena& arena) {
  std::vector<std::uint64_t> ticks;
  ticks.reserve(arena.nodes.size());
  for (const ArenaNode& node : arena.nodes) ticks.push_back(node.ticks);
  for (const ArenaThread& thread : arena.threads) {
    // Outside of all calls, the next call may never come.
    if (arena.nodes[thread.current].kind != PlaceKind::kRoot) {
      ticks[thread.current] += thread.open_ticks;
    }
  }
  for (std::uint64_t& each : ticks) each = arena.Nanoseconds(each);
  return ticks;
}

class Blocks {
 public:
  Blocks(const Arena& arena, const NameCode& name, tree::Dictionary& dictionary)
      : arena_(arena), name_(name), dictionary_(dictionary) {}

  Result<tree::PathId> PathOf(const ArenaEdge& edge) {
    FIELDCOST_ASSIGN(const tree::FrameId all,
                     dictionary_.frames.Intern(tree::SpecialFrame(kBranches)));
    FIELDCOST_ASSIGN(const tree::PathId root, dictionary_.paths.Intern(tree::kRootPath, all));
    FIELDCOST_ASSIGN(const tree::FrameId from, Of(edge.from, edge.from_module));
    FIELDCOST_ASSIGN(const tree::PathId before, dictionary_.paths.Intern(root, from));
    FIELDCOST_ASSIGN(const tree::FrameId to, Of(edge.to, edge.to_module));
    return dictionary_.paths.Intern(before, to);
  }

 private:
  static constexpr char kBranches[] = "[branches]";
  static constexpr char kFirst[] = "[first]";  // the first block of its thread

  Result<tree::FrameId> Of(std::uint64_t address, std::uint32_t module) {
    const auto [at, is_new] = known_.try_emplace(address, tree::FrameId{0});
    if (!is_new) return at->second;
    tree::Frame frame = tree::SpecialFrame(kFirst);
    if (address != 0) {
      FIELDCOST_ASSIGN(frame, name_(module == kNone ? nullptr : &arena_.modules[module], address));
    }
    FIELDCOST_ASSIGN(at->second, dictionary_.frames.Intern(frame));
    return at->second;
  }

  const Arena& arena_;
  const NameCode& name_;
  tree::Dictionary& dictionary_;
  std::map<std::uint64_t, tree::FrameId> known_;
};

// Sums all values that `visit_all` visits.
template <typename VisitAll>
Result<tree::RunValues> Together(std::size_t metrics, const VisitAll& visit_all) {
  tree::RunValues values(metrics);
  const OnValues add = [&](std::uint16_t, tree::PathId path,
                           std::span<const std::uint64_t> each) -> Status {
    for (std::size_t i = 0; i < each.size(); ++i) FIELDCOST_TRY(values.Add(i, path, each[i]));
    return {};
  };
  FIELDCOST_TRY(visit_all(add));
  return values;
}

}  // namespace

tree::Frame UnnamedCode(const ArenaModule* module, std::uint64_t address) {
  if (module == nullptr) return tree::MakeFrame({.offset = address});
  return tree::MakeFrame({.module = module->soname.empty() ? module->path : module->soname,
                          .build_id = module->build_id,
                          .offset = module->FileOffsetOf(address)});
}

std::vector<tree::Metric> EventMetrics() {
  std::vector<tree::Metric> metrics = {{.name = "calls", .unit = tree::Unit::kCount},
                                       {.name = "wall", .unit = tree::Unit::kNanoseconds}};
  for (const Described& described : kDescribed) {
    metrics.push_back({.name = described.name, .unit = described.unit});
  }
  return metrics;
}

bool IsMeasured(const Arena& arena, std::size_t column) {
  return column < kFirstOther || (arena.metrics >> (column - kFirstOther) & 1U) != 0;
}

Status ForEachEvent(const Arena& arena, const NameCode& name, tree::Dictionary& dictionary,
                    const OnValues& visit) {
  Frames frames(arena, name, dictionary.frames);
  const std::vector<std::uint64_t> ns =
      arena.still_runs ? LeastNanoseconds(arena) : SelfNanoseconds(arena);
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
    std::array<std::uint64_t, kEventMetrics> values{};
    values[kCalls] = node.calls;
    values[kWall] = ns[i];
    std::ranges::copy(node.values, values.begin() + kFirstOther);
    FIELDCOST_TRY(visit(node.slot, path, values));
  }
  return {};
}

Result<tree::RunValues> EventValues(const Arena& arena, const NameCode& name,
                                    tree::Dictionary& dictionary) {
  return Together(kEventMetrics, [&](const OnValues& visit) {
    return ForEachEvent(arena, name, dictionary, visit);
  });
}

std::vector<tree::Metric> BranchMetrics() {
  return {{.name = "branches", .unit = tree::Unit::kCount},
          {.name = "branch-wall", .unit = tree::Unit::kNanoseconds},
          {.name = "branch-allocated", .unit = tree::Unit::kBytes},
          {.name = "branch-page-faults", .unit = tree::Unit::kCount}};
}

Status ForEachBranch(const Arena& arena, const NameCode& name_block, tree::Dictionary& dictionary,
                     const OnValues& visit) {
  Blocks blocks(arena, name_block, dictionary);
  for (const ArenaEdge& edge : arena.edges) {
    FIELDCOST_ASSIGN(const tree::PathId path, blocks.PathOf(edge));
    const std::array values = {edge.count, arena.Nanoseconds(edge.ticks), edge.bytes, edge.faults};
    FIELDCOST_TRY(visit(edge.slot, path, values));
  }
  return {};
}

Result<tree::RunValues> BranchValues(const Arena& arena, const NameCode& name_block,
                                     tree::Dictionary& dictionary) {
  return Together(BranchMetrics().size(), [&](const OnValues& visit) {
    return ForEachBranch(arena, name_block, dictionary, visit);
  });
}

}  // namespace fieldcost::events
