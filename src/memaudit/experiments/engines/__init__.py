"""Ways of running tasks side by side. Results come back in the order of the tasks."""
