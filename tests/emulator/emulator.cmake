# Compiles the CUDA sources for this machine's processor (emulator.cpp), so that tests of kernels run without a GPU. Sets the same
# variables as cmake/cuda.cmake. Included by the main CMakeLists.txt if GMG_EMULATE_CUDA is set.
enable_language(CXX)
set(CMAKE_CXX_STANDARD 20)
find_program(GMG_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(GMG_PYTHON NAMES python3)
set(emulator ${PROJECT_SOURCE_DIR}/tests/emulator)
set(translated ${PROJECT_BINARY_DIR}/emulated/src)
file(GLOB_RECURSE originals CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/src/*.cuh ${PROJECT_SOURCE_DIR}/src/*.cu)
foreach(list CUDA_ONCE CUDA_KERNELS)
  list(TRANSFORM ${list} REPLACE "^src/(.*)\\.cu$" "${translated}/\\1.cpp")
endforeach()
set(copies ${originals})
list(TRANSFORM copies REPLACE "^${PROJECT_SOURCE_DIR}/src/" "${translated}/")
list(TRANSFORM copies REPLACE "\\.cu$" ".cpp")
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/emulated/stamp BYPRODUCTS ${copies} ${PROJECT_BINARY_DIR}/emulated/types.h
  DEPENDS ${originals} ${emulator}/translate.py
  COMMAND ${GMG_PYTHON} ${emulator}/translate.py ${PROJECT_SOURCE_DIR}/src ${translated}
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/emulated/stamp)
add_custom_target(gmg_translated DEPENDS ${PROJECT_BINARY_DIR}/emulated/stamp)
set_source_files_properties(${CUDA_ONCE} ${CUDA_KERNELS} PROPERTIES GENERATED ON)

add_library(gmg_emulator STATIC ${emulator}/emulator.cpp ${emulator}/runtime.cpp)
set_target_properties(gmg_emulator PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(gmg_emulator PUBLIC ${emulator})
if(GMG_SANITIZE)
  set(sanitize -fsanitize=${GMG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
endif()
target_compile_options(gmg_emulator PRIVATE ${sanitize} -Wall -Wextra -O2 -ftls-model=initial-exec -fvisibility=hidden)

set(CUDAToolkit_INCLUDE_DIRS ${emulator})
set(GMG_CUDART $<TARGET_FILE:gmg_emulator>)
set(cuda_include ${emulator} ${PROJECT_SOURCE_DIR}/include ${translated} ${PROJECT_SOURCE_DIR}/src)
set(cuda_options "SHELL:-include cuda_runtime.h" "SHELL:-include ${PROJECT_BINARY_DIR}/emulated/types.h" -D__CUDACC__
  -O2 -ftls-model=initial-exec -fvisibility=hidden -ffp-contract=fast
  $<$<BOOL:${GMG_NATIVE}>:-march=native> -Wno-unknown-pragmas ${sanitize})
set(cuda_needs -lstdc++ -lpthread)
message(STATUS "gmg: CUDA for the emulator alone, which runs on this machine's processor: for tests")
