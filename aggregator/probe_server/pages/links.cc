#include "aggregator/probe_server/pages/links.h"

#include <fmt/format.h>

#include "common/base/percent_encode.h"

namespace fieldcost::probe_server {

std::string EncodeLinkPart(std::string_view untrusted_text) {
  return PercentEncode(untrusted_text, kUnreserved);
}

std::string LinkTo(std::string_view path,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string link(path);
  char separator = '?';
  for (const auto& [name, value] : values) {
    if (value.empty()) continue;
    link += separator;
    link += name;
    link += '=';
    link += EncodeLinkPart(value);
    separator = '&';
  }
  return link;
}

std::string EventLink(const probe::EventKey& event) { return "/events/" + event.Text(); }

std::string StepLink(const probe::EventKey& event, std::size_t hit) {
  return fmt::format("/events/{}/steps/{}", event.Text(), hit);
}

}  // namespace fieldcost::probe_server
