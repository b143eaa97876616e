/* A client that forks after kernels have run on several threads: its child has none of them, and
 * must not wait for them. */
#include "invented.h"

#include <sys/wait.h>
#include <unistd.h>

static const struct miniapp_grid grid = {20, 16, 7};

static struct miniapp_state *state_with_inputs(const struct miniapp_device *device)
{
    struct miniapp_state *const state = state_on(device, MINIAPP_FLOAT64, grid);
    set_inputs(state, sequence_of("eos"));
    return state;
}

TEST(a_child_runs_kernels)
{
    struct miniapp_device *device;
    int ended = -1;
    assert_done(miniapp_device_open("cpu", &device));
    assert_done(miniapp_host_set_threads(3));
    struct miniapp_state *const state = state_with_inputs(device);
    assert_done(miniapp_run(state, "eos"));
    const pid_t child = fork();
    if (child == 0) { /* with its parent's state, and with one of its own */
        enum miniapp_status status = miniapp_run(state, "eos");
        if (!status)
            status = miniapp_run(state_with_inputs(device), "eos");
        _exit((int)status);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_done(WEXITSTATUS(ended));
    assert_int_equal(miniapp_host_threads(), 3);
    assert_done(miniapp_run(state, "eos"));
    miniapp_state_free(state);
    miniapp_device_close(device);
}

RUN_TESTS(NULL, NULL)
