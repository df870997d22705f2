#pragma once

#include <string>
#include <string_view>

namespace fieldcost {

// The kind of a failure. Numbers are stable: they appear in JSON output and logs.
enum class ErrorCode {
  kInvalidArgument = 1,   // the caller's or user's input is wrong; retrying will not help
  kNotFound = 2,          // the thing asked for does not exist
  kAlreadyExists = 3,     // it exists and must not
  kPermissionDenied = 4,  // the caller is authenticated but not authorized
  kUnauthenticated = 5,   // a signature, certificate or token does not verify
  kCorrupt = 6,           // bytes that should be valid are not (format, checksum, polytope)
  kTooLarge = 7,          // a named limit is exceeded
  kUnavailable = 8,       // the other side is down, busy or draining; retrying later may help
  kDeadlineExceeded = 9,  // it did not finish in time
  kIo = 10,               // disk or socket failure; durability is unknown
  kUnsupported = 11,      // a newer format, another architecture, a missing kernel feature
  kInternal = 12,         // a bug or an unexpected result from a library
};

// An expected failure as a value. `message` states what was attempted, on what, and why it failed,
// on one line without a trailing newline.
struct Error {
  ErrorCode code;
  std::string message;
};

// The code's stable name, e.g. "not_found".
std::string_view Name(ErrorCode code);

// The exit status of a command that fails with this error, from sysexits(3) where one fits. Never
// 0 or 1 (1 is reserved for "the command worked, and its answer is no").
int ExitStatus(ErrorCode code);

// The HTTP status with which a server reports this error (RFC 9110 §15).
int HttpStatus(ErrorCode code);

}  // namespace fieldcost
