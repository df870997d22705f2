#pragma once

#include <string_view>

#include "common/draw/page_asset.h"

namespace fieldcost::probe_server {

// The style sheet of all pages, for screens of 320 pixels and wider: common/draw/page_style.css and
// style_sheet.css, embedded at build time.
extern const draw::PageAsset kStyleSheet;
// The favicon, as SVG.
extern const std::string_view kIcon;

}  // namespace fieldcost::probe_server
