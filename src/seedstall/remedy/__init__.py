"""What ``seedstall fix`` gives: one module a family of surfaces, and what they share."""
