/*
 * Marks what the shared library shows, and makes it C for C++. Everything else in it is hidden.
 */
#ifndef MINIAPP_API_H
#define MINIAPP_API_H

#define MINIAPP_API __attribute__((visibility("default")))

#ifdef __cplusplus
#define MINIAPP_BEGIN extern "C" {
#define MINIAPP_END }
#else
#define MINIAPP_BEGIN
#define MINIAPP_END
#endif

#endif
