#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "agent/runs/policy_writer.h"
#include "agent/settings/paths.h"

namespace fieldcost::policy {

// Finds the functions that manual pages and C headers on this machine document. Programs prefer
// them in random picks (agent/preload/candidates.h). The names stay on this machine.

using NameSet = std::unordered_set<std::string>;

// Limits of the search. Names beyond a limit are left out and count as undocumented.
struct DocumentationLimits {
  std::size_t files = 10'000;              // headers
  std::size_t file_bytes = 2'000'000;      // per header; larger ones are not read
  std::size_t bytes = 64'000'000;          // of all headers
  std::size_t depth = 4;                   // directories below a header directory
  std::size_t entries = 200'000;           // directory entries
  std::chrono::milliseconds time{10'000};  // after this time, no further file is read
};

// Adds the names that the text of a C header may declare: each word before "(", before ", (" or ")
// (" (where the name is a macro's argument), or before a macro and "((". Macros and words in
// comments may be among them. Names with a leading underscore are left out: C reserves them, so a
// header that mentions one uses it rather than documents it.
void AddHeaderNames(std::string_view untrusted_text, NameSet& names);

// Returns the numbers (shm::DocumentedNumber()), ascending, of the names of manual pages ("read"
// for read.2.gz) and of those in regular files NAME.h of the header directories, searched from the
// top down. Symbolic links to headers and directories are not followed; unreadable files are left
// out.
std::vector<std::uint64_t> FindDocumentedNames(const settings::AgentPaths& paths,
                                               const DocumentationLimits& limits = {});

// Encodes the names with these numbers for the policy file, with at least 16 bits per name, unless
// shm::kMaxDocumentedBytes is too small for that. No bits if there are no names.
std::string DocumentedBits(const std::vector<std::uint64_t>& numbers);

// Returns the documented names for the next policy file; nullopt if those of the present one are up
// to date, that is, the directories, and those directly in the header directories, have not
// changed. May take seconds.
std::optional<runs::DocumentedNames> ChooseDocumentedNames(const settings::AgentPaths& paths);

}  // namespace fieldcost::policy
