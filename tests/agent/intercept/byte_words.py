#!/usr/bin/env python3
"""Finds the words of libraries' data that hold functions which allocate or transfer bytes.

A library that calls malloc or read through a variable or a table has no slot for that call; the loader fills in
the word by a relocation, by which it is found here. Two kinds are reported:

  direct   the word is filled in with the function's address (R_X86_64_64 against its symbol)
  wrapper  the word is filled in with the address of a function of the library itself (R_X86_64_RELATIVE) that does
           nothing but call one: no branch, no other call, no memory but the stack and the slot

The functions are those that agent/intercept wraps; `free` is none of them, since it counts nothing. A table that is
null in the file and filled while the program runs has no such relocation, and is not found.

Examples:
  tests/agent/intercept/byte_words.py /lib/x86_64-linux-gnu/libxml2.so.2
  tests/agent/intercept/byte_words.py --json libuv.so.1 libcurl.so.4
  tests/agent/intercept/byte_words.py --audited agent/intercept/BYTES.md
"""

import argparse
import bisect
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LOAD, DYNAMIC = 1, 2
EXECUTABLE, WRITABLE = 1, 2
STRTAB, SYMTAB, RELA, RELASZ, JMPREL, PLTRELSZ, RELRSZ, RELR = 5, 6, 7, 8, 23, 2, 35, 36
ADDRESS, GLOB_DAT, JUMP_SLOT, RELATIVE = 1, 6, 7, 8
# Maximum size of a function that only calls another one.
MOST_BYTES = 64
# Separates the code of two functions, so that no instruction extends from one into the next.
PADDING = b"\x90" * 16


class NotReadable(Exception):
    """The file is not an ELF library for x86-64."""


def wrapped_functions():
    """The names that agent/intercept wraps, read from its tables, so that there is one list."""
    names = set()
    for source in ("alloc_wrappers.cc", "io_wrappers.cc"):
        text = (ROOT / "agent/intercept" / source).read_text(encoding="utf-8")
        names.update(re.findall(r'^\s+\{"(\w+)", reinterpret_cast', text, re.MULTILINE))
    if not {"malloc", "realloc", "read", "pwrite64"} <= names:
        sys.exit("byte_words.py: agent/intercept/*_wrappers.cc do not list the functions as expected")
    return names


