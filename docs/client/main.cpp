/*
 * A client in C++: as main.c, with owners that free what they hold.
 *
 *     c++ main.cpp $(pkg-config --cflags --libs miniapp) \
 *         -Wl,-rpath,$(pkg-config --variable=libdir miniapp) -o client && ./client gpu
 */
#include <iostream>
#include <memory>
#include <miniapp.h>
#include <stdexcept>
#include <vector>

static void check(miniapp_status status)
{
    if (status)
        throw std::runtime_error(miniapp_message());
}

struct CloseDevice {
    void operator()(miniapp_device *device) const { miniapp_device_close(device); }
};
struct FreeState {
    void operator()(miniapp_state *state) const { miniapp_state_free(state); }
};
using Device = std::unique_ptr<miniapp_device, CloseDevice>;
using State = std::unique_ptr<miniapp_state, FreeState>;

static Device open(const char *name)
{
    miniapp_device *device;
    check(miniapp_device_open(name, &device));
    return Device(device);
}

static State create(const Device &device, const miniapp_grid &grid)
{
    miniapp_state *state;
    check(miniapp_state_create(device.get(), MINIAPP_FLOAT64, &grid, &state));
    return State(state);
}

int main(int argc, char **argv)
{
    try {
        const miniapp_grid grid = {12, 10, 3};
        const Device device = open(argc > 1 ? argv[1] : "auto");
        const State state = create(device, grid);
        std::vector<double> values(miniapp_grid_points(&grid), 35.7);
        check(miniapp_state_set(state.get(), "salt", values.data()));
        values.assign(values.size(), 20);
        check(miniapp_state_set(state.get(), "temp", values.data()));
        check(miniapp_state_set(state.get(), "p", std::vector<double>(grid.nz, 300).data()));
        check(miniapp_run(state.get(), "eos"));
        check(miniapp_state_get(state.get(), "dHdT", values.data()));
        std::cout.precision(15);
        std::cout << values[0] << " J kg-1 K-1 on " << miniapp_device_label(device.get()) << '\n';
    } catch (const std::runtime_error &error) {
        std::cerr << "client: " << error.what() << '\n';
        return miniapp_last_failure();
    }
}
