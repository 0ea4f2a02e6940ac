/* The programs of the tracer's tests, one subcommand each: which calls they make is known exactly. It is compiled on the
 * spot, statically, so that no loader adds calls of its own. It checks nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* 1000 getppid, of which none can fail; 7 times a path that is not there and once one that is, also by no UTF-8. */
static int calls(void) {
    for (int i = 0; i < 1000; i++)
        syscall(SYS_getppid);
    for (int i = 0; i < 7; i++)
        openat(AT_FDCWD, "/nowhere/to/be/found", O_RDONLY);
    close(openat(AT_FDCWD, "/dev/null", O_RDONLY));
    openat(AT_FDCWD, "/nowhere/\xff", O_RDONLY);
    syscall(SYS_openat, AT_FDCWD, (char *)1, O_RDONLY);
    return 5;
}

static void *sleeper(void *unused) {
    (void)unused;
    for (;;)
        pause();
}

static void *ending(void *unused) {
    (void)unused;
    syscall(SYS_getppid);
    return 0;
}

/* 8 threads that end, of 9 tasks. */
static int threads(void) {
    pthread_t thread[8];
    for (int i = 0; i < 8; i++)
        if (pthread_create(&thread[i], 0, ending, 0))
            return 70;
    for (int i = 0; i < 8; i++)
        pthread_join(thread[i], 0);
    return 0;
}

static char *self;

static void *become(void *unused) {
    (void)unused;
    execl(self, self, "calls", (char *)0);
    exit(70);
}

/* A thread that is not the first becomes another program, beside one that sleeps. */
static int exec_in_thread(void) {
    pthread_t thread[2];
    pthread_create(&thread[0], 0, sleeper, 0);
    pthread_create(&thread[1], 0, become, 0);
    sleeper(0);
    return 70;
}

/* The first thread ends, and another maps a file only then. */
static void *late(void *unused) {
    (void)unused;
    int file = open("/etc/passwd", O_RDONLY);
    if (mmap(0, 1, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED)
        exit(70);
    syscall(SYS_exit, 0);
    return 0;
}

static int headless(void) {
    pthread_t thread;
    pthread_create(&thread, 0, late, 0);
    syscall(SYS_exit, 0);
    return 70;
}

/* A child that stops itself, is seen to be stopped, goes on, and exits 3. */
static int stops(void) {
    pid_t child = fork();
    if (!child) {
        raise(SIGSTOP);
        _exit(3);
    }
    int status;
    if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
        return 70;
    kill(child, SIGCONT);
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 71;
    return WEXITSTATUS(status);
}

static volatile sig_atomic_t caught;

static void count(int signal) {
    (void)signal;
    caught++;
}

/* Signals arrive, each once. */
static int signals(void) {
    signal(SIGUSR1, count);
    signal(SIGTRAP, count);
    for (int i = 0; i < 5; i++)
        raise(SIGUSR1);
    raise(SIGTRAP);
    return caught;
}

int main(int words, char **word) {
    self = word[0];
    const char *what = words > 1 ? word[1] : "";
    if (!strcmp(what, "calls"))
        return calls();
    if (!strcmp(what, "threads"))
        return threads();
    if (!strcmp(what, "exec-in-thread"))
        return exec_in_thread();
    if (!strcmp(what, "headless"))
        return headless();
    if (!strcmp(what, "stops"))
        return stops();
    if (!strcmp(what, "signals"))
        return signals();
    if (!strcmp(what, "abort"))
        abort();
    return 64;
}
