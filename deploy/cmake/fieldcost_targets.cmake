# Functions that define targets. Every library is static and named after its folder
# (common/base -> fieldcost_base), so that dependencies can be compared with the layering table.

# Checks the annotations of common/base/mutex.h; beta: also the order of locks.
set(FIELDCOST_CLANG_WARNINGS -Wthread-safety -Wthread-safety-beta)

add_library(fieldcost_options INTERFACE)
target_include_directories(fieldcost_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(fieldcost_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wno-missing-field-initializers  # designated initializers leave the rest at their defaults
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wold-style-cast>
  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:${FIELDCOST_CLANG_WARNINGS}>"
  # g++ 12 warns at -O3 about std::string's own operator+ (GCC bug 105651).
  $<$<AND:$<CONFIG:Release>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict>
  $<$<BOOL:${FIELDCOST_WERROR}>:-Werror>)

# Every build is hardened, not only the packages: the container and `cmake --install` are equally
# exposed. tests/style/hardening.py checks the programs.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C CXX)
add_compile_options(-fstack-protector-strong -fcf-protection=full)
# Keeps paths of the build machine out of programs, and lets a compiler cache serve several trees.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
add_link_options(-Wl,-z,relro -Wl,-z,now)
if(NOT FIELDCOST_SANITIZE)  # fortified functions would hide the sanitizers' own checks
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE>
                      $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()

# Debug information has functions and lines but no types, which saves a tenth of the time or more.
string(REGEX REPLACE "-g( |$)" "-g1\\1" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
string(REGEX REPLACE "-g( |$)" "-g1\\1" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

if(FIELDCOST_SANITIZE)
  add_compile_options(-Og)  # compiles in half the time of -O1
  add_compile_options(-fsanitize=${FIELDCOST_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=undefined)
  if(FIELDCOST_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # Asio uses fences, which the thread sanitizer does not model
  endif()
  add_link_options(-fsanitize=${FIELDCOST_SANITIZE})
endif()
if(FIELDCOST_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Headers that most sources include are precompiled. For the product, this is disabled with clang and with the thread
# sanitizer, so that missing includes are errors there.
set(FIELDCOST_HEADERS <algorithm> <chrono> <filesystem> <functional> <map> <memory> <optional> <span> <string>
                      <string_view> <vector> <fmt/format.h> <tl/expected.hpp>)
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # otherwise ccache would not see their contents
# g++ collects garbage only above 512 MiB: few sources need more, and collecting took a tenth of the time.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288>)
function(fieldcost_headers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT FIELDCOST_SANITIZE MATCHES thread)
    add_library(fieldcost_headers OBJECT ${CMAKE_SOURCE_DIR}/common/base/headers.cc)
    target_link_libraries(fieldcost_headers PRIVATE fieldcost_options fmt::fmt tl::expected)
    target_precompile_headers(fieldcost_headers PRIVATE ${FIELDCOST_HEADERS})
    set(FIELDCOST_PRECOMPILED fieldcost_headers PARENT_SCOPE)
  endif()
endfunction()

# Compiles groups of a library's sources together, which takes less than half the time. Therefore the names in the
# unnamed namespaces of a library are distinct, also from names in headers (tests/style/private_names.py).
function(fieldcost_unity name)
  if(FIELDCOST_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    # g++ expects types without linkage in the file that it was given only, not in one that is included there.
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# fieldcost_library(NAME SOURCES file... DEPS target... [PRIVATE_DEPS target...])
function(fieldcost_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(fieldcost_${name} STATIC ${arg_SOURCES})
  target_link_libraries(fieldcost_${name} PUBLIC fieldcost_options ${arg_DEPS}
                        PRIVATE ${arg_PRIVATE_DEPS})
  fieldcost_unity(fieldcost_${name})
  if(FIELDCOST_PRECOMPILED)
    target_precompile_headers(fieldcost_${name} REUSE_FROM ${FIELDCOST_PRECOMPILED})
    # With precompiled headers, g++ 12 loses the suppressions in the standard library's headers.
    target_compile_options(fieldcost_${name} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# fieldcost_proto(name...): builds the library FOLDER_proto of the current folder's NAME.proto, in the build tree.
# Generated code is exempt from our warnings.
function(fieldcost_proto)
  file(RELATIVE_PATH folder ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  get_filename_component(library ${folder} NAME)
  set(generated_dir ${CMAKE_BINARY_DIR}/generated)
  set(generated)
  foreach(name ${ARGN})
    set(stem ${generated_dir}/${folder}/${name})
    add_custom_command(
      OUTPUT ${stem}.pb.cc ${stem}.pb.h
      COMMAND ${CMAKE_COMMAND} -E make_directory ${generated_dir}
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR} --cpp_out=${generated_dir}
              ${folder}/${name}.proto
      DEPENDS ${name}.proto protobuf::protoc
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
      COMMENT "Generating ${name}.pb.cc"
      VERBATIM)
    list(APPEND generated ${stem}.pb.cc ${stem}.pb.h)
  endforeach()
  add_library(${library}_proto STATIC ${generated})
  target_compile_options(${library}_proto PRIVATE -w)
  target_include_directories(${library}_proto SYSTEM PUBLIC ${generated_dir})
  target_link_libraries(${library}_proto PUBLIC protobuf::libprotobuf-lite)
endfunction()

# fieldcost_page_assets(SOURCE HEADER NAMESPACE kName=FILE+FILE... kName=...)
# Embeds styles and scripts of pages, each joined from files, so that creating a page reads no file; sets SOURCE to the
# generated source of HEADER.
function(fieldcost_page_assets result header namespace)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/page_assets.cc)
  set(script ${CMAKE_SOURCE_DIR}/deploy/cmake/embed_page_assets.cmake)
  string(REGEX REPLACE "k[A-Za-z]+=" "" files "${ARGN}")
  string(REPLACE "+" ";" files "${files}")
  list(REMOVE_DUPLICATES files)
  list(JOIN ARGN "," assets)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DOUT=${source} -DHEADER=${header} -DNAMESPACE=${namespace} -DASSETS=${assets} -P ${script}
    DEPENDS ${script} ${files}
    VERBATIM)
  set(${result} ${source} PARENT_SCOPE)
endfunction()

# fieldcost_program(NAME SOURCES file... DEPS target...)
function(fieldcost_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE fieldcost_options ${arg_DEPS})
endfunction()

# Headers that every test includes are precompiled. These headers ignore macros defined by tests.
function(fieldcost_test_headers)
  add_executable(fieldcost_test_headers ${CMAKE_SOURCE_DIR}/tests/support/test_headers.cc)
  target_link_libraries(fieldcost_test_headers PRIVATE
    fieldcost_options fmt::fmt tl::expected GTest::gmock GTest::gtest_main)
  target_precompile_headers(fieldcost_test_headers PRIVATE ${FIELDCOST_HEADERS} <gmock/gmock.h> <gtest/gtest.h>)
  set_target_properties(fieldcost_test_headers PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  set(FIELDCOST_PRECOMPILED fieldcost_test_headers PARENT_SCOPE)
endfunction()

# fieldcost_test(NAME SOURCES file... DEPS target... [LABEL label] [TIMEOUT seconds] [SERIAL])
# One GoogleTest program; every TEST in it becomes a CTest case. SERIAL: no other test runs at the same time.
function(fieldcost_test name)
  cmake_parse_arguments(arg "SERIAL" "LABEL;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL unit)  # an empty value would be dropped and the next word taken instead
  endif()
  if(name IN_LIST FIELDCOST_ASAN_SHORT)
    add_dependencies(asan_short ${name})
    string(APPEND arg_LABEL " asan_short")  # one label: gtest_discover_tests loses a list; -L finds parts of it
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE fieldcost_options ${arg_DEPS} fmt::fmt GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM fieldcost_test_headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} RUN_SERIAL ${arg_SERIAL})
endfunction()
