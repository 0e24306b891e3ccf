# Installs the build into an empty folder. Usage: cmake -DBUILD=... -DPREFIX=... -DCONFIG=... -P install.cmake
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --config ${CONFIG} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "install: ${failed}")
endif()
