#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace google::protobuf {
class MessageLite;
}

namespace fieldcost::wire {

// Parses all of `untrusted_bytes` with bounded nesting, reusing the message's memory. kCorrupt if
// it is not such a message.
Status ParseMessage(std::string_view untrusted_bytes, google::protobuf::MessageLite& message);

// The message's bytes. Deterministic: equal contents give equal bytes.
std::string SerializeMessage(const google::protobuf::MessageLite& message);

}  // namespace fieldcost::wire
