# What `cmake --install` installs: both libraries, the headers, the CMake package and gmg.pc.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gmg)
install(TARGETS gmg_static gmg_shared EXPORT gmgTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES include/gmg.h include/gmg_smoother.h include/gmg_cuda.h include/gmg_transport.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT gmgTargets NAMESPACE gmg:: DESTINATION ${package_dir})

configure_package_config_file(cmake/gmgConfig.cmake.in ${PROJECT_BINARY_DIR}/gmgConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gmgConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gmgConfig.cmake ${PROJECT_BINARY_DIR}/gmgConfigVersion.cmake
  DESTINATION ${package_dir})

# Paths in gmg.pc are relative to its own location, so that the installation can be moved.
file(RELATIVE_PATH up ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" up "${up}")
foreach(kind LIBDIR INCLUDEDIR)
  set(PC_${kind} "\${prefix}/${CMAKE_INSTALL_${kind}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}}")
    set(PC_${kind} "${CMAKE_INSTALL_${kind}}")
  endif()
endforeach()
set(packages gmg)
if(GMG_FORTRAN)
  list(APPEND packages gmg_fortran)
endif()
if(GMG_MPI)
  list(APPEND packages gmg_mpi)
endif()
if(GMG_FORTRAN AND GMG_MPI)
  list(APPEND packages gmg_mpi_fortran)
endif()
foreach(file ${packages})
  set(PC_PREFIX "\${pcfiledir}/${up}")
  configure_file(cmake/${file}.pc.in ${PROJECT_BINARY_DIR}/${file}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${file}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

if(GMG_NATIVE)
  install(CODE "message(WARNING \"gmg was compiled for the processor of this machine (GMG_NATIVE=ON): \"
    \"on another it may end with an illegal instruction\")")
endif()
