"""The terminal app. It imports labeler; labeler never imports it."""
