#include "tests/tools/exchange/sample_tree.h"

#include <fmt/format.h>

#include "common/base/check.h"
#include "tools/exchange/export_view.h"
#include "tools/exchange/frame_text.h"

namespace fieldcost::exchange {

tree::Tree TreeOfStacks(std::vector<tree::Metric> metrics, const std::vector<SampleStack>& stacks) {
  auto dictionary = std::make_shared<tree::Dictionary>();
  std::vector<tree::RunValues> run;
  run.emplace_back(metrics.size());
  for (const SampleStack& stack : stacks) {
    tree::PathId path = tree::kRootPath;
    for (const tree::Frame& frame : stack.frames) {
      path = dictionary->paths.Intern(path, dictionary->frames.Intern(frame).value()).value();
    }
    for (std::size_t i = 0; i < stack.values.size(); ++i) {
      FIELDCOST_CHECK(run[0].Add(i, path, stack.values[i]));
    }
  }
  return tree::TreeOf(dictionary, std::move(metrics), run).value();
}

tree::Frame Function(std::string_view text) {
  const std::size_t mark = text.find('!');
  if (mark == std::string_view::npos) return {.function = std::string(text)};
  return {.module = std::string(text.substr(0, mark)),
          .function = std::string(text.substr(mark + 1))};
}

tree::Tree SampleTree() {
  using tree::FrameKind;
  const tree::Frame main = Function("app!main");
  const tree::Frame run = Function("app!Runner::operator()(int, char const*) const");
  const tree::Frame deflate = Function("libz.so!deflate");
  const tree::Frame local = {.module = "libz.so", .function = "fill_window", .file = "deflate.c"};
  const tree::Frame unnamed = {.kind = FrameKind::kUnnamed,
                               .module = "libx.so",
                               .build_id = std::string("\xde\xad\x00\xef", 4),
                               .offset = 0x1234};
  const tree::Frame jit = {.kind = FrameKind::kUnnamed, .offset = 0x7f0000001000};
  const tree::Frame odd = {.function = "operator!"};  // not in a module named "operator"
  const tree::Frame kernel = tree::SpecialFrame(tree::kKernel);
  constexpr std::uint64_t kMuch = (std::uint64_t{1} << 62) + 1;  // not representable as a double
  return TreeOfStacks({{.name = "wall", .unit = tree::Unit::kNanoseconds},
                       {.name = "calls", .unit = tree::Unit::kCount},
                       {.name = "allocated", .unit = tree::Unit::kBytes},
                       {.name = "cpu", .unit = tree::Unit::kNanoseconds, .per_sample = 1'003'009}},
                      {{{main}, {1, 1, 0, 0}},
                       {{main, run}, {20, 1, 4096, 0}},
                       {{main, run, deflate}, {300, 7, 0, 1'003'009}},
                       {{main, run, deflate, local}, {0, 0, 0, 3'009'027}},
                       {{main, run, run}, {5, 1, 16, 0}},
                       {{main, run, deflate, kernel}, {0, 0, 0, 77}},
                       {{unnamed}, {kMuch, 0, 0, 0}},
                       {{jit, odd}, {9, 2, 0, 0}}});
}

std::vector<std::string> LinesOf(const tree::Tree& tree) {
  const ExportView view(tree);
  std::vector<std::string> lines;
  std::vector<std::string> names(view.nodes().size());
  for (std::size_t node = 0; node < view.nodes().size(); ++node) {
    const ExportView::Node& place = view.nodes()[node];
    if (node != 0) {
      const std::string& parent = names[place.parent];
      names[node] = (parent.empty() ? "" : parent + ";") + FrameText(*view.frames()[place.frame]);
    }
    std::string values;
    for (std::size_t i = 0; i < tree.metrics.size(); ++i) {
      const auto sum = static_cast<std::uint64_t>(tree.values[i].self[place.path.value()].sum);
      if (sum != 0) values += fmt::format(" {}={}", tree.metrics[i].name, sum);
    }
    if (!values.empty()) lines.push_back(names[node] + values);
  }
  return lines;
}

}  // namespace fieldcost::exchange
