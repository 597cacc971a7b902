"""What jobs return."""
