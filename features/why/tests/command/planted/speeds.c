/* The same instructions at another speed: all places that a walk meets are below MASK, so they are in a cache or not. Each
   variant fills the whole array. */
#include <stdlib.h>

#define PLACES (8u << 20)
#define STEPS 500000u

static unsigned *next;

__attribute__((noinline)) static void fill(void)
{
    for (unsigned i = 0; i < PLACES; i++)
        next[i] = (i * 1664525u + 1013904223u) & MASK;
}

__attribute__((noinline)) static unsigned walk(void)
{
    unsigned at = 0;
    for (unsigned i = 0; i < STEPS; i++)
        at = next[at];
    return at;
}

__attribute__((noinline)) static unsigned add(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 10 * STEPS; i++)
        sum = sum * 31 + i;
    return sum;
}

int main(void)
{
    next = malloc(PLACES * sizeof *next);
    fill();
    return walk() + add() == 1;
}
