/*
 * A client in C: holds an ocean on a device and runs the equation of state on it.
 *
 *     cc main.c $(pkg-config --cflags --libs miniapp) \
 *         -Wl,-rpath,$(pkg-config --variable=libdir miniapp) -o client && ./client gpu
 *
 * CMakeLists.txt builds it by CMake.
 */
#include <miniapp.h>
#include <stdio.h>

enum { NX = 12, NY = 10, NZ = 3, POINTS = NX * NY * NZ };

/* Uniform water. */
static enum miniapp_status fill(struct miniapp_state *state)
{
    static double salt[POINTS], temp[POINTS], p[NZ];
    enum miniapp_status status;
    for (int i = 0; i < POINTS; i++) {
        salt[i] = 35.7;
        temp[i] = 20;
    }
    for (int z = 0; z < NZ; z++)
        p[z] = 300;
    if ((status = miniapp_state_set(state, "salt", salt)) ||
        (status = miniapp_state_set(state, "temp", temp)))
        return status;
    return miniapp_state_set(state, "p", p);
}

/* A field stays on the device once it is set, for this kernel and for others. */
static enum miniapp_status run(const struct miniapp_device *device, double dHdT[POINTS])
{
    const struct miniapp_grid grid = {NX, NY, NZ};
    struct miniapp_state *state;
    enum miniapp_status status = miniapp_state_create(device, MINIAPP_FLOAT64, &grid, &state);
    if (!status)
        status = fill(state);
    if (!status)
        status = miniapp_run(state, "eos");
    if (!status)
        status = miniapp_state_get(state, "dHdT", dHdT);
    miniapp_state_free(state);
    return status;
}

int main(int argc, char **argv)
{
    static double dHdT[POINTS];
    struct miniapp_device *device;
    enum miniapp_status status = miniapp_device_open(argc > 1 ? argv[1] : "auto", &device);
    if (!status)
        status = run(device, dHdT);
    if (status)
        fprintf(stderr, "client: %s\n", miniapp_message());
    else
        printf("%.15g J kg-1 K-1 on %s\n", dHdT[0], miniapp_device_label(device));
    miniapp_device_close(device);
    return status;
}
