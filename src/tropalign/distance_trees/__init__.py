"""Trees made of distances, and how sure their branches are."""
