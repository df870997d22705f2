#include "common/probe/types.h"

#include <fmt/core.h>

#include <charconv>

namespace fieldcost::probe {

std::string EventId::Hex() const { return fmt::format("{:016x}{:016x}", run, number); }

std::optional<EventId> EventId::Parse(std::string_view untrusted_text) {
  if (untrusted_text.size() != 32) return std::nullopt;
  EventId id;
  const char* const begin = untrusted_text.data();
  for (auto [from, value] : {std::pair(begin, &id.run), std::pair(begin + 16, &id.number)}) {
    const auto [end, error] = std::from_chars(from, from + 16, *value, 16);
    if (error != std::errc() || end != from + 16) return std::nullopt;
  }
  return id;
}

}  // namespace fieldcost::probe
