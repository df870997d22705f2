# shellcheck shell=bash
# Sourced by install.sh and tarball.sh: arranges a release in one tree that works below any prefix.
#
# lib/fieldcost bin: all programs; lib: the libraries that fieldcost preloads and, in the archive, others. A program
#               finds both next to itself.
# bin           links to the programs that users start, including the servers
# lib           the files for building programs with probe points
# share         manual pages, completions, user units (share/systemd/user), documents, examples;
#               share/fieldcost/systemd: the servers' units, not active there
#
# Units, pkg-config and CMake files contain absolute paths: here they begin with @PREFIX@, and install.sh replaces it.

# lay_out_build BUILD_DIR OUTPUT: from a built tree, with its own install rules.
lay_out_build() {
  local build="$1" output="$2" prefix multiarch
  [[ -x "$build/bin/fieldcost" && -f "$build/cmake_install.cmake" ]] || {
    echo "${0##*/}: no release build in $build (cmake --workflow --preset release makes one)" >&2
    return 66
  }
  prefix="$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")"
  multiarch="$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$build/CMakeCache.txt")"
  DESTDIR="$output.staged" cmake --install "$build" > "$output.log" 2>&1 || {
    echo "${0##*/}: cmake --install failed: $(tail -n 1 "$output.log") (log: $output.log)" >&2
    return 70
  }
  lay_out "$output.staged" "$prefix" "${multiarch:-lib}" "$output"
  rm -rf "$output.staged" "$output.log"
}

# lay_out TREE PREFIX LIBDIR OUTPUT: from the files that are installed below TREE with the given prefix.
lay_out() {
  local tree="$1" prefix="$2" libdir="$3" output="$4" from folder file
  from="$tree$prefix"
  mkdir -p "$output"/{bin,lib/fieldcost/{bin,lib},share/systemd,share/fieldcost/{python,systemd}}
  cp -a "$from"/bin/. "$from"/sbin/. "$output/lib/fieldcost/bin"
  for file in "$output"/lib/fieldcost/bin/*; do
    ln -s "../lib/fieldcost/bin/${file##*/}" "$output/bin"
  done
  cp -a "$from/$libdir"/fieldcost/*.so "$output/lib/fieldcost/lib"
  cp -a "$from/$libdir"/fieldcost/fieldcost-* "$output/lib/fieldcost/bin"
  cp -a "$from/$libdir"/{cmake,pkgconfig,libfieldcost_probe_stub.a} "$output/lib"
  cp -a "$from/include" "$output"
  cp -a "$from"/share/. "$output/share"
  cp -a "$from"/lib/python3/dist-packages/fieldcost_*.py "$output/share/fieldcost/python"
  cp -a "$from/lib/systemd/user" "$output/share/systemd"
  # Debian's packages have the servers' units in /lib.
  for folder in "$from/lib/systemd/system" "$tree/lib/systemd/system"; do
    [[ ! -d "$folder" ]] || cp -a "$folder"/. "$output/share/fieldcost/systemd"
  done
  # Debian's directory for zsh, and the usual one.
  if [[ -d "$output/share/zsh/vendor-completions" ]]; then
    mv "$output/share/zsh/vendor-completions" "$output/share/zsh/site-functions"
  fi
  grep -rlIE "(=|\"| )$prefix(/|\"|\$)" "$output/lib/cmake" "$output/lib/pkgconfig" "$output/share/systemd" \
    "$output/share/fieldcost/systemd" | while IFS= read -r file; do
    sed -i -E -e "s,(=|\"| )$prefix/$libdir/fieldcost/,\1@PREFIX@/lib/fieldcost/bin/,g" \
      -e "s,(=|\"| )$prefix/$libdir,\1@PREFIX@/lib,g" \
      -e "s,(=|\"| )$prefix/sbin/,\1@PREFIX@/bin/,g" -e "s,(=|\"| )$prefix(/(bin|include)|\"|\$),\1@PREFIX@\2,g" "$file"
  done
  find "$output" -type d -empty -delete
}
