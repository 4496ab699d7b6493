"""Find secrets and personal data in what a home holds, leave them out of what is shared, and remove them for good."""
