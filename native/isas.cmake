# Which instruction sets the kernels are compiled for: `isas`, the plainest first, and flags_... for each.
#
# TROPALIGN_ISAS is `native` (those whose kernels run on this processor: its best set, and on AMD's Zen 4 v3 as well,
# which serves kernels that 64-byte vectors slow down), `runnable` (all that this processor has), `all`, or names
# (v2,v3). `runnable`, `all` and names include the plainest set, so that the core loads on every processor.
set(TROPALIGN_ISAS native CACHE STRING "Instruction sets to compile for: native, runnable, all, or names as v2,v3")

set(processor "${CMAKE_SYSTEM_PROCESSOR}")
if(APPLE AND CMAKE_OSX_ARCHITECTURES)
  set(processor "${CMAKE_OSX_ARCHITECTURES}")
  if(processor MATCHES ";")
    message(FATAL_ERROR "One processor per build: set CMAKE_OSX_ARCHITECTURES to arm64 or x86_64, not to ${processor}")
  endif()
endif()
if(processor MATCHES "x86_64|AMD64|amd64")
  set(known v2 v3 v4 v4vbmi)
  # GCC 12 may park 8 bytes in an MMX register, after which x87 cannot compute with long double.
  set(flags_v2 -march=x86-64-v2 -mno-mmx)
  set(flags_v3 -march=x86-64-v3 -mno-mmx)
  set(flags_v4 -march=x86-64-v4 -mno-mmx)
  set(flags_v4vbmi -march=x86-64-v4 -mavx512vbmi -mno-mmx)
elseif(processor MATCHES "aarch64|arm64|ARM64")
  set(known neon)
else()
  set(known generic)
endif()

# Ask the source that selects a set at import, compiled to a small program. `what` is `runnable` or `native`.
function(find_isas what found)
  set(every false)
  if(what STREQUAL "runnable")
    set(every true)
  endif()
  set(list_of_isas "")
  foreach(isa IN LISTS known)
    string(APPEND list_of_isas " X(${isa},)")
  endforeach()
  set(program "${CMAKE_BINARY_DIR}/runnable_isas.cpp")
  file(WRITE "${program}" "#define TROPALIGN_ISAS(X) ${list_of_isas}\n"
       "#include \"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/simd/isa.cpp\"\n#include <cstdio>\n"
       "int main() {\n"
       "  const std::vector<std::string> supported = tropalign::supported_isas();\n"
       "  for (const std::string &isa : supported)\n"
       "    if (${every} || isa == supported.front() || (tropalign::halves_vectors() && isa == \"v3\"))\n"
       "      std::printf(\"%s;\", isa.c_str());\n}\n")
  unset(status CACHE)  # otherwise a second configuration would not run the program
  unset(compiles CACHE)
  try_run(status compiles "${CMAKE_BINARY_DIR}/runnable_isas" "${program}" CXX_STANDARD 20 RUN_OUTPUT_VARIABLE told)
  if(NOT compiles OR NOT status EQUAL 0 OR NOT told)
    message(FATAL_ERROR "The program that detects this processor's instruction sets failed. Name the sets instead, as "
                        "in CMAKE_ARGS=-DTROPALIGN_ISAS=all (known: ${known})\n${told}")
  endif()
  string(REGEX REPLACE ";$" "" told "${told}")  # the best first
  set(${found} "${told}" PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" wanted "${TROPALIGN_ISAS}")
list(GET known 0 plainest)
if(wanted STREQUAL "all" OR (wanted MATCHES "^(native|runnable)$" AND CMAKE_CROSSCOMPILING))
  set(wanted ${known})
elseif(wanted MATCHES "^(native|runnable)$")
  find_isas(${wanted} wanted)
else()
  list(APPEND wanted ${plainest})
endif()
foreach(isa IN LISTS wanted)
  if(NOT isa IN_LIST known AND NOT isa STREQUAL "generic")
    list(JOIN known ", " names)
    message(FATAL_ERROR "TROPALIGN_ISAS=${TROPALIGN_ISAS}: '${isa}' is not an instruction set of ${processor}; give "
                        "native, runnable, all, or names among ${names} (generic: plain C++)")
  endif()
endforeach()

set(isas "")
if("generic" IN_LIST wanted)
  set(isas generic)
else()
  foreach(isa IN LISTS known)
    if(isa IN_LIST wanted)
      list(APPEND isas ${isa})
    endif()
  endforeach()
endif()
message(STATUS "Instruction sets: ${isas}")
