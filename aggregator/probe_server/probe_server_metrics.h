#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace fieldcost::probe_server {

// Writes Prometheus's text format 0.0.4, without labels. Names and help texts are literals.
class MetricsText {
 public:
  void Counter(std::string_view name, std::string_view help, std::uint64_t value) {
    Add(name, "counter", help, value);
  }
  void Gauge(std::string_view name, std::string_view help, std::uint64_t value) {
    Add(name, "gauge", help, value);
  }
  void Seconds(std::string_view name, std::string_view type, std::string_view help, double value) {
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3:.3f}\n", name, help, type, value);
  }
  std::string Take() { return std::move(text_); }

 private:
  void Add(std::string_view name, std::string_view type, std::string_view help,
           std::uint64_t value) {
    text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
  }
  std::string text_;
};

}  // namespace fieldcost::probe_server
