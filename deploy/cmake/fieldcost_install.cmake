# What `cmake --install` puts where; deploy/debian/*.install splits the same files into packages.
# Units that the system's own manager reads, and zsh's completions, have no place that suits every
# prefix: two variables name them.
include(GNUInstallDirs)
set(FIELDCOST_SYSTEM_UNIT_DIR "${CMAKE_INSTALL_PREFIX}/lib/systemd/system" CACHE PATH
  "Where the aggregator's systemd unit goes")
set(FIELDCOST_ZSH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING
  "Where zsh's completion goes")

install(TARGETS fieldcost fieldcost-lsp fieldcostd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS fieldcost-aggregator RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
# Run by `fieldcost trace`.
install(TARGETS fieldcost-trace RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/fieldcost)
# Not on the linker's path: they are preloaded. tools/cli compiles this place in.
install(TARGETS fieldcost_preload fieldcost_lab_preload fieldcost_trace_preload
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/fieldcost)

set(units ${CMAKE_BINARY_DIR}/systemd)
foreach(unit fieldcostd.service fieldcostd.path fieldcost-aggregator.service)
  configure_file(${CMAKE_SOURCE_DIR}/deploy/systemd/${unit}.in ${units}/${unit} @ONLY)
endforeach()
# Always lib, whatever CMAKE_INSTALL_LIBDIR is: systemd looks nowhere else.
install(FILES ${units}/fieldcostd.service ${units}/fieldcostd.path
  DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/user)
install(FILES ${units}/fieldcost-aggregator.service DESTINATION ${FIELDCOST_SYSTEM_UNIT_DIR})

foreach(section 1 5 8)
  file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/deploy/man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
install(FILES agent/PRIVACY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES deploy/config/agent.toml DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
install(FILES deploy/config/aggregator.toml deploy/config/policy.toml
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