class Library:
    """A library as the loader reads it, by its segments and its dynamic table."""

    def __init__(self, path):
        try:
            self.bytes = Path(path).read_bytes()
        except OSError as error:
            raise NotReadable(f"{path}: cannot be read: {error.strerror}") from error
        if self.bytes[:6] != b"\x7fELF\x02\x01" or self.bytes[18:20] != b"\x3e\x00":
            raise NotReadable(f"{path}: is no ELF file of x86-64")
        try:
            self._read_segments()
            self.relocations = [*self._relocations(RELA, RELASZ), *self._relocations(JMPREL, PLTRELSZ)]
        except (struct.error, ValueError) as error:
            raise NotReadable(f"{path}: is damaged: {error}") from error

    def _read_segments(self):
        table, = struct.unpack_from("<Q", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        self.segments, self.dynamic = [], {}
        for i in range(count):
            kind, flags, offset, address, _, in_file, in_memory = struct.unpack_from(
                "<IIQQQQQ", self.bytes, table + i * size)
            if kind == LOAD:
                self.segments.append((address, in_memory, flags, offset, in_file))
            elif kind == DYNAMIC:
                whole = self.bytes[offset:offset + in_file // 16 * 16]
                self.dynamic = dict(struct.iter_unpack("<QQ", whole))
        self.segments.sort()
        self.begins = [segment[0] for segment in self.segments]

    def segment_at(self, address):
        index = bisect.bisect_right(self.begins, address) - 1
        if index >= 0 and address < self.segments[index][0] + self.segments[index][1]:
            return self.segments[index]
        return None

    def is_in(self, address, flag):
        segment = self.segment_at(address)
        return segment is not None and segment[2] & flag != 0

    def read(self, address, count):
        """The file's bytes at that address: fewer at the segment's end, none outside."""
        segment = self.segment_at(address)
        if segment is None:
            return b""
        skipped = address - segment[0]
        first = segment[3] + skipped
        return self.bytes[first:first + max(0, min(count, segment[4] - skipped))]

    def _relocations(self, table, size):
        whole = self.read(self.dynamic.get(table, 0), self.dynamic.get(size, 0))
        return struct.iter_unpack("<QQq", whole[:len(whole) // 24 * 24])

    def name_of(self, symbol):
        at, = struct.unpack("<I", self.read(self.dynamic[SYMTAB] + symbol * 24, 4))
        return self.read(self.dynamic[STRTAB] + at, 128).split(b"\0")[0].decode(errors="replace")

    def packed_relative(self):
        """(word, function) of relative relocations in the packed table."""
        place = 0
        whole = self.read(self.dynamic.get(RELR, 0), self.dynamic.get(RELRSZ, 0))
        for entry, in struct.iter_unpack("<Q", whole[:len(whole) // 8 * 8]):
            if entry & 1 == 0:
                words, place = [entry], entry + 8
            else:
                words = [place + 8 * bit for bit in range(63) if entry >> (bit + 1) & 1]
                place += 63 * 8
            for word in words:
                yield word, struct.unpack("<Q", self.read(word, 8))[0]


class Calls:
    """The targets of a library's calls of wrapped functions: its slots for them, and the stubs for these slots."""

    def __init__(self, library, slots):
        self.library, self.slots, self.stubs = library, slots, {}
        if not slots:
            return
        for address, _, flags, _, in_file in library.segments:
            if flags & EXECUTABLE == 0:
                continue
            text = library.read(address, in_file)
            for found in re.finditer(rb"\xff\x25", text):
                name = slots.get(self._target(text, found.end(), address))
                if name is not None:
                    # Calls lead to the jump, or to a prefix of it.
                    for prefix in (0, 1, 4, 5):
                        self.stubs[address + found.start() - prefix] = name

    @staticmethod
    def _target(text, at, address):
        if at + 4 > len(text):
            return None
        return address + at + 4 + struct.unpack_from("<i", text, at)[0]

    def within(self, function):
        """(offset after the instruction, name) of possible calls near the function's beginning."""
        code = self.library.read(function, MOST_BYTES)
        for found in re.finditer(rb"[\xe8\xe9]|\xff[\x15\x25]", code):
            names = self.slots if found.end() - found.start() == 2 else self.stubs
            name = names.get(self._target(code, found.end(), function))
            if name is not None:
                yield found.end() + 4, name


def words_of(path, wrapped):
    """Words that hold a wrapped function directly, and candidates: (word, code, calls) of the library's functions."""
    library = Library(path)
    direct, slots, relative, names = [], {}, list(library.packed_relative()), {}
    for word, info, addend in library.relocations:
        kind = info & 0xffffffff
        if kind == RELATIVE:
            relative.append((word, addend))
        elif kind in (ADDRESS, GLOB_DAT, JUMP_SLOT):
            name = names.get(info >> 32) or names.setdefault(info >> 32, library.name_of(info >> 32))
            if name not in wrapped:
                continue
            if kind != ADDRESS:
                slots[word] = name
            elif addend == 0 and library.is_in(word, WRITABLE):
                direct.append({"address": word, "kind": "direct", "symbol": name})
    calls, candidates, tried = Calls(library, slots), [], {}
    for word, function in relative if slots else []:
        if function not in tried:
            is_code = library.is_in(function, EXECUTABLE)
            tried[function] = dict(calls.within(function)) if is_code else {}
        if tried[function] and library.is_in(word, WRITABLE):
            candidates.append((word, library.read(function, MOST_BYTES), tried[function]))
    return direct, candidates


def instructions_of(codes):
    """For each code a list of (offset, offset after it, text), by one objdump for all."""
    codes = [code.ljust(MOST_BYTES, b"\x90") + PADDING for code in codes]
    if not codes:
        return []
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(codes))
        file.flush()
        listing = subprocess.run(
            ["objdump", "-D", "-w", "--no-show-raw-insn", "-b", "binary", "-m", "i386:x86-64", file.name],
            check=True, capture_output=True, text=True).stdout
    step = MOST_BYTES + len(PADDING)
    found = [(int(at, 16), text) for at, text in re.findall(r"^\s*([0-9a-f]+):\t(.*)$", listing, re.MULTILINE)]
    of_code = [[] for _ in codes]
    for i, (at, text) in enumerate(found):
        behind = found[i + 1][0] if i + 1 < len(found) else len(codes) * step
        of_code[at // step].append((at % step, at % step + behind - at, text.strip()))
    return of_code


def only_callee(instructions, calls):
    """The function that this code calls if it does nothing else; None otherwise."""
    callee = None
    for _, behind, text in instructions:
        operation = re.sub(r"^(bnd|notrack|repz|data16|cs|rex\.?\w*) ", "", text).split()[0]
        if operation in ("call", "jmp"):
            if callee is not None or behind not in calls:
                return None
            callee = calls[behind]
            if operation == "jmp":
                return callee
        elif operation in ("ret", "retq"):
            return callee
        elif operation.startswith(("j", "loop", "(bad)", "syscall")):
            return None
        elif not operation.startswith(("lea", "nop")) and re.search(r"\((?!%r[sb]p\))", text):
            return None
    return None


def find_words(paths, wrapped):
    """{path: words} of all libraries; words by address."""
    found, pending = {}, []
    for path in paths:
        direct, candidates = words_of(path, wrapped)
        found[path] = direct
        pending += [(path, *candidate) for candidate in candidates]
    codes = sorted({(code, tuple(calls.items())) for _, _, code, calls in pending})
    callees = {key: only_callee(instructions, dict(key[1]))
               for key, instructions in zip(codes, instructions_of([code for code, _ in codes]))}
    for path, word, code, calls in pending:
        callee = callees[(code, tuple(calls.items()))]
        if callee is not None:
            found[path].append({"address": word, "kind": "wrapper", "symbol": callee})
    for words in found.values():
        words.sort(key=lambda word: word["address"])
    return found


def installed_libraries():
    """{soname: path} of the libraries that the loader finds by itself."""
    search = os.environ.get("PATH", "") + ":/sbin:/usr/sbin"
    program = shutil.which("ldconfig", path=search)
    if program is None:
        sys.exit("byte_words.py: ldconfig, which lists installed libraries, is not installed; name libraries by path")
    listing = subprocess.run([program, "-p"], check=True, capture_output=True, text=True).stdout
    found = {}
    for soname, path in re.findall(r"^\s+(\S+) \([^)]*x86-64[^)]*\) => (\S+)$", listing, re.MULTILINE):
        found.setdefault(soname, path)
    return found


def public_libraries():
    text = (ROOT / "agent/settings/public_modules.cc").read_text(encoding="utf-8")
    return re.findall(r'^\s+"([^"]+\.so[^"]*)",$', text, re.MULTILINE)


def chosen_paths(named):
    """{path: name} of the named libraries, or of the installed ones in the public list."""
    by_path = [name for name in named if "/" in name]
    installed = installed_libraries() if not named or len(by_path) < len(named) else {}
    for name in named:
        if "/" not in name and name not in installed:
            sys.exit(f"byte_words.py: {name} is not installed (ldconfig -p); name the file by its path")
    chosen = {path: os.path.basename(path) for path in by_path}
    sonames = named or public_libraries()
    chosen.update({installed[soname]: soname for soname in sonames if soname in installed})
    if not chosen:
        sys.exit("byte_words.py: no library of the public list is installed, so none was checked")
    return chosen


def summary_of(words):
    """For example "malloc (direct, 2 words), read (wrapper)"."""
    kinds = [(word["symbol"], word["kind"]) for word in words]
    return ", ".join(f"{symbol} ({kind}{f', {count} words' if count > 1 else ''})"
                     for symbol, kind in dict.fromkeys(kinds) for count in [kinds.count((symbol, kind))])


def audit(found, chosen, audited):
    """Reports the libraries with words that the audit does not name; returns the exit status."""
    named = set(re.findall(r"lib[\w.+-]+\.so[\w.]*", Path(audited).read_text(encoding="utf-8")))
    missing = {chosen[path]: words for path, words in found.items() if words and chosen[path] not in named}
    for library, words in sorted(missing.items()):
        print(f"{library}: not named in {audited}, but calls through words of data: {summary_of(words)}")
    if missing:
        print("Measure them with tests/bench/byte_truth.py, and add a row for each.")
        return 1
    with_words = sum(1 for words in found.values() if words)
    print(f"{len(found)} libraries checked; {with_words} have such words, and all of these are named in {audited}.")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--audited", metavar="FILE",
                        help="exit status 1 if a library has such words and is not named in this file")
    parser.add_argument("--json", action="store_true", help="print the words as JSON, by library")
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY",
                        help="path or soname [the installed libraries of the public list]")
    options = parser.parse_args()
    chosen = chosen_paths(options.libraries)
    try:
        found = find_words(chosen, wrapped_functions())
    except NotReadable as error:
        sys.exit(f"byte_words.py: {error}")
    if options.audited:
        return audit(found, chosen, options.audited)
    if options.json:
        print(json.dumps({chosen[path]: words for path, words in found.items()}, indent=2))
        return 0
    for path, words in found.items():
        for word in words:
            print(f"{chosen[path]}  {word['address']:#x}  {word['kind']:8} {word['symbol']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
