#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "common/probe/event_store.h"

namespace fieldcost::probe_server {

// Addresses of the pages. Pure.

// A part of an address, as text that every server reads as the same.
std::string EncodeLinkPart(std::string_view untrusted_text);

// "/events?label=a%20b"; values that are empty are left out.
std::string LinkTo(std::string_view path,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> values);
std::string EventLink(const probe::EventKey& event);
// The step that ends with that hit of the event.
std::string StepLink(const probe::EventKey& event, std::size_t hit);

}  // namespace fieldcost::probe_server
