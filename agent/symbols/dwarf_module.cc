#include "agent/symbols/dwarf_module.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "agent/symbols/go_table.h"
#include "common/base/build_id.h"
#include "common/base/file.h"
#include "common/base/read_at.h"
#include "common/tree/identity.h"

namespace fieldcost::symbols {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTextBytes = 4096;
constexpr std::size_t kMostDynamicEntries = 4096;

std::string Text(const char* text) {
  return text == nullptr ? std::string() : std::string(text, ::strnlen(text, kMostTextBytes));
}

UniqueFd OpenRegular(const fs::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return UniqueFd();
  return fd;
}

struct FreeScopes {
  void operator()(Dwarf_Die* scopes) const { std::free(scopes); }  // NOLINT: libdw's malloc
};

// Scopes that libdw returns, innermost first.
class Scopes {
 public:
  static Scopes At(Dwarf_Die* unit, Dwarf_Addr address) {
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes(unit, address, &scopes);
    return Scopes(scopes, count);
  }
  static Scopes Around(Dwarf_Die* die) {
    Dwarf_Die* scopes = nullptr;
    const int count = dwarf_getscopes_die(die, &scopes);
    return Scopes(scopes, count);
  }
  int count() const { return count_; }
  Dwarf_Die* operator[](int i) const { return &scopes_.get()[i]; }

 private:
  Scopes(Dwarf_Die* scopes, int count)
      : scopes_(count > 0 ? scopes : nullptr), count_(std::max(count, 0)) {
    if (count <= 0 && scopes != nullptr) std::free(scopes);  // NOLINT: libdw's malloc
  }
  std::unique_ptr<Dwarf_Die, FreeScopes> scopes_;
  int count_;
};

bool IsFunction(Dwarf_Die* die) {
  const int tag = dwarf_tag(die);
  return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point;
}

std::string NameOf(Dwarf_Die* die) {
  for (const unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute found;
    if (dwarf_attr_integrate(die, attribute, &found) == nullptr) continue;
    if (const char* const name = dwarf_formstring(&found)) return tree::FunctionName(Text(name));
  }
  Dwarf_Attribute found;
  if (dwarf_attr_integrate(die, DW_AT_name, &found) == nullptr) return {};
  return tree::FunctionName(Text(dwarf_formstring(&found)));
}

bool IsLocal(Dwarf_Die* die) {
  Dwarf_Attribute found;
  bool external = false;
  return dwarf_attr_integrate(die, DW_AT_external, &found) == nullptr ||
         dwarf_formflag(&found, &external) != 0 || !external;
}

// Sets the place in the caller where an inlined function was called.
void TakeCallPlace(Dwarf_Die* inlined, Dwarf_Die* unit, SourceFrame& caller) {
  Dwarf_Attribute found;
  Dwarf_Word value = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &found), &value) == 0) {
    caller.line = static_cast<std::uint32_t>(value);
  }
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &found), &value) == 0 &&
      dwarf_getsrcfiles(unit, &files, &count) == 0 && value < count) {
    caller.file = Text(dwarf_filesrc(files, static_cast<std::size_t>(value), nullptr, nullptr));
  }
}

std::string SonameOf(Elf* elf) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return {};
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_DYNAMIC)
      continue;
    Elf_Data* const data = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(header.p_offset),
                                                header.p_filesz, ELF_T_DYN);
    if (data == nullptr) return {};
    std::optional<GElf_Xword> name;
    std::optional<GElf_Addr> strings;
    GElf_Dyn entry;
    for (std::size_t at = 0; at < kMostDynamicEntries; ++at) {
      if (gelf_getdyn(data, static_cast<int>(at), &entry) == nullptr || entry.d_tag == DT_NULL)
        break;
      if (entry.d_tag == DT_SONAME) name = entry.d_un.d_val;
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    }
    if (!name || !strings) return {};
    for (std::size_t j = 0; j < count; ++j) {
      if (gelf_getphdr(elf, static_cast<int>(j), &header) == nullptr || header.p_type != PT_LOAD)
        continue;
      const std::uint64_t inside = *strings + *name - header.p_vaddr;
      if (inside >= header.p_filesz) continue;
      const std::uint64_t size = std::min<std::uint64_t>(header.p_filesz - inside, kMostTextBytes);
      const Elf_Data* const text = elf_getdata_rawchunk(
          elf, static_cast<std::int64_t>(header.p_offset + inside), size, ELF_T_BYTE);
      if (text == nullptr || text->d_buf == nullptr) return {};
      const auto* const bytes = static_cast<const char*>(text->d_buf);
      return std::string(bytes, ::strnlen(bytes, text->d_size));
    }
  }
  return {};
}

class LibdwModule : public DwarfModule {
 public:
  explicit LibdwModule(Options options) : options_(std::move(options)) {
    callbacks_.find_elf = nullptr;
    callbacks_.find_debuginfo = FindDebugFile;
    callbacks_.section_address = dwfl_offline_section_address;
  }
  ~LibdwModule() override {
    if (dwfl_ != nullptr) dwfl_end(dwfl_);
  }

  Status Begin();
  std::vector<SourceFrame> FramesAt(std::uint64_t address) override;
  const std::string& soname() const override { return soname_; }
  const std::string& build_id() const override { return build_id_; }

 private:
  // Like dwfl_standard_find_debuginfo, but without querying servers.
  static int FindDebugFile(Dwfl_Module* module, void** user_data, const char* name, Dwarf_Addr base,
                           const char* file_name, const char* link, GElf_Word checksum,
                           char** found_name);
  UniqueFd OpenDebugFile() const;

