#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "common/probe/event_store.h"

namespace fieldcost::probe_server {

// URLs of the pages. Pure.

// Percent-encodes a part of a URL so that every server decodes it in the same way.
std::string EncodeLinkPart(std::string_view untrusted_text);

// "/events?label=a%20b"; omits empty values.
std::string LinkTo(std::string_view path,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> values);
std::string EventLink(const probe::EventKey& event);
// The step that ends with this hit of the event.
std::string StepLink(const probe::EventKey& event, std::size_t hit);

}  // namespace fieldcost::probe_server
