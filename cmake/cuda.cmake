# CUDA: machine code for CMAKE_CUDA_ARCHITECTURES, and PTX, which the driver compiles for newer ones. Included by the main
# CMakeLists.txt.
if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER ${GMG_NVCC})
endif()
include(cmake/architectures.cmake)
set(CMAKE_CUDA_STANDARD 20)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(GMG_CUDART ${CUDA_cudart_static_LIBRARY})
set(cuda_needs -ldl -lrt -lpthread)
set(cuda_include include src)
# The library needs no C++ runtime. Kernels are most of its size, and nvcc compresses them to a third. Drivers older than CUDA 13's
# might not read compressed kernels.
set(cuda_options -Xcompiler=-Wall,-fvisibility=hidden,-fno-exceptions,-fno-threadsafe-statics)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  list(APPEND cuda_options -compress-mode=size)
endif()
message(STATUS "gmg: CUDA for architectures ${CMAKE_CUDA_ARCHITECTURES}")
find_path(GMG_NVTX nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS} DOC "Folder of nvtx3")
mark_as_advanced(GMG_NVTX)
if(GMG_NVTX) # headers only
  set_property(SOURCE ${CUDA_ONCE} APPEND PROPERTY COMPILE_DEFINITIONS GMG_NVTX)
  list(APPEND cuda_include ${GMG_NVTX})
else()
  message(STATUS "gmg: profilers will see no ranges by level and operation: nvtx3/nvToolsExt.h was not found")
endif()
