#include "tools/cli/idle/idle_json.h"

#include <boost/json.hpp>
#include <span>

#include "common/idle/pair_path.h"
#include "common/shm/log2_bucket.h"
#include "tools/cli/json_parts.h"
#include "tools/cli/tree/tree_json_parts.h"

namespace fieldcost::cli {
namespace {

namespace json = boost::json;

json::object CpuJson(const analysis::CpuIdle& cpu) {
  json::object by_why;
  for (std::size_t why = 0; why < cpu.by_why.size(); ++why) {
    if (cpu.by_why.at(why) != 0) by_why[analysis::WhyText(why)] = Number(cpu.by_why.at(why));
  }
  json::value stat_idle = nullptr;
  if (cpu.stat_idle_ns) stat_idle = Number(*cpu.stat_idle_ns);
  return {{"idle", Number(cpu.idle_ns)},
          {"explained", Number(cpu.explained_ns)},
          {"stat_idle", std::move(stat_idle)},
          {"by_why", std::move(by_why)}};
}

json::object PairJson(const analysis::IdleView& view, const analysis::IdlePair& pair) {
  const tree::Dictionary& dictionary = *view.dictionary;
  const idle::PairPath parts = idle::SplitPair(dictionary, pair.path);
  json::object object{
      {"ns", Number(pair.ns)}, {"ticks", Number(pair.ticks)}, {"periods", Number(pair.periods)}};
  json::array chain;
  const auto add = [&](std::string_view key, const std::vector<tree::FrameId>& part) {
    json::array names;
    for (const tree::FrameId id : part) {
      names.push_back(Text(analysis::NameOf(dictionary.frames.frame(id))));
    }
    object[key] = std::move(names);
    chain.push_back(Text(analysis::DoingText(dictionary, analysis::DoingOf(dictionary, part))));
  };
  add("to", parts.to);
  add("from", parts.from);
  add("waker", parts.waker);
  object["chain"] = std::move(chain);
  json::array lengths;
  for (const analysis::LengthCount& length : pair.lengths) {
    lengths.push_back(json::object{{"min", Number(shm::SlotMin(length.slot))},
                                   {"max", Number(shm::SlotMax(length.slot))},
                                   {"count", Number(length.count)}});
  }
  object["lengths"] = std::move(lengths);
  return object;
}

json::value TreeOrNull(const analysis::TreeView* view) {
  if (view == nullptr) return nullptr;
  return TreeViewJson(*view);
}

}  // namespace

std::string IdleJson(const analysis::IdleView& view, const analysis::TreeView* to,
                     const analysis::TreeView* from, const std::vector<std::string>& remarks) {
  json::array cpus;
  for (const analysis::CpuIdle& cpu : view.cpus) {
    json::object object{{"cpu", cpu.cpu}};
    for (auto& [key, value] : CpuJson(cpu)) object[key] = value;
    cpus.push_back(std::move(object));
  }
  json::array pairs;
  for (const analysis::IdlePair& pair : view.pairs) pairs.push_back(PairJson(view, pair));
  return Print({{"mode", Text(idle::Name(view.about.mode))},
                {"tick_ns", Number(view.about.tick_ns)},
                {"why", Text(view.about.why)},
                {"all", CpuJson(view.all)},
                {"cpus", std::move(cpus)},
                {"no_cpu", Number(view.no_cpu_ns)},
                {"to", TreeOrNull(to)},
                {"from", TreeOrNull(from)},
                {"pairs", std::move(pairs)},
                {"remarks", RemarksJson(remarks)}});
}

}  // namespace fieldcost::cli
