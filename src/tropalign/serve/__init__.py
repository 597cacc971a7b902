"""The verbs in a browser and over HTTP: jobs, their files, workers that compute them, pages that show them."""
