#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/tree/compare_trees.h"
#include "common/tree/mean_tree.h"
#include "tools/report/tree/tree_diff_text.h"

namespace fieldcost::report {

// The cost of a recording's runs over time, all runs combined, each aligned at its start.
struct Timeline {
  // Path in the tree's dictionary, sum of the self values of all runs; ascending, each path once.
  using Bin = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
  // The bins' edges, ascending; one more than there are bins. Bins after the end of a shorter run
  // are empty.
  std::vector<std::uint64_t> edges_ns;
  using Bins = std::vector<std::vector<Bin>>;  // [metric of the tree][bin]
  Bins bins;
  // The same per thread; the threads' bins add up to `bins`. Empty unless there are several
  // threads.
  struct Thread {
    std::string untrusted_label;  // "[thread gzip/worker 1236]"
    Bins bins;
  };
  std::vector<Thread> threads = {};
};

struct TreePage {
  const tree::MeanTree& tree;
  std::size_t metric = 0;  // shown first
  std::string
      untrusted_operand;       // as it was named: "a.fct", "a.fct@1s..2s", "old a.fct, new b.fct"
  std::string untrusted_file;  // with a timeline: the page appends "@FROM..TO"
  std::vector<std::string> untrusted_remarks;
  // nullopt: times are unknown. REQUIRES: the tree is the mean of what the bins contain.
  std::optional<Timeline> timeline = std::nullopt;
  // For a difference: the certainty of changes, per metric; if empty, no change is marked as
  // uncertain.
  std::vector<tree::Comparison> comparisons = {};
  RunOrder order = RunOrder::kSeparate;  // of the runs of a difference
};

// A page for exploring call trees: a flame graph (zoom, search), a timeline with a selectable
// interval, and a table of the heaviest paths; a difference is drawn as by TreeSvgInPage(). The
// page is self-contained and permits its scripts by hash; without scripts it shows TreeSvgInPage().
// All numbers are exact sums. Deterministic; everything is escaped. REQUIRES: `metric` is one of
// the tree's.
std::string TreePageHtml(const TreePage& page);

}  // namespace fieldcost::report
