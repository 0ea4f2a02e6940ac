# For each pair of lists, a line each: Welch's difference b - a with its interval and p, and the same pooled, at 95 %.
lines <- readLines(file("stdin"))
lists <- lapply(strsplit(lines, " "), as.numeric)
for (i in seq(1, length(lists), by = 2)) {
  a <- lists[[i]]; b <- lists[[i + 1]]
  out <- c()
  for (equal in c(FALSE, TRUE)) {
    t <- t.test(b, a, var.equal = equal)
    out <- c(out, mean(b) - mean(a), t$conf.int, t$p.value)
  }
  cat(format(out, digits = 17), "\n")
}
