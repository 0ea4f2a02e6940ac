/* The programs of the bench, one subcommand each; compiled on the spot.
 *
 *   loop N PROGRAM      the floor: vfork, exec, wait4, N times; prints the seconds of each on a line, after the last
 *   ops N HOW           N ops of fixed work, each marked: `buffered` by a stdio buffer of 64 KiB, `each` by a write(2)
 *                       of its own, `silent` not at all; to $BAKEOFF_MARKS, or to /dev/null if there is none
 *   touch BYTES         so much memory
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int loop(long times, char *program) {
    double *seconds = calloc(times, sizeof *seconds);
    char *argv[] = {program, NULL};
    if (!seconds)
        return 70;
    double begin = now();
    for (long i = 0; i < times; i++) {
        struct rusage usage;
        int status;
        double launched = now();
        pid_t pid = vfork();
        if (!pid) {
            execve(program, argv, environ);
            _exit(127);
        }
        if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status)
            return 71;
        seconds[i] = now() - launched;
    }
    printf("%.9f\n", now() - begin);
    for (long i = 0; i < times; i++)
        printf("%.9f\n", seconds[i]);
    return 0;
}

/* About a microsecond: each step needs the one before. */
static uint64_t work(uint64_t x) {
    for (int step = 0; step < 400; step++)
        x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return x;
}

static int ops(long count, const char *how) {
    const char *number = getenv("BAKEOFF_MARKS");
    int to = number ? atoi(number) : open("/dev/null", O_WRONLY);
    FILE *buffered = fdopen(to, "w");
    uint64_t x = 178;
    if (!buffered)
        return 70;
    setvbuf(buffered, NULL, _IOFBF, 1 << 16);
    for (long i = 0; i < count; i++) {
        x = work(x);
        if (*how == 'b')
            fputs("op x 0.000001\n", buffered);
        else if (*how == 'e' && write(to, "op x 0.000001\n", 14) != 14)
            return 71;
    }
    /* So that the work is not left out. */
    if (fflush(buffered) || x == 0)
        return 72;
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 4 && !strcmp(argv[1], "loop"))
        return loop(atol(argv[2]), argv[3]);
    if (argc == 4 && !strcmp(argv[1], "ops"))
        return ops(atol(argv[2]), argv[3]);
    if (argc == 3 && !strcmp(argv[1], "touch")) {
        size_t bytes = strtoul(argv[2], NULL, 10);
        volatile char *memory = malloc(bytes);
        for (size_t at = 0; memory && at < bytes; at += 4096)
            memory[at] = 1;
        return !memory;
    }
    return 2;
}
