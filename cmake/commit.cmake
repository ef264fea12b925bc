# Writes HEADER, which names the commit that is built. Each build runs this; the file changes only when its content does.
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=10 --dirty=+changes --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
endif()
set(text "#pragma once\n\nnamespace tritonsmith::cli {\ninline constexpr const char* kCommit = \"${commit}\";\n}\n")
if(EXISTS ${HEADER})
  file(READ ${HEADER} there)
endif()
if(NOT "${there}" STREQUAL "${text}")
  file(WRITE ${HEADER} "${text}")
endif()
