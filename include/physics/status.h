/*
 * What a call can come to. The values are also the exit codes of the program,
 * so that a number means the same thing everywhere.
 */
#ifndef PHYSICS_STATUS_H
#define PHYSICS_STATUS_H

enum physics_status {
    PHYSICS_DONE = 0,     /* what was asked for is done */
    PHYSICS_MISMATCH = 1, /* a result differs from its reference */
    PHYSICS_USAGE = 2,    /* the call or command line is wrong */
    PHYSICS_INPUT = 3,    /* an input cannot be used */
    PHYSICS_DEVICE = 4,   /* a device cannot be used: absent, not built in, out of memory */
    PHYSICS_OUTPUT = 5,   /* an output cannot be written */
};

#endif
