#pragma once

#include <string_view>

namespace fieldcost::probe_server {

// The one style sheet of all pages, light and dark, for screens from 320 pixels on and for paper.
extern const std::string_view kStyleSheet;
// What browsers show beside a page's name: SVG.
extern const std::string_view kIcon;

}  // namespace fieldcost::probe_server
