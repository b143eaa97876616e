# miniapp::miniapp is the shared library, miniapp::miniapp_static the static one.
include("${CMAKE_CURRENT_LIST_DIR}/miniappTargets.cmake")
