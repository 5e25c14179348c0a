"""Members: how Works are applied, judged and reported, and what a member reports of itself."""
