"""What scripts/docs makes the book of: pages, headers, figures, and the check of its links."""
