# For each model: main effects of every level against level 0, then all two-way interactions against (0, 0), a line
# "estimate, HC3 se, df" each, NA where lm's design cannot tell; then a line that flags with 1 the terms
# in alias()'s complete aliases. Input: "factors interactions levels…", block ids, the levels of each factor, y.
options(warn = -1)
input <- lapply(strsplit(readLines(file("stdin")), " "), as.numeric)
at <- 1
take <- function() { at <<- at + 1; input[[at - 1]] }
code <- function(level, n) if (n < 2) numeric(0) else contr.sum(n)[level + 1, ]
say <- function(...) cat(format(c(...), digits = 17), "\n")
while (at <= length(input)) {
  head <- take()
  k <- head[1]; levels <- head[-(1:2)]
  block <- factor(take())
  data <- data.frame(row.names = seq_along(block))
  for (f in seq_len(k)) { data[[paste0("f", f)]] <- factor(take(), levels = 0:(levels[f] - 1)) }
  y <- take()
  names <- paste0("f", seq_len(k))
  contrasts <- setNames(rep(list("contr.sum"), k), names)
  right <- if (head[2] == 1) paste0("(", paste(names, collapse = "+"), ")^2") else paste(names, collapse = "+")
  if (nlevels(block) > 1) { right <- paste("block +", right); contrasts <- c(list(block = "contr.treatment"), contrasts) }
  model <- as.formula(paste("y ~", right))
  fit <- lm(model, data = data, contrasts = contrasts)
  X <- model.matrix(fit)
  assign <- attr(X, "assign"); labels <- attr(terms(fit), "term.labels")
  kept <- fit$qr$pivot[seq_len(fit$rank)]
  K <- X[, kept, drop = FALSE]
  A <- solve(crossprod(K), t(K))                # coefficients = A y
  h <- rowSums(K * t(A)); e <- residuals(fit); df <- fit$df.residual
  effect <- function(label, weights) {
    c <- rep(0, ncol(X)); c[assign == match(label, labels)] <- weights
    if (qr(rbind(X, c), tol = 1e-9)$rank > fit$rank || df == 0) return(say(NA, NA, NA))
    a <- as.vector(c[kept] %*% A)
    counts <- abs(a) > 1e-9 * max(abs(a))
    if (any(counts & 1 - h < 1e-9)) return(say(NA, NA, NA))
    say(sum(a * y), sqrt(sum((a * e / (1 - h))[counts]^2)), df)
  }
  for (f in seq_len(k)) for (l in seq_len(levels[f])[-1] - 1) effect(names[f], code(l, levels[f]) - code(0, levels[f]))
  if (head[2] == 1) for (f in seq_len(k)) for (g in seq_len(k)) if (f < g)
    for (a in seq_len(levels[f])[-1] - 1) for (b in seq_len(levels[g])[-1] - 1)
      # R's columns of an interaction vary in their first factor fastest.
      effect(paste0(names[f], ":", names[g]),
             as.vector(outer(code(a, levels[f]) - code(0, levels[f]), code(b, levels[g]) - code(0, levels[g]))))
  # What alias(fit)$Complete computes; alias itself wants the package MASS to print it.
  touched <- character(0)
  if (fit$rank < ncol(X)) {
    R <- qr.R(qr(fit))[seq_len(fit$rank), , drop = FALSE]
    left_out <- seq_len(ncol(X)) > fit$rank
    complete <- abs(as.matrix(qr.coef(qr(R[, !left_out]), R[, left_out, drop = FALSE]))) > 1e-6
    touched <- labels[assign[c(kept[rowSums(complete) > 0], fit$qr$pivot[left_out])]]
  }
  say(as.numeric(setdiff(labels, "block") %in% touched))
}
