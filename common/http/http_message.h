#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fieldcost::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

// Whether two header names are equal, ignoring ASCII case.
bool EqualNames(std::string_view left, std::string_view right);

// The value of the first header with that name (case-insensitive); "" if none.
std::string_view Find(const Headers& headers, std::string_view name);

struct Request {
  std::string method = "GET";
  std::string target = "/";  // origin-form: path and optional query
  Headers headers;           // except Host, Content-Length, Connection, User-Agent
  std::string body;
  std::string peer_address;  // server side only: textual address without port
  // Server side only: when the first byte was read.
  std::chrono::steady_clock::time_point first_byte_at{};
};

struct Response {
  int status = 200;
  Headers headers;
  std::string body;
  // Server side only: the length that a response to HEAD without a body states; if absent, that of
  // `body`, which is never sent for HEAD.
  std::optional<std::size_t> head_length;
};

// Retry-After (RFC 9110 §10.2.3) in its seconds form, at most a day; nullopt for anything else.
std::optional<std::chrono::seconds> ParseRetryAfter(std::string_view untrusted_value);

// The part of a content that a 206 response has (RFC 9110 §14.4).
struct ContentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;             // inclusive
  std::optional<std::uint64_t> size;  // of the whole content, if known
};
// Parses "bytes 0-99/1000" and "bytes 0-99/*"; nullopt for anything else, also for a last byte
// before the first or beyond the size.
std::optional<ContentRange> ParseContentRange(std::string_view untrusted_value);

// "status 503: <the server's message>", one line of limited length; for a redirect, states that it
// is not followed.
std::string DescribeAnswer(const Response& untrusted_response);

// A JSON error body {"error": code name, "message": ...} with its content type.
Response JsonError(int status, std::string_view code, std::string_view message);
// The 404 error.
Response NotFound();
// The 405 error for a target that accepts only the `allowed` methods: "GET, HEAD".
Response WrongMethod(std::string_view allowed);

}  // namespace fieldcost::http
