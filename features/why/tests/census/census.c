/* The programs of the census's tests, one subcommand each: how often they call and fault, and how long they sleep, is
 * known. It is compiled on the spot. It checks nothing but that it could do what it says. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 5000 };

static char *pages(void) {
    long size = PAGES * sysconf(_SC_PAGESIZE);
    char *memory = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(70);
    /* Huge pages would make it fewer. */
    madvise(memory, size, MADV_NOHUGEPAGE);
    return memory;
}

static void write_to(char *memory, char value) {
    for (long page = 0; page < PAGES; page++)
        ((volatile char *)memory)[page * sysconf(_SC_PAGESIZE)] = value;
}

/* Writes to fresh pages; with a fork besides, a child writes to each of them again. */
static int faults(int forks) {
    char *memory = pages();
    write_to(memory, 1);
    if (!forks)
        return 0;
    pid_t child = fork();
    if (!child) {
        write_to(memory, 2);
        _exit(0);
    }
    int status;
    return waitpid(child, &status, 0) == child ? status : 71;
}

/* Reads pages that nobody wrote to. */
static int read_faults(void) {
    char *memory = pages();
    int sum = 0;
    for (long page = 0; page < PAGES; page++)
        sum += ((volatile char *)memory)[page * sysconf(_SC_PAGESIZE)];
    return sum;
}

static int sleeps(void) {
    struct timespec time = { 0, 20 * 1000 * 1000 };
    return clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0);
}

/* A child sleeps, and then says so by a pipe, or only exits. */
static int waits(int by_pipe) {
    int ends[2], status;
    char byte = 0;
    if (pipe(ends))
        return 70;
    pid_t child = fork();
    if (!child) {
        sleeps();
        _exit(by_pipe && write(ends[1], &byte, 1) != 1);
    }
    if (by_pipe && read(ends[0], &byte, 1) != 1)
        return 71;
    return waitpid(child, &status, 0) == child ? status : 72;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

/* Two threads that take turns. */
static void *player(void *own) {
    for (int round = 0; round < 500; round++) {
        pthread_mutex_lock(&mutex);
        while (turn != (own != 0))
            pthread_cond_wait(&changed, &mutex);
        turn = !turn;
        syscall(SYS_getppid);
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return 0;
}

/* Each sleeps ten times with the lock. */
static void *sleeps_with_lock(void *unused) {
    struct timespec time = { 0, 1000 * 1000 };
    for (int round = 0; round < 10; round++) {
        pthread_mutex_lock(&mutex);
        clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static int threads(int number, void *(*what)(void *)) {
    pthread_t thread[4];
    for (long i = 0; i < number; i++)
        if (pthread_create(&thread[i], 0, what, (void *)i))
            return 70;
    for (int i = 0; i < number; i++)
        pthread_join(thread[i], 0);
    return 0;
}

static long double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9L + now.tv_nsec;
}

/* For measuring: prints the ns that a getppid takes, the best of 20 loops. */
static int loop(void) {
    long double best = 1e18L;
    for (int i = 0; i < 20; i++) {
        long double began = now_ns();
        for (int call = 0; call < 20000; call++)
            syscall(SYS_getppid);
        long double took = (now_ns() - began) / 20000;
        best = took < best ? took : best;
    }
    printf("%.1Lf\n", best);
    return 0;
}

int main(int words, char **word) {
    const char *what = words > 1 ? word[1] : "";
    if (!strcmp(what, "faults"))
        return faults(0);
    if (!strcmp(what, "copies"))
        return faults(1);
    if (!strcmp(what, "reads"))
        return read_faults();
    if (!strcmp(what, "sleeps"))
        return sleeps();
    if (!strcmp(what, "futexes"))
        return threads(2, player);
    if (!strcmp(what, "convoy"))
        return threads(4, sleeps_with_lock);
    if (!strcmp(what, "waits"))
        return waits(0);
    if (!strcmp(what, "peer"))
        return waits(1);
    if (!strcmp(what, "loop"))
        return loop();
    return 64;
}
