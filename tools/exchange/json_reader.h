#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::exchange {

// Receives a JSON text piece by piece. An error ends the reading.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual Status BeginObject() = 0;
  virtual Status EndObject() = 0;
  virtual Status BeginArray() = 0;
  virtual Status EndArray() = 0;
  virtual Status Key(std::string_view untrusted_name) = 0;
  virtual Status String(std::string_view untrusted_text) = 0;
  virtual Status Number(std::string_view untrusted_digits) = 0;  // as it is written
  virtual Status Other() = 0;                                    // true, false, null
};

// RFC 8259; bytes that are not UTF-8 are left as they are. Nothing is kept of what was received:
// memory does not grow with the text. kCorrupt with the offset if it is no JSON, kTooLarge beyond
// limits.h; errors of `events` with the offset.
Status ReadJson(std::string_view untrusted_json, JsonEvents& events);

// The same for a text that may end early, as that of a program that crashed, and may have a comma
// after the last value of an array or object. False if it ends early.
Result<bool> ReadJsonBeginning(std::string_view untrusted_json, JsonEvents& events);

}  // namespace fieldcost::exchange
