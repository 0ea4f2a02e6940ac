/* Another allocator: it takes ROUNDS rounds for each piece, and keeps one that is freed for the next that asks. */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define GO_ROUND(n)                                                 \
   do {                                                             \
      long left = (n);                                              \
      __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(left) : : "cc"); \
   } while (0)

static void *kept;
static size_t kept_size;

void *malloc(size_t size)
{
   GO_ROUND(ROUNDS);
   size = (size + 15) & ~(size_t)15;
   if (kept && size <= kept_size) {
      void *piece = kept;
      kept = NULL;
      return piece;
   }
   size_t *piece = sbrk((long)size + 16);
   piece[0] = size;
   return piece + 2;
}

void free(void *piece)
{
   if (!piece)
      return;
   kept = piece;
   kept_size = ((size_t *)piece)[-2];
}

void *calloc(size_t n, size_t size)
{
   void *piece = malloc(n * size);
   return memset(piece, 0, n * size);
}

void *realloc(void *old, size_t size)
{
   void *piece = malloc(size);
   if (old)
      memcpy(piece, old, size < ((size_t *)old)[-2] ? size : ((size_t *)old)[-2]);
   return piece;
}
