#include "jit.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The code generator for NVIDIA's GPUs. It is in LLVM's library, which LLVM's runtime brings; but
 * Debian's build of the runtime does not register it. */
extern void LLVMInitializeNVPTXTargetInfo(void) __attribute__((weak));
extern void LLVMInitializeNVPTXTarget(void) __attribute__((weak));
extern void LLVMInitializeNVPTXTargetMC(void) __attribute__((weak));
extern void LLVMInitializeNVPTXAsmPrinter(void) __attribute__((weak));

static void register_code_generator(void)
{
    void (*const parts[])(void) = {LLVMInitializeNVPTXTargetInfo, LLVMInitializeNVPTXTarget,
                                   LLVMInitializeNVPTXTargetMC, LLVMInitializeNVPTXAsmPrinter};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (parts[i])
            parts[i]();
}

/* LLVM installs its signal handlers once, when it first makes a temporary file; they would end the
 * process in LLVM's own way after an abort. This makes LLVM install them now, and then restores
 * ours. */
extern void LLVMEnablePrettyStackTrace(void) __attribute__((weak));

static void keep_signals(void)
{
    struct sigaction ours[NSIG];
    static bool done;
    if (done || !LLVMEnablePrettyStackTrace)
        return;
    done = true;
    for (int number = 1; number < NSIG; number++)
        sigaction(number, NULL, &ours[number]);
    LLVMEnablePrettyStackTrace();
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &ours[number], NULL);
}

/* Whether a program is in the PATH. The runtime crashes if it finds no ptxas. */
static bool is_in_path(const char *program)
{
    char path[PATH_MAX];
    const char *folder = getenv("PATH");
    while (folder) {
        const size_t length = strcspn(folder, ":");
        snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, program);
        if (access(path, X_OK) == 0)
            return true;
        folder = folder[length] ? folder + length + 1 : NULL;
    }
    return false;
}

bool jit_is_ready(char reason[DEVICE_TEXT])
{
    register_code_generator();
    keep_signals();
    if (is_in_path("ptxas"))
        return true;
    snprintf(reason, DEVICE_TEXT,
             "this build holds bitcode, and no ptxas is in the PATH to assemble it: install a CUDA "
             "toolkit, or run run/cuda12 and build again");
    return false;
}
