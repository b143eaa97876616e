/*
 * The shared library exports only what is declared between MINIAPP_BEGIN and MINIAPP_END, with C
 * linkage.
 */
#ifndef MINIAPP_API_H
#define MINIAPP_API_H

#ifdef __cplusplus
#define MINIAPP_BEGIN                                                                              \
    _Pragma("GCC visibility push(default)") extern "C"                                             \
    {
#define MINIAPP_END                                                                                \
    }                                                                                              \
    _Pragma("GCC visibility pop")
#else
#define MINIAPP_BEGIN _Pragma("GCC visibility push(default)")
#define MINIAPP_END _Pragma("GCC visibility pop")
#endif

#endif
