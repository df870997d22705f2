#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <cstring>
#include <string>

namespace fieldcost::testing {

template <typename Number>
std::string Raw(Number number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof number);
}

inline std::string MadeRecord(std::uint32_t type, std::uint16_t misc, std::string content) {
  content.resize((content.size() + 7) / 8 * 8, '\0');
  const perf_event_header header{
      .type = type,
      .misc = misc,
      .size = static_cast<std::uint16_t>(sizeof(perf_event_header) + content.size())};
  return Raw(header) + content;
}

// The event that all records belong to.
inline constexpr std::uint64_t kMadeId = 1000;

inline std::string Padded(std::string content) {
  content.resize((content.size() + 7) / 8 * 8, '\0');
  return content;
}

// A record of any kind except samples, followed by the fields that the kernel appends.
inline std::string MadeRecordAt(std::uint64_t time, std::uint32_t type, std::uint16_t misc,
                                const std::string& content) {
  return MadeRecord(type, misc,
                    Padded(content) + Raw(std::uint32_t{5}) + Raw(std::uint32_t{6}) + Raw(time) +
                        Raw(std::uint64_t{0}) + Raw(kMadeId));
}

// Registers are 100, 101, … in the kernel's order.
inline std::string MadeSample(std::uint64_t time, const std::string& stack, std::uint64_t filled) {
  std::string content = Raw(kMadeId) + Raw(std::uint32_t{42}) + Raw(std::uint32_t{43}) + Raw(time) +
                        Raw(std::uint32_t{1}) + Raw(std::uint32_t{0}) +
                        Raw(std::uint64_t{PERF_SAMPLE_REGS_ABI_64});
  for (std::uint64_t i = 0; i < 17; ++i) content += Raw(100 + i);
  content += Raw(std::uint64_t{stack.size()}) + stack;
  if (!stack.empty()) content += Raw(filled);
  return MadeRecord(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, content);
}

}  // namespace fieldcost::testing
