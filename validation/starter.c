/* Is loaded before the program, and starts it again and again: each run is a copy of a process in
 * which the dynamic loader, constructors and sanitizers have done their work, which takes longer
 * than most refusals. All that begins with main is the program's own, up to its search for leaks.
 *
 * A request is a message on stdin: a folder and the words of a command, each ended by a zero byte,
 * with what become the run's stdout and stderr. The answer is its wait status. */

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 1 << 14, CANNOT_START = 98 };

typedef int program(int argc, char **argv, char **environment);

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

static program *program_main;

/* A run of the program by this process. */
static int run(char *words, const char *end, const int *streams, char **environment)
{
    static char *argv[LONGEST];
    int argc = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (char *word = words + strlen(words) + 1; word < end; word += strlen(word) + 1)
        argv[argc++] = word;
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (chdir(words) || dup2(nothing, 0) < 0 || dup2(streams[0], 1) < 0 || dup2(streams[1], 2) < 0)
        _exit(CANNOT_START);
    close(nothing);
    close(streams[0]);
    close(streams[1]);
    return program_main(argc, argv, environment);
}

/* Has a sanitizer map and mark what it keeps for blocks of each usual size, and look at that. */
static void touch_pages(void)
{
    for (size_t bytes = 16; bytes < 8192; bytes += bytes < 256 ? 16 : bytes / 8) {
        void *volatile block = malloc(bytes);
        free(block);
    }
    __lsan_do_recoverable_leak_check();
}

/* Is called in place of main. */
static int serve(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    (void)environment;
    unsetenv("LD_PRELOAD");
    if (__lsan_do_recoverable_leak_check) /* the pages that it looks at are there for all copies */
        touch_pages();
    for (;;) {
        static char words[LONGEST];
        union {
            struct cmsghdr header;
            char room[CMSG_SPACE(2 * sizeof(int))];
        } control;
        struct iovec part = {words, sizeof words};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof control};
        const ssize_t length = recvmsg(0, &message, 0);
        if (length <= 0 || message.msg_flags & MSG_TRUNC)
            _exit(0);
        int streams[2], status = 0;
        memcpy(streams, CMSG_DATA(&control.header), sizeof streams);
        const pid_t child = fork();
        if (child == 0)
            return run(words, words + length, streams, environ);
        close(streams[0]);
        close(streams[1]);
        if (child < 0 || waitpid(child, &status, 0) < 0 || write(0, &status, sizeof status) < 0)
            _exit(CANNOT_START);
    }
}

typedef int caller(program *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
caller start_main __asm__("__libc_start_main");

/* Calls main. */
int start_main(program *own, int argc, char **argv, void (*init)(void), void (*fini)(void),
               void (*end)(void), void *stack)
{
    caller *next;
    *(void **)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    program_main = own;
    return next(serve, argc, argv, init, fini, end, stack);
}
