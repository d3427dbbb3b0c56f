"""Images: resizing, cropping, colours."""
