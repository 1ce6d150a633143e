# One chain of R's bkmr: Rscript bkmr_chain.R data.csv draws.csv iterations seed [folder]
#
# data.csv: y, then the features; draws.csv receives the function at every tenth of the rows, the
# second half of the chain, and the last line of the output is the processor seconds of kmbayes.
# With a folder the functions are read from its R sources, otherwise the installed package is used.
arguments <- commandArgs(trailingOnly = TRUE)
if (length(arguments) > 4) {
  suppressMessages(library(magrittr))
  for (file in list.files(file.path(arguments[5], "R"), "[.][rR]$", full.names = TRUE)) source(file)
} else {
  suppressMessages(library(bkmr))
}
data <- as.matrix(read.csv(arguments[1]))
iterations <- as.integer(arguments[3])
set.seed(as.integer(arguments[4]))
used <- system.time(
  fit <- kmbayes(
    y = data[, 1], Z = data[, -1], iter = iterations, varsel = TRUE, est.h = TRUE, verbose = FALSE
  )
)
rows <- unique(round(seq(1, nrow(data), length.out = 10)))
kept <- seq(iterations %/% 2 + 1, iterations)
write.csv(fit$h.hat[kept, rows], arguments[2], row.names = FALSE)
cat(used[["user.self"]] + used[["sys.self"]], "\n")
