"""Classification on kernel principal components: the sampler and what it needs."""
