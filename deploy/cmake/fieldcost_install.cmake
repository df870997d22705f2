# What `cmake --install` puts where; deploy/debian/*.install splits the same files into packages.
# Units that the system's own manager reads, and zsh's completions, have no place that suits every
# prefix: two variables name them.
include(GNUInstallDirs)
set(FIELDCOST_SYSTEM_UNIT_DIR "${CMAKE_INSTALL_PREFIX}/lib/systemd/system" CACHE PATH
  "Where the servers' systemd units go")
set(FIELDCOST_ZSH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING
  "Where zsh's completion goes")

install(TARGETS fieldcost fieldcost-lsp fieldcostd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS fieldcost-aggregator fieldcost-probe-server RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
# Run by `fieldcost idle`, `fieldcost probe` and `fieldcost trace`.
install(TARGETS fieldcost-idle fieldcost-probe fieldcost-trace RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/fieldcost)
# Not on the linker's path: they are preloaded. tools/cli compiles this place in.
install(TARGETS fieldcost_preload fieldcost_lab_preload fieldcost_probe_preload fieldcost_trace_preload
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fieldcost)

# What programs with probe points are built with; Python's programs need the module when they run.
# `cmake --install --component probe-dev` installs this alone.
set(probe_dev ${CMAKE_BINARY_DIR}/probe_dev)
foreach(file fieldcost-probe.pc fieldcost-probe-config.cmake)
  configure_file(${CMAKE_SOURCE_DIR}/agent/probe_preload/package/${file}.in ${probe_dev}/${file} @ONLY)
endforeach()
include(CMakePackageConfigHelpers)
write_basic_package_version_file(${probe_dev}/fieldcost-probe-config-version.cmake
  COMPATIBILITY SameMajorVersion)
install(DIRECTORY agent/probe_preload/include/fieldcost DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT probe-dev)
install(TARGETS fieldcost_probe_stub ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT probe-dev)
install(FILES ${probe_dev}/fieldcost-probe.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT probe-dev)
install(FILES ${probe_dev}/fieldcost-probe-config.cmake ${probe_dev}/fieldcost-probe-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/fieldcost-probe COMPONENT probe-dev)
# Where Debian's interpreter looks; always lib, whatever CMAKE_INSTALL_LIBDIR is.
install(FILES agent/probe_preload/python/fieldcost_probe.py
  DESTINATION lib/python3/dist-packages COMPONENT probe-dev)

set(units ${CMAKE_BINARY_DIR}/systemd)
foreach(unit fieldcostd.service fieldcostd.path fieldcost-probe.service fieldcost-probe.path
        fieldcost-aggregator.service fieldcost-probe-server.service)
  configure_file(${CMAKE_SOURCE_DIR}/deploy/systemd/${unit}.in ${units}/${unit} @ONLY)
endforeach()
# Always lib, whatever CMAKE_INSTALL_LIBDIR is: systemd looks nowhere else.
install(FILES ${units}/fieldcostd.service ${units}/fieldcostd.path ${units}/fieldcost-probe.service
              ${units}/fieldcost-probe.path
  DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/user)
install(FILES ${units}/fieldcost-aggregator.service ${units}/fieldcost-probe-server.service
  DESTINATION ${FIELDCOST_SYSTEM_UNIT_DIR})

foreach(section 1 5 8)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/deploy/man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
install(FILES agent/PRIVACY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES deploy/config/agent.toml DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES deploy/config/aggregator.toml deploy/config/policy.toml deploy/config/probe-server.toml
  DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES deploy/config/system.toml DESTINATION ${CMAKE_INSTALL_DATADIR}/fieldcost)

# Completions come from the program itself, so they know its options. A program built with a sanitizer
# is none to install.
if(NOT FIELDCOST_SANITIZE AND NOT FIELDCOST_FUZZ)
  set(completions ${CMAKE_BINARY_DIR}/completions)
  foreach(shell bash zsh fish)
    add_custom_command(OUTPUT ${completions}/${shell}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
      COMMAND fieldcost completion ${shell} > ${completions}/${shell}
      DEPENDS fieldcost VERBATIM)
  endforeach()
  add_custom_target(completions ALL DEPENDS ${completions}/bash ${completions}/zsh ${completions}/fish)
  install(FILES ${completions}/bash RENAME fieldcost
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completions}/zsh RENAME _fieldcost DESTINATION ${FIELDCOST_ZSH_COMPLETION_DIR})
  install(FILES ${completions}/fish RENAME fieldcost.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
