"""The verbs in a browser and over HTTP: jobs, their files, the workers that compute them, and the pages that show them."""
