#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/text.h"
#include "common/tree/tree.h"

namespace fieldcost::testing {

// Trees in text form: {{"main;run;z!deflate", 12}} is a run in which that path cost 12.

using WrittenRun = std::vector<std::pair<std::string, std::uint64_t>>;

inline tree::Frame WrittenFrame(std::string_view text) {
  if (text.starts_with('[')) return tree::SpecialFrame(std::string(text));
  const std::size_t mark = text.find('!');
  if (mark == std::string_view::npos) return {.function = std::string(text)};
  // Code without a name: "app!+0x12".
  if (const std::string offset(text.substr(mark + 1)); offset.starts_with("+0x")) {
    return {.kind = tree::FrameKind::kUnnamed,
            .module = std::string(text.substr(0, mark)),
            .offset = std::stoull(offset.substr(1), nullptr, 16)};
  }
  return {.module = std::string(text.substr(0, mark)),
          .function = std::string(text.substr(mark + 1))};
}

inline tree::Tree WrittenTree(const std::vector<WrittenRun>& runs,
                              const tree::Metric& metric = {.name = "wall"}) {
  auto dictionary = std::make_shared<tree::Dictionary>();
  std::vector<tree::RunValues> values;
  for (const WrittenRun& run : runs) {
    values.emplace_back(1);
    for (const auto& [path, cost] : run) {
      tree::PathId at = tree::kRootPath;
      std::string_view left = path;
      while (!left.empty()) {
        const std::size_t end = std::min(left.find(';'), left.size());
        const auto frame = dictionary->frames.Intern(WrittenFrame(left.substr(0, end)));
        at = dictionary->paths.Intern(at, frame.value()).value();
        left.remove_prefix(std::min(end + 1, left.size()));
      }
      FIELDCOST_CHECK(values.back().Add(0, at, cost).has_value());
    }
  }
  return tree::TreeOf(std::move(dictionary), {metric}, values).value();
}

}  // namespace fieldcost::testing
