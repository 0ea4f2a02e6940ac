/* What programs do besides executing instructions, by its first word. Loops are as in doses.c; what must not be lost or
 * counted twice is in a function of its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GO_ROUND(n)                                                 \
   do {                                                             \
      long left = (n);                                              \
      __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(left) : : "cc"); \
   } while (0)
#define FUNCTION __attribute__((noinline, noclone)) void

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char bytes[100000];
static volatile double sum;

FUNCTION before(void) { GO_ROUND(1000000); }
FUNCTION in_child(void) { GO_ROUND(500000); }
FUNCTION before_exec(void) { GO_ROUND(250000); }
FUNCTION after_exec(void) { GO_ROUND(125000); }

FUNCTION fill(void)
{
   void *to = bytes;
   long n = sizeof bytes;
   __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(1) : "memory");
}

/* `movsd` and `cmpsd`, which are called like string instructions, and have the same prefixes. */
FUNCTION numbers(void)
{
   double one = 1;
   for (int i = 0; i < 100000; i++)
      __asm__ volatile("movsd %0, %%xmm1\n movsd %%xmm1, %0\n cmpsd $0, %0, %%xmm1" : "+m"(one) : : "xmm1");
   sum += one;
}

static void *contend(void *unused)
{
   for (int i = 0; i < 200; i++) {
      pthread_mutex_lock(&lock);
      GO_ROUND(50000);
      pthread_mutex_unlock(&lock);
   }
   return unused;
}

static void threads(void)
{
   pthread_t all[4];
   for (int i = 0; i < 4; i++)
      pthread_create(&all[i], NULL, contend, NULL);
   for (int i = 0; i < 4; i++)
      pthread_join(all[i], NULL);
}

static int waited(pid_t child)
{
   int status;
   return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int load_twice(const char *library)
{
   for (int i = 0; i < 2; i++) {
      void *loaded = dlopen(library, RTLD_NOW);
      void (*own_calls)(int) = loaded ? (void (*)(int))dlsym(loaded, "own_calls") : NULL;
      if (!own_calls)
         return 1;
      own_calls(10000);
      dlclose(loaded);
   }
   return 0;
}

int main(int words, char **word)
{
   const char *what = words > 1 ? word[1] : "";
   if (!strcmp(what, "fork")) {
      before();
      pid_t child = fork();
      if (!child) {
         in_child();
         _exit(0);
      }
      return !waited(child);
   }
   if (!strcmp(what, "exec")) {
      pid_t child = fork();
      if (!child) {
         before_exec();
         execl("/nowhere/at/all", "all", NULL);
         execl(word[0], word[0], "after", NULL);
         _exit(1);
      }
      return !waited(child);
   }
   if (!strcmp(what, "killed")) {
      int ends[2];
      char byte;
      if (pipe(ends))
         return 1;
      pid_t child = fork();
      if (!child) {
         in_child();
         if (write(ends[1], "", 1) == 1)
            pause();
         _exit(1);
      }
      return read(ends[0], &byte, 1) != 1 || kill(child, SIGKILL) || waited(child);
   }
   if (!strcmp(what, "user")) {
      if (setuid(65534))
         perror("only root becomes another user");
      in_child();
      return 0;
   }
   if (!strcmp(what, "after"))
      after_exec();
   else if (!strcmp(what, "threads"))
      threads();
   else if (!strcmp(what, "strings"))
      fill(), numbers();
   else if (!strcmp(what, "load"))
      return load_twice(word[2]);
   return 0;
}
