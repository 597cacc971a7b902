"""Reports and plots of results: files of a run beside its main one, and the same from Python."""
