#pragma once

#include <chrono>
#include <cstddef>

#include "common/base/units.h"

namespace fieldcost::lsp {

// All limits of the server. Input beyond a limit is refused or not annotated, never partly
// processed.

inline constexpr std::size_t kMaxHeaderBytes = 4 * kKiB;    // of one message
inline constexpr std::size_t kMaxMessageBytes = 16 * kMiB;  // its content
inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kReadBytes = 64 * kKiB;  // per read

inline constexpr std::size_t kMaxQueuedMessages = 4096;
inline constexpr std::size_t kMaxQueuedRequests = 256;  // further ones get the response "busy"
inline constexpr std::size_t kMaxQueuedBytes = 64 * kMiB;
inline constexpr std::size_t kMaxDeferred = 64;  // requests waiting for the C++ names

inline constexpr std::size_t kMaxDocumentBytes = 4 * kMiB;  // longer ones are not annotated
inline constexpr std::size_t kMaxDocuments = 1024;
inline constexpr std::size_t kMaxAllDocumentsBytes = 256 * kMiB;
inline constexpr std::size_t kMaxChanges = 4096;  // in one notification
inline constexpr std::size_t kMaxUriBytes = 8 * kKiB;
inline constexpr std::size_t kMaxNameBytes = 1024;       // an identifier with its scopes
inline constexpr std::size_t kMaxTokens = 2'000'000;     // per document; later ones are ignored
inline constexpr std::size_t kMaxLineBytes = 64 * kKiB;  // names beyond that are ignored
inline constexpr std::size_t kMaxNesting = 1000;         // of braces
inline constexpr std::size_t kMaxLocals = 100'000;       // names declared by a document

inline constexpr std::size_t kMaxCachedNames = 20'000;
inline constexpr std::size_t kMaxIndexedNames = 2'000'000;  // C++ names of the catalogue
inline constexpr std::size_t kMaxFewNames = 1000;           // examined before that index is ready
inline constexpr std::size_t kMaxOverloads = 32;            // shown together
inline constexpr std::size_t kMaxMembers = 8;               // candidates for "x.name()"
inline constexpr std::size_t kMaxMacroNames = 256;          // examined to find a macro's function
inline constexpr std::size_t kMaxLibraries = 4;             // with the same symbol, in one hover
inline constexpr std::size_t kMaxCompletionItems = 200;
inline constexpr std::size_t kMinCompletionPrefix = 3;
inline constexpr std::size_t kMaxUsedNamespaces = 16;  // their names are offered unqualified
inline constexpr std::size_t kMaxHints = 500;
inline constexpr std::size_t kMaxDiagnostics = 500;
inline constexpr std::size_t kMaxWishedPages = 16;  // waiting to be written; older ones are dropped
inline constexpr std::size_t kMaxActions = 8;
inline constexpr std::size_t kMaxCheckBytes = 32 * kMiB;  // STATE/check.json

static_assert(kMaxDocumentBytes < kMaxMessageBytes);
static_assert(kMaxMessageBytes < kMaxQueuedBytes);
static_assert(kMaxDocumentBytes < kMaxAllDocumentsBytes);
static_assert(kMaxQueuedRequests < kMaxQueuedMessages);

}  // namespace fieldcost::lsp
