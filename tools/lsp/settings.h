#pragma once

#include <cstdint>
#include <string>

namespace fieldcost::lsp {

// The user's settings in the editor: the members of the section "fieldcost" (see SETTINGS.md).
// Thresholds apply to the typical call in the field.
struct Settings {
  bool hover = true;  // hover.enabled

  bool signatures = true;  // signatureHelp.enabled

  bool completion = true;                   // completion.enabled
  bool completion_beside_others = false;    // completion.besideOtherServers
  std::uint64_t completion_max_items = 50;  // completion.maxItems
  std::uint64_t completion_min_prefix = 3;  // completion.minPrefix

  bool hints = true;                      // inlayHints.enabled
  bool hint_current_line = true;          // inlayHints.currentLine.enabled
  bool hint_calls = true;                 // inlayHints.calls.enabled
  std::uint64_t calls_min_us = 100;       // inlayHints.calls.minMicroseconds (p50)
  bool hint_tail = true;                  // inlayHints.slowTail.enabled
  std::uint64_t tail_min_us = 1000;       // inlayHints.slowTail.minMicroseconds (p99)
  std::uint64_t tail_min_ratio = 10;      // inlayHints.slowTail.minRatio (p99 / p50)
  bool hint_allocation = true;            // inlayHints.allocation.enabled
  std::uint64_t allocation_min_kib = 64;  // inlayHints.allocation.minKib (mean)
  bool hint_io = true;                    // inlayHints.io.enabled
  std::uint64_t io_min_kib = 4;           // inlayHints.io.minKib (mean, all four metrics)

  bool diagnostics = false;  // diagnostics.enabled

  // drillDown.url: "https://costs.example/api/{api}". Empty = a page on this machine
  // (report::LocalPageFile). With a template that report::FillUntrustedLink() refuses there are no
  // pages.
  std::string drill_down_url;

  bool operator==(const Settings&) const = default;
};

}  // namespace fieldcost::lsp
