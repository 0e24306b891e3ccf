# Writes OUT with the commit of the sources in SOURCE, touching it only where that changed. Run at every build.
execute_process(COMMAND git describe --always --dirty --abbrev=10 --exclude=* WORKING_DIRECTORY ${SOURCE}
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(WRITE ${OUT}.new "#define BENCH_COMMIT \"${commit}\"\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${OUT}.new ${OUT})
