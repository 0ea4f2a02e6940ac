# Kendall's tau against time, with ties: the normal approximation, corrected for ties and continuity.
input <- file("stdin")
lines <- readLines(input)
close(input)
for (line in lines) {
  x <- scan(text = line, quiet = TRUE)
  test <- cor.test(x, seq_along(x), method = "kendall", exact = FALSE, continuity = TRUE)
  cat(format(c(test$estimate, test$p.value), digits = 17), "\n")
}
