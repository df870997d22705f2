#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "tools/exchange/pprof.h"

namespace fieldcost::exchange {

struct PprofUnit {
  std::string untrusted_type;
  std::string untrusted_unit;
};

// Receives one stack, outermost function first: "module!function" if the module's file is known
// (without directories), else "function"; an address if there is no name.
using StackVisitor =
    std::function<Status(std::span<const std::string_view> untrusted_frames, std::uint64_t value)>;

// Reads a profile by DecodePprof() stack by stack, with values of the default type.
inline Result<PprofUnit> ReadPprof(std::string_view untrusted_bytes, const StackVisitor& visit) {
  FIELDCOST_ASSIGN(const PprofContent content, DecodePprof(untrusted_bytes));
  std::vector<std::string> names;
  for (const PprofFunction& function : content.functions) {
    std::string module = function.module.substr(function.module.rfind('/') + 1);
    if (!module.empty()) module += '!';
    names.push_back(
        module + (function.name.empty() ? fmt::format("0x{:x}", function.address) : function.name));
  }
  std::vector<std::string_view> stack;
  for (const PprofSample& sample : content.samples) {
    stack.clear();
    for (const std::uint32_t frame : sample.frames) stack.push_back(names[frame]);
    FIELDCOST_TRY(visit(stack, sample.values[content.default_type]));
  }
  const PprofValueType& type = content.types[content.default_type];
  return PprofUnit{type.type, type.unit};
}

}  // namespace fieldcost::exchange
