#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::exchange {

// Receives the events of a JSON text. An error stops the parser.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual Status BeginObject() = 0;
  virtual Status EndObject() = 0;
  virtual Status BeginArray() = 0;
  virtual Status EndArray() = 0;
  virtual Status Key(std::string_view untrusted_name) = 0;
  virtual Status String(std::string_view untrusted_text) = 0;
  virtual Status Number(std::string_view untrusted_digits) = 0;  // as written
  virtual Status Other() = 0;                                    // true, false, null
};

// Parses RFC 8259 JSON; passes on invalid UTF-8 unchanged. Retains nothing, so memory does not grow
// with the text. kCorrupt with the offset if the text is not JSON, kTooLarge beyond
// exchange_limits.h; errors of `events` with the offset.
Status ReadJson(std::string_view untrusted_json, JsonEvents& events);

// The same for a text that may be truncated, as after a crash, and may have a comma after the last
// element of an array or object. Returns false if it is truncated.
Result<bool> ReadJsonBeginning(std::string_view untrusted_json, JsonEvents& events);

}  // namespace fieldcost::exchange
