#pragma once

#include <string_view>

namespace fieldcost::probe_server {

// The style sheet of all pages: light and dark, for print and for screens of 320 pixels and wider.
extern const std::string_view kStyleSheet;
// The favicon, as SVG.
extern const std::string_view kIcon;

}  // namespace fieldcost::probe_server
