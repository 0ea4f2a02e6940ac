/* The programs of the truth tests, one subcommand each: what they do is known exactly, and what they see of their own
 * clocks and surroundings they print. It is compiled on the spot. It measures nothing for Bakeoff and checks nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static void fail(const char *what) {
    perror(what);
    exit(70);
}

static double now(clockid_t clock) {
    struct timespec t;
    if (clock_gettime(clock, &t))
        fail("clock_gettime");
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* Until this process has used so many seconds of processors' time since it began; of a child, since it was forked. */
static void spin(double seconds) {
    while (now(CLOCK_PROCESS_CPUTIME_ID) < seconds)
        ;
}

/* Whatever interrupts it. */
static void rest(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9)};
    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

/* So many pages of 4 KiB, each touched once. Huge pages would make fewer faults of it. */
static void touch(size_t bytes) {
    if (!bytes)
        return;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < bytes; at += 4096)
        ((volatile char *)memory)[at] = 1;
}

/* So many writes of so many bytes, then as many reads of the same. */
static int io(const char *path, long calls, long bytes, int flags) {
    char *buffer;
    if (posix_memalign((void **)&buffer, 4096, bytes))
        fail("posix_memalign");
    memset(buffer, 'x', bytes);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | flags, 0600);
    if (file < 0 && errno == EINVAL)
        return 77;
    if (file < 0)
        fail(path);
    for (long call = 0; call < calls; call++)
        if (write(file, buffer, bytes) != bytes)
            fail("write");
    if (flags && fsync(file))
        fail("fsync");
    if (lseek(file, 0, SEEK_SET))
        fail("lseek");
    for (long call = 0; call < calls; call++)
        if (read(file, buffer, bytes) != bytes)
            fail("read");
    return 0;
}

/* So many children, all of them alive at once; each then spins, and is waited for. */
static void forks(int children, double seconds) {
    int gate[2];
    if (pipe(gate))
        fail("pipe");
    for (int child = 0; child < children; child++) {
        pid_t pid = fork();
        if (pid < 0)
            fail("fork");
        if (!pid) {
            char end;
            close(gate[1]);
            /* The end of the file is the sign that all are there. */
            if (read(gate[0], &end, 1))
                fail("gate");
            spin(seconds);
            _exit(0);
        }
    }
    close(gate[1]);
    while (wait(NULL) > 0)
        ;
}

/* Every node spins, after so many children of its own. */
static void tree(int depth, int width, double seconds) {
    for (int child = 0; depth > 0 && child < width; child++) {
        pid_t pid = fork();
        if (pid < 0)
            fail("fork");
        if (!pid) {
            tree(depth - 1, width, seconds);
            _exit(0);
        }
    }
    spin(seconds);
    while (wait(NULL) > 0)
        ;
}

/* A child of a child in a session of its own spins, prints its number, and stays. We leave when it has. */
static void daemonise(double seconds) {
    int done[2];
    char end;
    if (pipe(done))
        fail("pipe");
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (!pid) {
        setsid();
        pid = fork();
        if (pid)
            _exit(pid < 0);
        spin(seconds);
        printf("%d\n", (int)getpid());
        fflush(stdout);
        close(done[1]);
        for (;;)
            pause();
    }
    close(done[1]);
    while (waitpid(pid, NULL, 0) < 0)
        ;
    if (read(done[0], &end, 1))
        fail("done");
}

/* Lines by the clock of this process: the moment when the first is written, and when the last has been. */
static void marks(long lines) {
    const char *number = getenv("BAKEOFF_MARKS");
    if (!number)
        exit(71);
    FILE *to = fdopen(atoi(number), "w");
    if (!to)
        fail("fdopen");
    setvbuf(to, NULL, _IOFBF, 1 << 16);
    double began = now(CLOCK_REALTIME);
    for (long i = 0; i < lines; i++)
        fprintf(to, "op x 0.%09ld\n", i);
    if (fflush(to))
        fail("fflush");
    printf("%.9f %.9f\n", began, now(CLOCK_REALTIME));
}

static void affinity(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        fail("sched_getaffinity");
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            printf("%d\n", cpu);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    double a = argc > 2 ? atof(argv[2]) : 0, b = argc > 3 ? atof(argv[3]) : 0, c = argc > 4 ? atof(argv[4]) : 0;
    if (!strcmp(what, "nothing")) {
    } else if (!strcmp(what, "touch")) {
        touch((size_t)a);
    } else if (!strcmp(what, "spin")) {
        spin(a);
        printf("%.9f\n", now(CLOCK_PROCESS_CPUTIME_ID));
    } else if (!strcmp(what, "rest")) {
        for (long i = 0; i < (long)b; i++)
            rest(a);
    } else if (!strcmp(what, "interval")) {
        double real = now(CLOCK_REALTIME), began = now(CLOCK_MONOTONIC);
        rest(a);
        double ended = now(CLOCK_MONOTONIC);
        printf("%.9f %.9f %.9f %.9f\n", began, ended, real, now(CLOCK_REALTIME));
    } else if (!strcmp(what, "io")) {
        return io("data", (long)a, (long)b, 0);
    } else if (!strcmp(what, "direct")) {
        return io("data", (long)a, (long)b, O_DIRECT);
    } else if (!strcmp(what, "forks")) {
        forks((int)a, b);
    } else if (!strcmp(what, "tree")) {
        tree((int)a, (int)b, c);
    } else if (!strcmp(what, "daemonise")) {
        daemonise(a);
    } else if (!strcmp(what, "marks")) {
        marks((long)a);
    } else if (!strcmp(what, "affinity")) {
        affinity();
    } else if (!strcmp(what, "scheduler")) {
        struct sched_param param;
        if (sched_getparam(0, &param))
            fail("sched_getparam");
        printf("%d %d\n", sched_getscheduler(0), param.sched_priority);
    } else if (!strcmp(what, "address")) {
        printf("%p %p\n", (void *)&a, (void *)sbrk(0));
    } else if (!strcmp(what, "environment")) {
        for (char **variable = environ; *variable; variable++)
            printf("%s%c", *variable, 0);
    } else {
        fprintf(stderr, "%s: no such program\n", what);
        return 2;
    }
    return 0;
}
