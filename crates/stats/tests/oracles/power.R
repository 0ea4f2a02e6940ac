# R's own power of Student's t. A line in: n, size, level, power; out: the power of n, the n of the power.
input <- file("stdin")
for (line in readLines(input)) {
  x <- as.numeric(strsplit(line, " ")[[1]])
  of <- function(...) power.t.test(..., sd = 1, sig.level = x[3], type = "one.sample", strict = TRUE)
  n <- of(delta = x[2], power = x[4])$n
  cat(sprintf("%.17g", c(of(n = x[1], delta = x[2])$power, n)), "\n")
}
close(input)
