#pragma once

#include "common/draw/page_asset.h"

namespace fieldcost::report {

// Scripts and styles of pages, embedded from files at build time.

extern const draw::PageAsset kUplotScript;  // vendored/uplot
extern const draw::PageAsset kUplotStyle;
extern const draw::PageAsset kIdlePageScript;  // page_parts/*.js
extern const draw::PageAsset kIdlePageStyle;   // page_parts/idle_page.css
extern const draw::PageAsset
    kPageStyle;  // of all pages: common/draw/page_style.css, page_parts/page.css
extern const draw::PageAsset kSiteSearchScript;  // page_parts/site_search.js
extern const draw::PageAsset kTreePageScript;    // page_parts/*.js
extern const draw::PageAsset kTreePageStyle;     // page_parts/tree_page.css

}  // namespace fieldcost::report
