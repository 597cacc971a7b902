"""The verbs in a browser and over HTTP: jobs and their files, workers, and pages."""
