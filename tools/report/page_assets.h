#pragma once

#include "tools/report/page.h"

namespace fieldcost::report {

// Scripts and styles of pages, embedded from files at build time (embed_assets.cmake).

extern const PageAsset kUplotScript;  // vendored/uplot
extern const PageAsset kUplotStyle;
extern const PageAsset kIdlePageScript;  // page_parts/*.js
extern const PageAsset kIdlePageStyle;   // page_parts/idle_page.css
extern const PageAsset kPageStyle;       // page_parts/page.css, of all pages
extern const PageAsset kTreePageScript;  // page_parts/*.js
extern const PageAsset kTreePageStyle;   // page_parts/tree_page.css

}  // namespace fieldcost::report
