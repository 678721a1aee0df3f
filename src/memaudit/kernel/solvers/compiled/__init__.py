"""The compiled solver's kernels. Importing a kernel module imports numba; the package does not."""
