/* A library that calls a function of its own: through its PLT, unless it is linked with -Bsymbolic. */
static volatile int sum;
void own_tiny(int n) { sum += n; }
void own_calls(int n)
{
   for (int i = 0; i < n; i++)
      own_tiny(i);
}
