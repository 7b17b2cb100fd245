"""What is known of JDKs, kernels and products: typed tables with the source of each fact."""
