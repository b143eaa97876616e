# Rules of `cmake --install`: the program, the library with its headers, and the files by which CMake
# and pkg-config find it. The program and the library look for the offload module in the folder
# `lib` beside their own, so the names of the folders are fixed.

include(CMakePackageConfigHelpers)
set(package_folder lib/cmake/miniapp)

install(TARGETS miniapp DESTINATION bin)
if(TARGET miniapp_offload)
  install(TARGETS miniapp_offload DESTINATION lib)
endif()
foreach(name ${host_variants} ${offload_variants})
  install(TARGETS miniapp_variant_${name} DESTINATION lib)
endforeach()
if(TARGET miniapp_libcuda)
  install(TARGETS miniapp_libcuda DESTINATION lib)
endif()

# ---- the library ----

# A project that takes the sources by add_subdirectory links the same names as one that finds the
# installed package.
add_library(miniapp::miniapp ALIAS libminiapp_shared)
add_library(miniapp::miniapp_static ALIAS libminiapp)
set_target_properties(libminiapp_shared PROPERTIES EXPORT_NAME miniapp)
set_target_properties(libminiapp PROPERTIES EXPORT_NAME miniapp_static)
install(TARGETS libminiapp_shared libminiapp EXPORT miniapp DESTINATION lib)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION include)

# ---- for CMake ----

install(EXPORT miniapp NAMESPACE miniapp:: FILE miniappTargets.cmake DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/miniappConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/miniappConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/miniappConfigVersion.cmake DESTINATION ${package_folder})

# ---- for pkg-config ----

list(JOIN library_dependencies " " PRIVATE_LIBRARIES)
configure_file(${PROJECT_SOURCE_DIR}/cmake/miniapp.pc.in ${PROJECT_BINARY_DIR}/generated/miniapp.pc
  @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/miniapp.pc DESTINATION lib/pkgconfig)
