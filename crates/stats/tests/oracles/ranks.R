# Rank tests. Each line: kind, level of confidence, sizes, values. Each answer: p, what else is compared.
input <- file("stdin", "r")
suppressWarnings({
for (line in readLines(input)) {
  v <- as.numeric(strsplit(line, " ")[[1]])
  kind <- v[1]; level <- v[2]; m <- v[3]; n <- v[4]
  x <- v[4 + seq_len(m)]; y <- v[4 + m + seq_len(n)]
  ours <- switch(kind,
    { w <- wilcox.test(x, y, exact = TRUE, conf.int = TRUE, conf.level = level)       # 1: Mann-Whitney, exact
      c(w$p.value, w$estimate, w$conf.int) },
    { w <- wilcox.test(x, y, exact = FALSE)                                           # 2: the same, normal
      c(w$p.value, median(outer(x, y, `-`))) })
  cat(format(ours, digits = 17, trim = TRUE), "\n")
}})
close(input)
