"""Places that records come from: files, texts, and which of them."""
