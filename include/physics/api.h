/*
 * Marks what the shared library shows. Everything else in it is hidden.
 */
#ifndef PHYSICS_API_H
#define PHYSICS_API_H

#define PHYSICS_API __attribute__((visibility("default")))

#endif
