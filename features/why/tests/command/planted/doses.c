/* A program with planted causes: each -D adds a dose of one, and without any there is only the base, two thirds of which is
 * in `work`. Loops whose instructions are counted are written in assembly, so that doses are exact with every compiler:
 *
 *   SLOW=N         how often `slow` goes round each time (1000)
 *   CALLS=N        calls `tiny` so many times more
 *   OWN=N          how often the library calls a function of its own
 *   START=N        does so much work at start
 *   CPUID=N        executes an instruction so many times that takes as long as ten thousand others
 *   RELOCATIONS=N  as many addresses for the loader to relocate
 *   APART          visits the same places of memory in an order that caches cannot follow
 *   STAT=N FAULTS=N COPIES=N SLEEP=MS CONVOY=US PEER=MS    the kernel's work, and waiting; for a slower peer, too
 *
 * Its word is the number of units of work. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef UNIT
#define UNIT 20000
#endif
#ifndef SLOW
#define SLOW 1000
#endif
#ifndef OWN
#define OWN (UNIT * 4)
#endif
#ifndef CALLS
#define CALLS 0
#endif
#ifndef TEXT
#define TEXT "a text"
#endif
#ifndef PLACES
#define PLACES 64
#endif
#ifndef VISITS
#define VISITS 1000
#endif
#ifdef APART
#define STEP (4096 * 1021ul + 64)
#else
#define STEP 1ul
#endif

/* Twice as many instructions, and one. */
#define GO_ROUND(n)                                                 \
   do {                                                             \
      long left = (n);                                              \
      __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(left) : : "cc"); \
   } while (0)
#define FUNCTION __attribute__((noinline, noclone)) void

int own_calls(int n);
const char *text = TEXT;
static volatile unsigned char memory[PLACES * 4096ul];

FUNCTION work(void) { GO_ROUND(1000); }
FUNCTION slow(void) { GO_ROUND(SLOW); }
FUNCTION tiny(void) { GO_ROUND(10); }

/* The same instructions and the same pages, whatever the step. */
FUNCTION visit(void)
{
   unsigned long at = 0, step = STEP;
   __asm__("" : "+r"(step));
   for (unsigned long page = 0; page < PLACES; page++)
      memory[page * 4096] = 1;
   for (unsigned long i = 0; i < VISITS; i++, at = (at + step) % sizeof memory)
      memory[at]++;
}

#ifdef RELOCATIONS
const char *relocated[RELOCATIONS] = { [0 ... RELOCATIONS - 1] = TEXT };
#endif

#ifdef CPUID
FUNCTION ask(void)
{
   for (int i = 0; i < CPUID; i++) {
      unsigned a = 0, b, c = 0, d;
      __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
   }
}
#endif

#if defined FAULTS || defined COPIES
static volatile char *pages(int number)
{
   volatile char *all = mmap(NULL, number * 4096l, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   madvise((void *)all, number * 4096l, MADV_NOHUGEPAGE);
   for (int i = 0; i < number; i++)
      all[i * 4096l] = 1;
   return all;
}
#endif

#if defined SLEEP || defined CONVOY || defined PEER
static void sleep_us(long us)
{
   struct timespec time = { us / 1000000, us % 1000000 * 1000 };
   nanosleep(&time, NULL);
}
#endif

#ifdef CONVOY
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *convoy(void *unused)
{
   for (int i = 0; i < 40; i++) {
      pthread_mutex_lock(&lock);
      sleep_us(CONVOY);
      pthread_mutex_unlock(&lock);
   }
   return unused;
}
#endif

static void once(void)
{
#ifdef START
   GO_ROUND(START);
#endif
#ifdef CPUID
   ask();
#endif
#ifdef STAT
   struct stat found;
   for (int i = 0; i < STAT; i++)
      stat("/", &found);
#endif
#ifdef FAULTS
   pages(FAULTS);
#endif
#ifdef COPIES
   volatile char *copied = pages(COPIES);
   pid_t child = fork();
   for (int i = 0; !child && i < COPIES; i++)
      copied[i * 4096l] = 2;
   if (!child)
      _exit(0);
   waitpid(child, NULL, 0);
#endif
#ifdef PEER
   int ends[2];
   char byte = 0;
   pid_t peer = pipe(ends) ? -1 : fork();
   if (!peer) {
      sleep_us(PEER * 1000l);
      _exit(write(ends[1], &byte, 1) != 1);
   }
   if (read(ends[0], &byte, 1) != 1)
      exit(1);
   waitpid(peer, NULL, 0);
   close(ends[0]);
   close(ends[1]);
#endif
#ifdef SLEEP
   sleep_us(SLEEP * 1000l);
#endif
#ifdef CONVOY
   pthread_t threads[4];
   for (int i = 0; i < 4; i++)
      pthread_create(&threads[i], NULL, convoy, NULL);
   for (int i = 0; i < 4; i++)
      pthread_join(threads[i], NULL);
#endif
}

int main(int words, char **word)
{
   long units = words > 1 ? atol(word[1]) : 1;
   once();
   visit();
   for (; units > 0; units--) {
      for (int i = 0; i < UNIT; i++)
         work();
      for (int i = 0; i < UNIT / 5; i++)
         slow();
      for (int i = 0; i < UNIT / 5 + CALLS; i++)
         tiny();
      for (int i = 0; i < UNIT / 5; i++) {
         void *volatile piece = malloc(48);
         free(piece);
      }
      own_calls(OWN);
   }
   return 0;
}