  bool AddInlined(Dwarf_Addr address, std::vector<SourceFrame>& frames);
  SourceFrame Outermost(Dwarf_Addr address);

  Options options_;
  std::string soname_;
  std::string build_id_;
  Dwfl_Callbacks callbacks_{};
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  GElf_Addr bias_ = 0;
  std::optional<GoFunctions> go_functions_;
};

Status LibdwModule::Begin() {
  UniqueFd fd = OpenRegular(options_.path);
  if (!fd.valid())
    return Fail(ErrorCode::kNotFound, "open {}: no such file", options_.path.string());
  build_id_ = BuildIdIn(ReaderOf(fd));
  if (!options_.build_id.empty() && build_id_ != options_.build_id) {
    return Fail(ErrorCode::kNotFound, "open {}: it is a different build now",
                options_.path.string());
  }
  dwfl_ = dwfl_begin(&callbacks_);
  if (dwfl_ == nullptr) return Fail(ErrorCode::kInternal, "begin with libdw: {}", dwfl_errmsg(-1));
  // Takes ownership of the descriptor on success.
  module_ = dwfl_report_offline(dwfl_, "module", options_.path.c_str(), fd.get());
  if (module_ == nullptr) {
    return Fail(ErrorCode::kCorrupt, "read {}: {}", options_.path.string(), dwfl_errmsg(-1));
  }
  fd.Release();
  dwfl_report_end(dwfl_, nullptr, nullptr);
  void** user_data = nullptr;
  dwfl_module_info(module_, &user_data, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  *user_data = this;
  Elf* const elf = dwfl_module_getelf(module_, &bias_);
  if (elf == nullptr)
    return Fail(ErrorCode::kCorrupt, "read {}: {}", options_.path.string(), dwfl_errmsg(-1));
  soname_ = SonameOf(elf);
  go_functions_ = FindGoFunctions(elf);
  return {};
}

int LibdwModule::FindDebugFile(Dwfl_Module*, void** user_data, const char*, Dwarf_Addr, const char*,
                               const char*, GElf_Word, char** found_name) {
  const auto* const module = static_cast<const LibdwModule*>(*user_data);
  *found_name = nullptr;
  return module == nullptr ? -1 : module->OpenDebugFile().Release();
}

UniqueFd LibdwModule::OpenDebugFile() const {
  constexpr std::size_t kDirectoryDigits = 2;
  if (build_id_.size() <= kDirectoryDigits) return UniqueFd();
  for (const fs::path& directory : options_.debug_directories) {
    UniqueFd fd = OpenRegular(directory / ".build-id" / build_id_.substr(0, kDirectoryDigits) /
                              (build_id_.substr(kDirectoryDigits) + ".debug"));
    if (fd.valid() && BuildIdIn(ReaderOf(fd)) == build_id_) return fd;
  }
  return UniqueFd();
}

// Returns false if only symbols are known for the address.
bool LibdwModule::AddInlined(Dwarf_Addr address, std::vector<SourceFrame>& frames) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module_, address, &bias);
  if (unit == nullptr) return false;
  const Scopes here = Scopes::At(unit, address - bias);
  if (here.count() == 0) return false;
  const Scopes scopes = Scopes::Around(here[0]);
  SourceFrame next;
  if (Dwfl_Line* const line = dwfl_module_getsrc(module_, address)) {
    int number = 0;
    next.file = Text(dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr));
    next.line = static_cast<std::uint32_t>(std::max(number, 0));
  }
  for (int i = 0; i < scopes.count() && frames.size() < kMostInlined; ++i) {
    Dwarf_Die* const scope = scopes[i];
    if (!IsFunction(scope)) continue;
    next.function = NameOf(scope);
    next.local = IsLocal(scope);
    next.inlined = dwarf_tag(scope) == DW_TAG_inlined_subroutine;
    frames.push_back(std::exchange(next, SourceFrame()));
    if (!frames.back().inlined) return true;
    TakeCallPlace(scope, unit, next);
  }
  return false;
}

SourceFrame LibdwModule::Outermost(Dwarf_Addr address) {
  SourceFrame frame;
  if (go_functions_) {
    // Preferred to symbols, which stripped programs lack, and which add ".abi0" to some names.
    frame.function = tree::FunctionName(go_functions_->Find(address - bias_));
    if (!frame.function.empty()) return frame;
  }
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* const name =
      dwfl_module_addrinfo(module_, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || (symbol.st_size != 0 && offset >= symbol.st_size)) return frame;
  frame.function = tree::FunctionName(Text(name));
  frame.local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
  return frame;
}

std::vector<SourceFrame> LibdwModule::FramesAt(std::uint64_t address) {
  const Dwarf_Addr biased = address + bias_;
  std::vector<SourceFrame> frames;
  const bool described = AddInlined(biased, frames);
  const SourceFrame symbol = Outermost(biased);
  if (!described) {
    frames.clear();
    if (!symbol.function.empty()) frames.push_back(symbol);
  } else if (!symbol.function.empty()) {
    // The linker's name is the one that is also known to runs without debug files.
    frames.back().function = symbol.function;
    frames.back().local = symbol.local;
  }
  return frames;
}

}  // namespace

Result<std::unique_ptr<DwarfModule>> DwarfModule::Open(Options options) {
  auto module = std::make_unique<LibdwModule>(std::move(options));
  FIELDCOST_TRY(module->Begin());
  return std::unique_ptr<DwarfModule>(std::move(module));
}

}  // namespace fieldcost::symbols
