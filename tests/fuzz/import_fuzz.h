#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/recording/by_thread.h"
#include "common/recording/recording.h"
#include "common/recording/verify_recording.h"
#include "common/tree/codec.h"
#include "tools/exchange/exchange.h"

// Imported data with times is a recording with the same sums.
inline void CheckRecording(std::string_view bytes, const fieldcost::tree::Tree& tree) {
  using namespace fieldcost;
  FIELDCOST_CHECK(recording::Verify(bytes).value().is_good());
  const auto recording = recording::Recording::Over(bytes);
  FIELDCOST_CHECK(recording.has_value());
  const auto values = recording->Values({});
  FIELDCOST_CHECK(values.has_value());
  const auto same = tree::TreeOf(recording->contents().dictionary,
                                 recording->contents().descriptions.metrics, {&*values, 1});
  FIELDCOST_CHECK(same.has_value() && tree::EncodeTree(*same) == tree::EncodeTree(tree));
}

// Data divided by threads can be exported with them and imported again.
inline void CheckThreads(const std::string& bytes) {
  using namespace fieldcost;
  constexpr recording::DivideBy kBy = recording::DivideBy::kThread;
  const auto recording = recording::Recording::Over(bytes);
  FIELDCOST_CHECK(recording.has_value());
  const auto divided = recording::DividedByThread(*recording, kBy, false);
  if (!divided) return;
  const auto values = divided->Values({});
  FIELDCOST_CHECK(values.has_value());
  const auto tree = tree::TreeOf(divided->contents().dictionary,
                                 divided->contents().descriptions.metrics, {&*values, 1});
  FIELDCOST_CHECK(tree.has_value());
  for (const exchange::Format format :
       {exchange::Format::kPprof, exchange::Format::kSpeedscope, exchange::Format::kChrome}) {
    const auto exported = exchange::Export(
        *tree, format, {.threads = recording::ThreadFramesOf(*recording, kBy, false)});
    if (!exported) continue;
    const auto again = exchange::Import(exported->bytes, {.format = format});
    FIELDCOST_CHECK(again.has_value());
  }
}

// Files of other programs in one format: everything that is imported can be exported and imported
// again.
inline int FuzzImport(fieldcost::exchange::Format format, const std::uint8_t* data,
                      std::size_t size) {
  using namespace fieldcost;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto imported = exchange::Import(bytes, {.format = format});
  if (!imported) return 0;
  const std::string encoded = tree::EncodeTree(imported->tree);
  FIELDCOST_CHECK(tree::DecodeTree(encoded).has_value());
  if (imported->recording) {
    CheckRecording(*imported->recording, imported->tree);
    CheckThreads(*imported->recording);
  }
  for (const exchange::FormatInfo& info : exchange::Formats()) {
    const auto exported = exchange::Export(imported->tree, info.format);
    if (!exported || !info.can_import) continue;
    const auto again = exchange::Import(exported->bytes, {.format = info.format});
    // In JSON a byte that is not UTF-8 becomes three, so a name near the limit may then exceed it.
    FIELDCOST_CHECK(again.has_value() || again.error().code == ErrorCode::kTooLarge);
    if (!again) continue;
    if (info.format == exchange::Format::kPprof) {
      FIELDCOST_CHECK(tree::EncodeTree(again->tree) == encoded);
    }
  }
  return 0;
}
